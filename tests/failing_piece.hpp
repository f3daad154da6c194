// Local work that fails on one rank, anywhere: all ranks throw the same, or none does.
#pragma once

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "nodewise/mpi/agree.hpp"

#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::test {

inline std::int64_t pieces = 0, failing_piece = 0;

inline void count_piece() {
  if (++pieces == failing_piece) throw std::bad_alloc();
}

/// While it lives, pieces of local work are counted, and the n-th fails; 0: none does.
class FailingPiece {
 public:
  explicit FailingPiece(std::int64_t n) {
    pieces = 0;
    failing_piece = n;
    mpi::detail::before_local_work = count_piece;
  }
  ~FailingPiece() { mpi::detail::before_local_work = nullptr; }
  FailingPiece(const FailingPiece&) = delete;
  FailingPiece& operator=(const FailingPiece&) = delete;
};

/// Collective. Expects that ranks which fail do so together, with the same text; returns whether
/// they did.
inline bool fails_together(const std::optional<Error>& error) {
  const mpi::Comm& comm = *test_comm();
  const std::int64_t failed = mpi::sum(comm, std::int64_t{error ? 1 : 0});
  EXPECT_TRUE(failed == 0 || failed == comm.size()) << failed << " ranks failed";
  if (failed == 0) return false;
  const std::string text = error ? error->what() : "";
  const auto print = static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1);
  EXPECT_EQ(mpi::min(comm, print), mpi::max(comm, print)) << text;
  return true;
}

/// Collective. Has some pieces of `work` fail, on one rank after another, every time other ones;
/// calls `after_failure` where that was an error.
template <class Work, class AfterFailure>
void expect_together(const Work& work, const AfterFailure& after_failure) {
  constexpr std::int64_t tries = 12;
  static std::int64_t calls = 0;
  ++calls;
  const mpi::Comm& comm = *test_comm();
  std::int64_t n_pieces = 0;
  {
    const FailingPiece none(0);
    work();
    n_pieces = pieces;
  }
  EXPECT_GT(n_pieces, 0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t all = mpi::broadcast(comm, n_pieces, rank);
    const std::int64_t step = std::max<std::int64_t>(1, all * comm.size() / tries);
    for (std::int64_t n = 1 + (5 * calls + 3 * rank) % step; n <= all; n += step) {
      SCOPED_TRACE(testing::Message() << "piece " << n << " of " << all << " on rank " << rank);
      std::optional<Error> error;
      {
        const FailingPiece failing(comm.rank() == rank ? n : 0);
        error = error_of(work);
      }
      if (fails_together(error)) after_failure();
    }
  }
}

}  // namespace nodewise::test
