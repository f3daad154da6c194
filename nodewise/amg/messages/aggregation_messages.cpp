#include "nodewise/amg/messages/aggregation_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "nodewise/amg/aggregate/smooth.hpp"
#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/amg/coarsen/virtual_ranks.hpp"
#include "nodewise/matrix/operations.hpp"

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
      coarse_(virtual_coarse_starts(fine_, hierarchy.coarse_rows(level))) {
  for (const GlobalIndex start : fine_) points_.push_back(start / unknowns_);
  const std::shared_ptr<const DistMatrix<double>> setup_A = hierarchy.setup_matrix(level);
  const DistMatrix<double>& A = *setup_A;
  graph_ = point_graph(A, unknowns_, own());
  const auto aggregates =
      aggregate_points(graph_.matrix(A), graph_.strength, points_, false, options_);
  const DistMatrix<double> tentative =
      aggregate::tentative_prolongator(aggregates, unknowns_, A.rows(), zero_vectors(A, n_vectors_))
          .prolongator;
  right_ = make_half(A, graph_, tentative);
  if (hierarchy.restriction(level) == nullptr) return;
  DistMatrix<double> transposed = matrix::transpose(A);
  PointGraph<double> graph;
  if (filters()) graph = point_graph(transposed, unknowns_, own());
  Half half = make_half(transposed, graph, tentative);
  left_ = Left{std::move(transposed), std::move(graph), std::move(half)};
}

AggregationSetup::Half AggregationSetup::make_half(const DistMatrix<double>& A,
                                                   const PointGraph<double>& graph,
                                                   DistMatrix<double> tentative) const {
  Half half;
  if (filters()) {
    half.filtered = aggregate::without_weak_entries(A, graph.matrix(A), graph.strength, unknowns_);
  }
  const DistMatrix<double>& smoothing = half.filtered ? *half.filtered : A;
  half.prolongators.push_back(std::move(tentative));
  for (int sweep = 1; sweep < own().prolongation_sweeps; ++sweep) {
    half.prolongators.push_back(aggregate::smooth_prolongator(
        smoothing, half.prolongators.back(), own().prolongation_weight, 1, n_vectors_));
  }
  return half;
}

namespace {

/// Of a square matrix that is made over the route of another.
std::vector<comm::Plan> plans_like(const VirtualPlans& of_A, const kernels::Csr<double>& M,
                                   std::span<const GlobalIndex> starts) {
  return plans_of(M, starts, starts, of_A.topology, of_A.route);
}

}  // namespace

/// The plans of the graph of points, which `of_norms` keeps where they are not A's.
VirtualPlans AggregationSetup::of_graph(const PointGraph<double>& graph, const VirtualPlans& of_A,
                                        std::vector<comm::Plan>& of_norms) const {
  if (!graph.norms) return of_A;
  of_norms = plans_like(of_A, graph.norms->on(), points_);
  return {of_norms, of_A.topology, of_A.route};
}

MessageStages AggregationSetup::strength(const PointGraph<double>& graph,
                                         const VirtualPlans& of_A) const {
  std::vector<comm::Plan> of_norms;
  VirtualExchanges exchanges(of_graph(graph, of_A, of_norms));
  const bool needs_roots = aggregation_threshold(unknowns_, own()) != 0;
  if (needs_roots || own().aggregation_strength == ConnectionMeasure::classical) {
    exchanges.forward(sizeof(double));
  }
  return exchanges.take();
}

const AggregationMessages& AggregationSetup::messages() const {
  const int n_ranks = static_cast<int>(points_.size()) - 1;
  const Choice<AggregationMethod> method = aggregates_of_level(points_.back(), n_ranks, own());
  return require(*method->messages, "messages of aggregates " + method.name());
}

MessageStages AggregationSetup::aggregation(const VirtualPlans& of_A, int rounds) const {
  MessageStages stages = strength(graph_, of_A);
  if (left_ && filters()) {
    const auto of_transposed = plans_like(of_A, left_->transposed.on(), fine_);
    append(stages, strength(left_->graph, {of_transposed, of_A.topology, of_A.route}));
  }
  std::vector<comm::Plan> of_norms;
  VirtualExchanges exchanges(of_graph(graph_, of_A, of_norms));
  messages().exchanges(rounds, own().aggregation_distance, exchanges);
  append(stages, exchanges.take());
  return stages;
}

/// As TentativeBuilder::run() in aggregate/tentative.cpp, over a new matrix's plans.
MessageStages AggregationSetup::tentative(const mpi::Topology& topology) const {
  const kernels::Csr<double>& T = right_.prolongators.front().on();
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

/// `of_matrix` plans what the candidates are relaxed by, and the prolongator smoothed if nothing is
/// filtered.
MessageStages AggregationSetup::half(const Half& half, const VirtualPlans& of_matrix) const {
  VirtualExchanges relaxation(of_matrix);
  const int exchanges = own().candidate_sweeps * own().candidate_relaxation->exchanges_a_sweep;
  for (int k = 0; level_ == 0 && k < exchanges; ++k) {
    relaxation.forward(static_cast<std::size_t>(n_vectors_) * sizeof(double));
  }
  MessageStages stages = relaxation.take();
  append(stages, tentative(of_matrix.topology));
  if (own().prolongation_sweeps == 0) return stages;
  std::vector<comm::Plan> of_filtered;
  if (half.filtered) of_filtered = plans_like(of_matrix, half.filtered->on(), fine_);
  VirtualExchanges smoothing(half.filtered ? VirtualPlans{of_filtered, of_matrix.topology}
                                           : of_matrix);
  for (const DistMatrix<double>& P : half.prolongators) smoothing.rows(P.on(), fine_, coarse_);
  append(stages, smoothing.take());
  return stages;
}

MessageStages AggregationSetup::restriction(const VirtualPlans& of_A) const {
  VirtualExchanges there(of_A);
  there.transposed_rows(hierarchy_.setup_matrix(level_)->on(), fine_, fine_);
  MessageStages stages = there.take();
  const auto of_transposed = plans_like(of_A, left_->transposed.on(), fine_);
  append(stages, half(left_->half, {of_transposed, of_A.topology, of_A.route}));
  const DistMatrix<double> Rt = matrix::transpose(*hierarchy_.restriction(level_));
  const auto of_Rt = plans_of(Rt.on(), fine_, coarse_, of_A.topology, of_A.route);
  VirtualExchanges back({of_Rt, of_A.topology});
  back.transposed_rows(Rt.on(), fine_, coarse_);
  append(stages, back.take());
  return stages;
}

MessageStages AggregationSetup::interpolation(const VirtualPlans& of_A) const {
  MessageStages stages = half(right_, of_A);
  if (left_) append(stages, restriction(of_A));
  return stages;
}

MessageStages AggregationSetup::requests() const {
  MessageStages stages;
  const auto add = [&](const PointGraph<double>& graph, const Half& half,
                       const kernels::Csr<double>& last) {
    if (graph.norms) add_requests(graph.norms->on(), points_, points_, stages);
    if (half.filtered) add_requests(half.filtered->on(), fine_, fine_, stages);
    for (const DistMatrix<double>& P : half.prolongators) {
      add_requests(P.on(), fine_, coarse_, stages);
    }
    if (own().prolongation_sweeps > 0) add_requests(last, fine_, coarse_, stages);
  };
  add(graph_, right_, hierarchy_.interpolation(level_)->on());
  if (!left_) return stages;
  add_requests(left_->transposed.on(), fine_, fine_, stages);
  add(left_->graph, left_->half, matrix::transpose(*hierarchy_.restriction(level_)).on());
  return stages;
}

}  // namespace nodewise::amg
