// What the aggregation of a level sends, counted on one rank for virtual ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/aggregation.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"

namespace nodewise::amg {

/// One level, not the last, of a hierarchy by aggregation made on one rank for virtual ranks. The
/// matrices of its setup that the hierarchy does not keep are made again, which are local products
/// where there is one rank. All functions are local.
class AggregationSetup {
 public:
  /// Independent sets only, as for all virtual ranks. The hierarchy must outlive it.
  AggregationSetup(const Hierarchy<double>& hierarchy, std::size_t level, const Options& options);

  /// Strength, so many rounds of the independent set, and the points that join it.
  model::MessageStages aggregation(const VirtualPlans& of_A, int rounds) const;
  /// Candidates, the tentative prolongator, and its rows for the sweeps that smooth it.
  model::MessageStages interpolation(const VirtualPlans& of_A) const;
  /// Of all new matrices but the coarse one.
  model::MessageStages requests() const;
  /// The filtered matrix, whose spectral radius is estimated, too; or null.
  const kernels::Csr<double>* filtered() const { return filtered_ ? &filtered_->on() : nullptr; }

 private:
  model::MessageStages tentative(const mpi::Topology& topology) const;
  void smooth();

  const Hierarchy<double>& hierarchy_;
  std::size_t level_;
  Options options_;
  int unknowns_;                                // rows of a point
  int n_vectors_;                               // rows of a point of the next level
  std::span<const GlobalIndex> fine_, coarse_;  // where the virtual ranks begin
  std::vector<GlobalIndex> points_;             // likewise among the points
  PointGraph<double> graph_;
  std::optional<matrix::DistMatrix<double>> filtered_;
  std::vector<matrix::DistMatrix<double>> prolongators_;  // the tentative one, smoothed once ...
};

}  // namespace nodewise::amg
