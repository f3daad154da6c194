// Whether all ranks call a collective with arguments that fit, found by one small reduction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi::collectives {

/// Gathers what one rank knows; agree() then compares it with the others. Values that ranks must
/// share are hashed and added with both signs. Their sum over all ranks vanishes only where
/// everything fits, but for a coincidence of probability 2^-64.
class ArgumentCheck {
 public:
  explicit ArgumentCheck(const Comm& comm) : comm_(comm) {}

  /// Local. Runs `check`, which throws where an argument of this rank is wrong by itself.
  template <class Check>
  void local(Check&& check) {
    if (!error_) error_ = caught(std::forward<Check>(check));
  }
  const std::optional<Error>& error() const { return error_; }

  /// Local. `value` must be the same on every rank.
  void same_everywhere(std::uint64_t value);
  /// Local. This rank sends `n` to `to`, which must call receives() with the same number.
  void sends(int to, Offset n);
  void receives(int from, Offset n);
  /// Local. Adds to what total(which) says after agree(); there are two such sums.
  void add(std::size_t which, std::uint64_t n) { totals_.at(which) += n; }

  /// Collective. Throws on every rank the error of the lowest failing rank if there is any,
  /// otherwise invalid_argument with the text `mismatch` if something does not fit. One reduction
  /// of four numbers where nothing is wrong.
  void agree(const char* mismatch);
  /// Local, after agree(): the sum of what all ranks have added.
  std::uint64_t total(std::size_t which) const { return totals_.at(which); }

 private:
  const Comm& comm_;
  std::optional<Error> error_;
  std::uint64_t balance_ = 0;
  std::array<std::uint64_t, 2> totals_{};
};

}  // namespace nodewise::mpi::collectives
