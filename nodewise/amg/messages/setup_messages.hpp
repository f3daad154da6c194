// What the setup of a level sends, counted on one rank for the virtual ranks of a hierarchy.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/messages/aggregation_messages.hpp"
#include "nodewise/amg/messages/aggressive_messages.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

/// One level, not the last, of a hierarchy made on one rank for virtual ranks. Its messages are
/// those that as many real ranks send for the same hierarchy, which
/// tests/amg_virtual_setup_test.cpp compares with their ledgers. All functions are local.
class LevelSetup {
 public:
  /// `symmetric` says whether the finest matrix is, `books` are the ledger's of this setup, which
  /// tell the rounds by their reductions: virtual ranks make those of real ones. The hierarchy must
  /// outlive it.
  LevelSetup(const Hierarchy<double>& hierarchy, std::size_t level, const Options& options,
             bool symmetric, std::span<const mpi::Account> books);

  /// How often the splitting, in both stages if it has two, or the aggregation looks for points
  /// that outweigh their neighbours; 0 for Ruge-Stüben.
  int rounds() const { return rounds_; }
  /// The exchanges of a splitting, over A's plans: states, weights and counts, round by round; of
  /// an aggregation with those of its strength. Where unknowns are coarsened one by one, over the
  /// plans of A without their couplings, once the ghosts' are known. Where the level is coarsened
  /// aggressively also what leads to the graph of the second stage, and that over the graph's
  /// plans.
  model::MessageStages splitting(const VirtualPlans& of_A) const;
  /// The products that estimate spectral radii for the smoothing of a prolongator and for a
  /// smoother.
  model::MessageStages spectral_radius(const VirtualPlans& of_A) const;
  /// The scales of the rows, which the l1 forms of the smoothers weigh couplings by.
  model::MessageStages row_scales(const VirtualPlans& of_A) const;
  /// Those of the interpolation, over A's plans: which ghosts are coarse, and their links to coarse
  /// points; by multipass the rows of each pass; of an aggregation the tentative prolongator's, and
  /// its rows, with those of a smoothed restriction.
  model::MessageStages interpolation(const VirtualPlans& of_A) const;
  /// The rows of P for the ghosts of A, over A's plans: the Galerkin product before it multiplies.
  model::MessageStages interpolation_rows(const VirtualPlans& of_A) const;
  /// What follows A P in the Galerkin product: partial rows on their way to their owners, over P's
  /// plans; with a restriction of its own rows of A P, over R's plans. A level that costs moved was
  /// multiplied before it moved, too, and its rows of P and of products count twice.
  model::MessageStages product_rows(const VirtualPlans& of_P_or_R) const;
  /// Whether something of the setup is not among these: what the restriction of method air is
  /// computed from.
  bool leaves_restriction_out() const {
    return hierarchy_.restriction(level_) != nullptr && !aggregation_;
  }
  /// Who needs what of P, of R, of the coarse matrix and of what leads to them: the indices that
  /// every rank asks the others for, in one message each. The ranks of a node that join these
  /// messages send fewer. Also of A by points where it is read in blocks, unless its route, this
  /// one, is direct: then the rows tell.
  model::MessageStages requests(const comm::Route& of_A, const mpi::Topology& topology) const;
  /// What is known of the next level besides its matrix, on its way to fewer ranks: the near null
  /// space, or which unknown each row is of; and rows of a restriction. Then the same, and the
  /// matrix, on their way to copies. Nothing where all stay.
  model::MessageStages redistribution(const mpi::Topology& topology) const;
  bool is_moved() const;
  /// Whether one rank of each node gets the next level as a whole.
  bool is_copied() const;

 private:
  const kernels::Csr<double>& A() const { return setup_A_->on(); }
  const kernels::Csr<double>& P() const { return hierarchy_.interpolation(level_)->on(); }
  /// What is split and interpolated along, and its plans if it is not A.
  const matrix::DistMatrix<double>& graph() const { return part_ ? *part_ : *setup_A_; }
  /// Whether it was multiplied before it was moved, too.
  bool is_made_twice() const;
  model::MessageStages returned_rows(const VirtualPlans& of_P_or_R,
                                     std::span<const GlobalIndex> coarse) const;
  std::vector<std::size_t> knowledge_bytes() const;
  void add_coarse_requests(std::span<const GlobalIndex> coarse, model::MessageStages& stages) const;
  std::vector<comm::Plan> plans_of_part(const VirtualPlans& of_A) const;
  /// Of the matrix that is relaxed with, where it has lost entries; else empty.
  std::vector<comm::Plan> plans_of_rest(const VirtualPlans& of_A) const;
  Strength strength() const;

  const Hierarchy<double>& hierarchy_;
  std::size_t level_;
  Options options_;
  std::vector<GlobalIndex> straight_;  // where virtual ranks begin on the next level before a move
  std::shared_ptr<const matrix::DistMatrix<double>> setup_A_;
  std::int64_t splitting_collectives_ = 0;
  int radius_products_ = 0;  // of the level's matrix, and of what the prolongator is smoothed by
  int filtered_radius_products_ = 0;
  int transposed_radius_products_ = 0;  // what a smoothed restriction is smoothed by
  std::optional<AggregationSetup> aggregation_;
  std::optional<matrix::DistMatrix<double>> part_;  // of several unknowns coarsened one by one
  std::optional<AggressiveSetup> aggressive_;
  int rounds_ = 0;
};

}  // namespace nodewise::amg
