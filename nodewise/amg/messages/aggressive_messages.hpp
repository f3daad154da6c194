// What a splitting in two stages sends, counted on one rank for virtual ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/amg/coarsen/aggressive.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"

namespace nodewise::amg {

/// The splitting of an aggressively coarsened level of a hierarchy made on one rank for virtual
/// ranks. Its stages and the matrices between them, which the hierarchy does not keep, are made
/// again. All functions are local.
class AggressiveSetup {
 public:
  /// `ranks` are where the virtual ranks begin, and must outlive it; A is on one rank.
  AggressiveSetup(const matrix::DistMatrix<double>& A, const Strength& strength,
                  std::span<const GlobalIndex> ranks, const Options& options);

  /// Of both stages.
  int rounds() const;
  /// The first stage, the numbers of its coarse points, the rows that the product of the steps
  /// brings, and the second stage over the plans of the paths.
  model::MessageStages splitting(const VirtualPlans& of_A) const;
  /// Of both matrices of steps, and of that of the paths.
  model::MessageStages requests() const;

 private:
  const Choice<CoarseningMethod>& coarsening() const {
    return classical_options(options_).coarsening;
  }
  /// What one stage makes of a matrix.
  struct Stage {
    coarsen::Splitting splitting;
    std::int64_t collectives = 0;
  };
  Stage split_once(const matrix::DistMatrix<double>& A, const Strength& strength,
                   std::span<const GlobalIndex> ranks) const;

  matrix::DistMatrix<double> A_;
  Strength strength_;
  std::span<const GlobalIndex> ranks_;
  Options options_;
  Stage first_;
  std::vector<GlobalIndex> coarse_ranks_;  // where the virtual ranks begin among its coarse points
  coarsen::PathSteps<double> steps_;
  coarsen::LongRange<double> far_;
  Stage second_;
};

}  // namespace nodewise::amg
