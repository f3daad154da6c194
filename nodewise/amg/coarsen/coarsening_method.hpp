// What a coarsening says of itself. methods.cpp lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/base/answer.hpp"
#include "nodewise/base/error.hpp"
#include "nodewise/base/family.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::amg {

class VirtualExchanges;
struct CoarseningMethod;

/// What a coarsening is given.
template <class T>
struct SplittingCall {
  const Choice<CoarseningMethod>& method;  ///< with the options that are its own
  const matrix::DistMatrix<T>& A;
  const Strength& strength;
  /// Ranges of local rows that count as ranks of their own: their starts, and the end of the last.
  std::span<const GlobalIndex> blocks;
  int seed;  ///< of weights
  /// What failed on this rank while the strength was measured: for the method's first agreement.
  std::optional<Error> failure = {};
};

template <class T>
using SplitFunction = coarsen::Splitting (*)(const SplittingCall<T>& call);

/// What a splitting sends, as told by the reductions that were counted while it was made.
struct SplittingMessages {
  /// How often it looked for points that outweigh their neighbours.
  int (*rounds)(std::int64_t collectives);
  /// Adds the exchanges, round by round, of a splitting of A on virtual ranks.
  void (*exchanges)(std::int64_t collectives, const kernels::Csr<double>& A,
                    const Strength& strength, VirtualExchanges& exchanges);
};

struct CoarseningMethod : MethodInfo {
  /// Whether it makes the same splitting on any number of ranks; if not, it looks at the rows of
  /// each rank, or of each block.
  Required<bool> is_same_on_any_ranks;
  Required<Answer<SplittingMessages>> messages;
  Required<SplitFunction<double>> in_double;
  Required<SplitFunction<float>> in_float;
  std::optional<int> hypre_coarsen_type = {};  ///< of HYPRE_BoomerAMGSetCoarsenType()
  /// Whether devices make the same splitting (device/splitting.hpp).
  bool runs_on_devices = false;

  template <class T>
  SplitFunction<T> function() const;

  static Family<CoarseningMethod>& family();
};

template <>
inline SplitFunction<double> CoarseningMethod::function<double>() const {
  return in_double;
}
template <>
inline SplitFunction<float> CoarseningMethod::function<float>() const {
  return in_float;
}

/// Collective. A splitting, or a stage of one in two.
template <class T>
coarsen::Splitting split(const Choice<CoarseningMethod>& method, const matrix::DistMatrix<T>& A,
                         const Strength& strength, std::span<const GlobalIndex> blocks, int seed,
                         const std::optional<Error>& failure = {}) {
  return method->template function<T>()({method, A, strength, blocks, seed, failure});
}

}  // namespace nodewise::amg
