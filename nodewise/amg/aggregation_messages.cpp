#include "nodewise/amg/aggregation_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "nodewise/amg/aggregate/smooth.hpp"
#include "nodewise/amg/aggregate/tentative.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;
using model::MessageStages;

/// Every root stands among the coarse rows as often as its coarse point has rows.
int rows_of_coarse_point(const Hierarchy<double>& hierarchy, std::size_t level) {
  const auto rows = hierarchy.coarse_rows(level);
  return static_cast<int>(std::count(rows.begin(), rows.end(), rows.front()));
}

NearNullSpace<double> zero_vectors(const DistMatrix<double>& A, int n_vectors) {
  const auto n = static_cast<std::size_t>(A.n_local()) * static_cast<std::size_t>(n_vectors);
  return {n_vectors, std::vector<double>(n, 0.0)};
}

/// How many numbers go with each ghost column of all ranks, one after the other: with the first of
/// an aggregate the near null space in those of its rows that the rank has.
std::vector<Offset> lengths_of_ghosts(const kernels::Csr<double>& T,
                                      std::span<const GlobalIndex> fine,
                                      std::span<const GlobalIndex> coarse, int n_vectors) {
  std::vector<Offset> lengths;
  std::vector<LocalIndex> ghosts;  // an entry of T each
  for (std::size_t r = 0; r + 1 < fine.size(); ++r) {
    ghosts.clear();
    for (auto i = static_cast<LocalIndex>(fine[r]); i < fine[r + 1]; ++i) {
      for (Offset k = T.begin(i); k < T.end(i); ++k) {
        const LocalIndex j = T.cols[static_cast<std::size_t>(k)];
        if (j < coarse[r] || j >= coarse[r + 1]) ghosts.push_back(j);
      }
    }
    std::sort(ghosts.begin(), ghosts.end());
    for (auto at = ghosts.begin(); at != ghosts.end();) {
      const auto end = std::upper_bound(at, ghosts.end(), *at);
      lengths.push_back(*at % n_vectors == 0 ? n_vectors * (end - at) : 0);
      at = end;
    }
  }
  return lengths;
}

}  // namespace

AggregationSetup::AggregationSetup(const Hierarchy<double>& hierarchy, std::size_t level,
                                   const Options& options)
    : hierarchy_(hierarchy),
      level_(level),
      options_(options),
      unknowns_(level == 0 ? options.unknowns : rows_of_coarse_point(hierarchy, level - 1)),
      n_vectors_(rows_of_coarse_point(hierarchy, level)),
      fine_(hierarchy.virtual_starts(level)),
      coarse_(hierarchy.virtual_starts(level + 1)) {
  for (const GlobalIndex start : fine_) points_.push_back(start / unknowns_);
  const DistMatrix<double>& A = *hierarchy.matrix(level);
  graph_ = point_graph(A, unknowns_, options_);
  const DistMatrix<double>& G = graph_.matrix(A);
  const auto aggregates = aggregate_points(G, graph_.strength, points_, options_);
  prolongators_.push_back(
      aggregate::tentative_prolongator(aggregates, unknowns_, A.rows(), zero_vectors(A, n_vectors_))
          .prolongator);
  if (options_.prolongation_sweeps > 0 && options_.filter_prolongation) {
    filtered_ = aggregate::without_weak_entries(A, G, graph_.strength, unknowns_);
  }
  const DistMatrix<double>& smoothing = filtered_ ? *filtered_ : A;
  for (int sweep = 1; sweep < options_.prolongation_sweeps; ++sweep) {
    prolongators_.push_back(aggregate::smooth_prolongator(smoothing, prolongators_.back(),
                                                          options_.prolongation_weight, 1));
  }
}

MessageStages AggregationSetup::aggregation(const VirtualPlans& of_A, int rounds) const {
  std::vector<comm::Plan> of_norms;
  if (graph_.norms) of_norms = plans_of(graph_.norms->on(), points_, points_, of_A.topology);
  VirtualExchanges exchanges(graph_.norms ? VirtualPlans{of_norms, of_A.topology} : of_A);
  if (aggregation_threshold(unknowns_, options_) != 0) exchanges.forward(sizeof(double));
  const int n_ranks = static_cast<int>(points_.size()) - 1;
  if (is_greedy(aggregate_kind(points_.back(), n_ranks, options_))) {
    return exchanges.take();  // by themselves
  }
  for (int k = 0; k < rounds * options_.aggregation_distance; ++k) {
    exchanges.forward(sizeof(std::uint64_t));  // the heaviest points in reach
  }
  for (int k = 0; k < options_.aggregation_distance; ++k) exchanges.forward(sizeof(GlobalIndex));
  return exchanges.take();
}

/// As TentativeBuilder::run() in aggregate/tentative.cpp, over a new matrix's plans.
MessageStages AggregationSetup::tentative(const mpi::Topology& topology) const {
  const kernels::Csr<double>& T = prolongators_.front().on();
  const auto plans = plans_of(T, fine_, coarse_, topology);
  VirtualExchanges exchanges({plans, topology});
  comm::Records<GlobalIndex> rows;
  for (const Offset length : lengths_of_ghosts(T, fine_, coarse_, n_vectors_)) {
    rows.offsets.push_back(rows.offsets.back() + length);
  }
  rows.data.resize(static_cast<std::size_t>(rows.offsets.back()));
  std::iota(rows.data.begin(), rows.data.end(), GlobalIndex{0});  // all different: none is added up
  const auto length = [](std::span<const GlobalIndex> items) { return std::ssize(items); };
  exchanges.returned_records(rows, length, sizeof(double));
  exchanges.forward(static_cast<std::size_t>(n_vectors_) * sizeof(double));  // factors
  return exchanges.take();
}

MessageStages AggregationSetup::interpolation(const VirtualPlans& of_A) const {
  VirtualExchanges over_A(of_A);
  for (int sweep = 0; level_ == 0 && sweep < options_.candidate_sweeps; ++sweep) {
    over_A.forward(static_cast<std::size_t>(n_vectors_) * sizeof(double));
  }
  MessageStages stages = over_A.take();
  append(stages, tentative(of_A.topology));
  if (options_.prolongation_sweeps == 0) return stages;
  std::vector<comm::Plan> of_filtered;
  if (filtered_) of_filtered = plans_of(filtered_->on(), fine_, fine_, of_A.topology);
  VirtualExchanges smoothing(filtered_ ? VirtualPlans{of_filtered, of_A.topology} : of_A);
  for (const DistMatrix<double>& P : prolongators_) smoothing.rows(P.on(), fine_, coarse_);
  append(stages, smoothing.take());
  return stages;
}

MessageStages AggregationSetup::requests() const {
  MessageStages stages;
  if (graph_.norms) add_requests(graph_.norms->on(), points_, points_, stages);
  if (filtered_) add_requests(filtered_->on(), fine_, fine_, stages);
  for (const DistMatrix<double>& P : prolongators_) add_requests(P.on(), fine_, coarse_, stages);
  if (options_.prolongation_sweeps > 0) {
    add_requests(hierarchy_.interpolation(level_)->on(), fine_, coarse_, stages);
  }
  return stages;
}

}  // namespace nodewise::amg
