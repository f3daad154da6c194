// What the setup of a level sends, counted on one rank for the virtual ranks of a hierarchy.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/model/event_simulation.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::amg {

/// How one matrix's exchange is planned on all virtual ranks.
struct VirtualPlans {
  std::span<const comm::Plan> plans;
  const mpi::Topology& topology;
};

/// One level, not the last, of a hierarchy made on one rank for virtual ranks. Its messages are
/// those that as many real ranks send for the same hierarchy, which tests/amg_virtual_test.cpp
/// compares with their ledgers. All functions are local.
class LevelSetup {
 public:
  /// `symmetric` says whether the finest matrix is, `splitting_collectives` how many reductions the
  /// ledger has under "splitting" on this level: virtual ranks make those of real ones. The
  /// hierarchy must outlive it.
  LevelSetup(const Hierarchy<double>& hierarchy, std::size_t level, const Options& options,
             bool symmetric, std::int64_t splitting_collectives);

  /// How often the splitting looks for points that outweigh their neighbours; 0 for Ruge-Stüben.
  /// Nothing where splitting() knows nothing.
  std::optional<int> rounds() const { return rounds_; }
  /// The exchanges of a splitting, over A's plans: states, weights and counts, round by round.
  /// Nothing for aggregates, for problems of several unknowns, whose graph has fewer ghosts than A,
  /// and where the level is coarsened aggressively, in stages on graphs that are not kept.
  std::optional<model::MessageStages> splitting(const VirtualPlans& of_A) const;
  /// Those of the interpolation, over A's plans: which ghosts are coarse, and their links to coarse
  /// points. Nothing where splitting() knows nothing, and for formulas that bring other rows.
  std::optional<model::MessageStages> interpolation(const VirtualPlans& of_A) const;
  /// The rows of P for the ghosts of A, over A's plans: the Galerkin product before it multiplies.
  model::MessageStages interpolation_rows(const VirtualPlans& of_A) const;
  /// What follows A P in the Galerkin product: partial rows on their way to their owners, over P's
  /// plans; with a restriction of its own rows of A P, over R's plans.
  model::MessageStages product_rows(const VirtualPlans& of_P_or_R) const;
  /// Who needs what of P, of R and of the coarse matrix: the indices that every rank asks the
  /// others for, in one message each. The ranks of a node that join these messages send fewer.
  model::MessageStages requests() const;

 private:
  const kernels::Csr<double>& A() const { return hierarchy_.matrix(level_)->on(); }
  const kernels::Csr<double>& P() const { return hierarchy_.interpolation(level_)->on(); }
  Strength strength() const;

  const Hierarchy<double>& hierarchy_;
  std::size_t level_;
  Options options_;
  bool is_plain_;  // classical, one unknown a point, and in one stage
  std::int64_t splitting_collectives_;
  std::optional<int> rounds_;
};

}  // namespace nodewise::amg
