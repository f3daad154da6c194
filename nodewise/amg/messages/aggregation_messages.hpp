// What the aggregation of a level sends, counted on one rank for virtual ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"

namespace nodewise::amg {

/// One level, not the last, of a hierarchy by aggregation made on one rank for virtual ranks. The
/// matrices of its setup that the hierarchy does not keep are made again, which are local products
/// where there is one rank. All functions are local.
class AggregationSetup {
 public:
  /// The hierarchy must outlive it.
  AggregationSetup(const Hierarchy<double>& hierarchy, std::size_t level, const Options& options);

  /// How often the aggregation looked for points that outweigh their neighbours, by its reductions.
  int rounds(std::int64_t collectives) const { return messages().rounds(collectives); }
  /// Strength, and what makes the aggregates in so many rounds.
  model::MessageStages aggregation(const VirtualPlans& of_A, int rounds) const;
  /// Candidates, the tentative prolongator, and its rows for the sweeps that smooth it; for a
  /// smoothed restriction the transposed matrix, the same by that, and the way back.
  model::MessageStages interpolation(const VirtualPlans& of_A) const;
  /// Of all new matrices but the coarse one, before the next level is moved.
  model::MessageStages requests() const;
  /// Rows of a point of the next level: vectors of the near null space.
  int n_vectors() const { return n_vectors_; }
  /// The filtered matrix, whose spectral radius is estimated, too; or null. Likewise that which
  /// smooths the restriction.
  const matrix::DistMatrix<double>* filtered() const { return filtered_of(right_); }
  const matrix::DistMatrix<double>* filtered_transposed() const {
    return left_ ? filtered_of(left_->half) : nullptr;
  }

 private:
  /// What smooths a prolongation, if it is not the matrix itself, and the prolongators on the way:
  /// the tentative one, smoothed once ...
  struct Half {
    std::optional<matrix::DistMatrix<double>> filtered;
    std::vector<matrix::DistMatrix<double>> prolongators;
  };
  /// Of a smoothed restriction.
  struct Left {
    matrix::DistMatrix<double> transposed;
    PointGraph<double> graph;  // of the transposed matrix, where that is filtered
    Half half;
  };

  static const matrix::DistMatrix<double>* filtered_of(const Half& half) {
    return half.filtered ? &*half.filtered : nullptr;
  }
  const AggregationOptions& own() const { return options_.method.options<AggregationOptions>(); }
  const AggregationMessages& messages() const;
  bool filters() const { return own().prolongation_sweeps > 0 && own().filter_prolongation; }
  Half make_half(const matrix::DistMatrix<double>& A, const PointGraph<double>& graph,
                 matrix::DistMatrix<double> tentative) const;
  VirtualPlans of_graph(const PointGraph<double>& graph, const VirtualPlans& of_A,
                        std::vector<comm::Plan>& of_norms) const;
  model::MessageStages strength(const PointGraph<double>& graph, const VirtualPlans& of_A) const;
  model::MessageStages tentative(const mpi::Topology& topology) const;
  model::MessageStages half(const Half& half, const VirtualPlans& of_matrix) const;
  model::MessageStages restriction(const VirtualPlans& of_A) const;

  const Hierarchy<double>& hierarchy_;
  std::size_t level_;
  Options options_;
  int unknowns_;                       // rows of a point
  int n_vectors_;                      // rows of a point of the next level
  std::span<const GlobalIndex> fine_;  // where the virtual ranks begin
  std::vector<GlobalIndex> coarse_;    // likewise, before the next level is moved
  std::vector<GlobalIndex> points_;    // of the fine ones, among the points
  PointGraph<double> graph_;
  Half right_;
  std::optional<Left> left_;
};

}  // namespace nodewise::amg
