#include "nodewise/amg/setup/aggregation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/aggregate/smooth.hpp"
#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

const AggregationOptions& own_options_of(const Options& options) {
  return options.method.options<AggregationOptions>();
}

/// Collective. What a setup makes of A besides coarse matrices, over A's route.
template <class T>
DistMatrix<T> routed_as(const DistMatrix<T>& A, const DistMatrix<T>& made) {
  return made.with_route(A.route(), A.transport());
}

}  // namespace

double aggregation_threshold(int unknowns, const AggregationOptions& options) {
  if (options.aggregation_threshold >= 0) return options.aggregation_threshold;
  if (options.aggregation_strength == ConnectionMeasure::classical) return 0.25;
  return unknowns > 1 ? 0.05 : 0.02;
}

bool is_worth_a_level(GlobalIndex n_coarse, GlobalIndex n) {
  constexpr double most = 0.95;
  return n_coarse > 0 && static_cast<double>(n_coarse) <= most * static_cast<double>(n);
}

Choice<AggregationMethod> aggregates_of_level(GlobalIndex n_points, int n_ranks,
                                              const AggregationOptions& options) {
  if (!options.aggregates.is_automatic()) return options.aggregates;
  constexpr GlobalIndex points_of_a_rank = 2000;
  const bool many = n_ranks == 1 || n_points >= points_of_a_rank * n_ranks;
  return many ? "standard" : "independent_set";
}

template <class T>
PointGraph<T> point_graph(const DistMatrix<T>& A, int unknowns, const AggregationOptions& options) {
  const mpi::Scope scope(A.comm(), "strength");
  PointGraph<T> graph;
  if (unknowns > 1) graph.norms = routed_as(A, aggregate::block_norms(A, unknowns));
  const double threshold = aggregation_threshold(unknowns, options);
  const DistMatrix<T>& G = graph.matrix(A);
  if (options.aggregation_strength == ConnectionMeasure::symmetric) {
    graph.strength = aggregate::symmetric_strength(G, threshold);
  } else {
    graph.strength = aggregate::either_strength(
        G, threshold, graph.norms ? StrengthMeasure::absolute : StrengthMeasure::opposite_sign);
  }
  return graph;
}

template <class T>
aggregate::Aggregates aggregate_points(const DistMatrix<T>& G, const Strength& strength,
                                       std::span<const GlobalIndex> starts, bool both_ways,
                                       const Options& options) {
  const mpi::Scope scope(G.comm(), "aggregation");
  const int n_ranks = starts.empty() ? G.comm().size() : static_cast<int>(starts.size()) - 1;
  const AggregationOptions& own = own_options_of(options);
  const Choice<AggregationMethod> method = aggregates_of_level(G.rows().n_global(), n_ranks, own);
  return method->function<T>()(
      {method, G, strength, starts, own.aggregation_distance, options.seed, both_ways});
}

namespace {

template <class T>
double radius_of(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge, const Options& options,
                 int steps) {
  const mpi::Scope scope(A.comm(), "spectral_radius");
  SpectrumOptions spectrum = spectrum_options(knowledge.symmetric.value_or(true), options);
  if (!spectrum.norm) spectrum.steps = steps;
  return spectral_radius(A, spectrum);
}

/// The spectral radius of a level's matrix as well as it is needed, which is not the one that the
/// prolongator is smoothed by where that is filtered; 0 where nothing depends on it.
template <class T>
double radius_of_level(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                       const Options& options) {
  const AggregationOptions& own = own_options_of(options);
  const bool improves = knowledge.unknowns == 0 && own.candidate_sweeps > 0 &&
                        own.candidate_relaxation->needs_spectral_radius;
  const bool smooths = own.needs_radius_for_smoothing() && !own.filter_prolongation;
  if (improves || options.smoother->needs_spectral_radius) {
    return radius_of(A, knowledge, options, SpectrumOptions{}.steps);
  }
  return smooths ? radius_of(A, knowledge, options, steps_for_smoothing) : 0.0;
}

/// The near null space that the finest level starts from.
template <class T>
NearNullSpace<T> given_vectors(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                               const Options& options) {
  return knowledge.near_null_space.n_vectors > 0 ? knowledge.near_null_space
                                                 : constant_vectors<T>(A.rows(), options.unknowns);
}

/// Those of the transposed matrix.
template <class T>
NearNullSpace<T> given_left_vectors(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                    const Options& options) {
  return knowledge.left_near_null_space.n_vectors > 0 ? knowledge.left_near_null_space
                                                      : given_vectors(A, knowledge, options);
}

/// What the prolongator is to represent: what is given, on the finest level after relaxation.
template <class T>
NearNullSpace<T> candidates(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                            NearNullSpace<T> given, double radius, const Options& options) {
  const AggregationOptions& own = own_options_of(options);
  if (knowledge.unknowns > 0 || own.candidate_sweeps == 0) return given;
  return own.candidate_relaxation->function<T>()(
      {A, std::move(given), own.candidate_sweeps, radius,
       options.smoother->blocks == relax::BlockUse::always});
}

template <class T>
DistMatrix<T> smoothed(const DistMatrix<T>& A, const DistMatrix<T>& tentative, int n_vectors,
                       double radius, const AggregationOptions& options) {
  const bool scales = options.scale_prolongation_weight;
  if (scales && !(radius > 0)) return tentative;
  const double damping = options.prolongation_weight / (scales ? radius : 1.0);
  return aggregate::smooth_prolongator(A, tentative, damping, options.prolongation_sweeps,
                                       n_vectors);
}

/// The smoothed prolongator, by A or by what is left of it without weak entries.
template <class T>
DistMatrix<T> prolongator(const DistMatrix<T>& A, const PointGraph<T>& graph, int unknowns,
                          const DistMatrix<T>& tentative, int n_vectors,
                          const ProblemInfo<T>& knowledge, double radius, const Options& options) {
  const AggregationOptions& own = own_options_of(options);
  if (own.prolongation_sweeps == 0) return tentative;
  if (!own.filter_prolongation) return smoothed(A, tentative, n_vectors, radius, own);
  const DistMatrix<T> filtered =
      routed_as(A, aggregate::without_weak_entries(A, graph.matrix(A), graph.strength, unknowns));
  const double radius_of_filtered =
      own.scale_prolongation_weight ? radius_of(filtered, knowledge, options, steps_for_smoothing)
                                    : 0.0;
  return smoothed(filtered, tentative, n_vectors, radius_of_filtered, own);
}

/// The rows of a coarse near null space that are zero: the columns of its prolongator are, too.
template <class T>
std::vector<LocalIndex> zero_rows(const NearNullSpace<T>& vectors) {
  std::vector<LocalIndex> rows;
  const auto k = static_cast<std::size_t>(vectors.n_vectors);
  for (std::size_t i = 0; i < vectors.values.size() / k; ++i) {
    const auto row = vectors.row(i);
    const bool zero = std::all_of(row.begin(), row.end(), [](T value) { return value == T{}; });
    if (zero) rows.push_back(static_cast<LocalIndex>(i));
  }
  return rows;
}

/// Collective. Completes a transfer, which has its prolongation, by a restriction that is made by
/// the transposed matrix as that is by A.
template <class T>
void add_smoothed_restriction(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge, int unknowns,
                              const Options& options, GridTransfer<T>& transfer) {
  const mpi::Scope scope(A.comm(), "restriction_setup");
  const DistMatrix<T> transposed = routed_as(A, matrix::transpose(A));
  PointGraph<T> graph;  // which filtering alone reads
  const AggregationOptions& own = own_options_of(options);
  if (own.prolongation_sweeps > 0 && own.filter_prolongation) {
    graph = point_graph(transposed, unknowns, own);
  }
  const double radius = transfer.spectral_radius;  // A D^-1 and D^-1 A are similar
  const NearNullSpace<T> B =
      candidates(transposed, knowledge, given_left_vectors(A, knowledge, options), radius, options);
  auto [tentative, coarse] =
      aggregate::tentative_prolongator(*transfer.aggregates, unknowns, A.rows(), B);
  const DistMatrix<T> Rt = routed_as(A, prolongator(transposed, graph, unknowns, tentative,
                                                    B.n_vectors, knowledge, radius, options));
  transfer.R = std::make_shared<const DistMatrix<T>>(matrix::transpose(Rt));
  transfer.coarse_left_near_null_space = std::move(coarse);
}

/// Local.
template <class T>
void require_rows(const DistMatrix<T>& A, const NearNullSpace<T>& given, const char* name) {
  const auto n = static_cast<std::size_t>(A.n_local()) * static_cast<std::size_t>(given.n_vectors);
  if (given.values.size() == n) return;
  throw Error(ErrorCode::dimension_mismatch,
              std::string("multigrid setup: the ") + name + " has " +
                  std::to_string(given.values.size()) + " values where " + std::to_string(n) +
                  " are needed, " + std::to_string(given.n_vectors) + " for each row");
}

/// Collective. Refuses numbers of vectors that differ between ranks.
template <class T>
void require_same_numbers(const mpi::Comm& comm, const NearNullSpace<T>& right,
                          const NearNullSpace<T>& left) {
  std::array<std::int64_t, 4> most = {right.n_vectors, -right.n_vectors, left.n_vectors,
                                      -left.n_vectors};
  mpi::max_in_place(comm, std::span<std::int64_t>(most));
  if (most[0] == -most[1] && most[2] == -most[3]) return;
  throw Error(ErrorCode::dimension_mismatch,
              "multigrid setup: the near null space does not have as many vectors on every rank");
}

/// Collective. Refuses vectors that are zero or not finite.
template <class T>
void require_vectors(const mpi::Comm& comm, const NearNullSpace<T>& given, const char* name) {
  if (given.n_vectors == 0) return;
  const auto width = static_cast<std::size_t>(given.n_vectors);
  std::vector<std::int64_t> found(2 * width, 0);  // of each vector: not zero, not finite
  for (std::size_t k = 0; k < given.values.size(); ++k) {
    if (given.values[k] != T{}) found[k % width] = 1;
    if (!std::isfinite(given.values[k])) found[width + k % width] = 1;
  }
  mpi::max_in_place(comm, std::span<std::int64_t>(found));
  for (std::size_t c = 0; c < width; ++c) {
    if (found[c] != 0 && found[width + c] == 0) continue;
    throw Error(ErrorCode::invalid_argument,
                "multigrid setup: vector " + std::to_string(c + 1) + " of the " + name +
                    (found[c] == 0 ? " is zero" : " has a value that is not a finite number"));
  }
}

/// The rows of the roots, each as often as a coarse point has rows.
std::vector<LocalIndex> rows_of_roots(const aggregate::Aggregates& aggregates, int unknowns,
                                      int coarse_unknowns) {
  std::vector<LocalIndex> rows;
  for (const LocalIndex root : aggregates.roots) {
    rows.insert(rows.end(), static_cast<std::size_t>(coarse_unknowns), root * unknowns);
  }
  return rows;
}

}  // namespace

template <class T>
void check_aggregation(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                       const Options& options) {
  require_whole_points(A.rows(), options.unknowns);
  const NearNullSpace<T>& right = knowledge.near_null_space;
  const NearNullSpace<T>& left = knowledge.left_near_null_space;
  mpi::collectively(A.comm(), [&] {
    require_rows(A, right, "near null space");
    require_rows(A, left, "left near null space");
    const int n_vectors = right.n_vectors > 0 ? right.n_vectors : options.unknowns;
    if (left.n_vectors == 0 || left.n_vectors == n_vectors) return;
    throw Error(ErrorCode::dimension_mismatch,
                "multigrid setup: the left near null space has " + std::to_string(left.n_vectors) +
                    " vectors, and the other one " + std::to_string(n_vectors));
  });
  require_same_numbers(A.comm(), right, left);
  require_vectors(A.comm(), right, "near null space");
  require_vectors(A.comm(), left, "left near null space");
}

template <class T>
GridTransfer<T> aggregation_transfer(const DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                     const Options& options, const GridTransfer<T>* earlier) {
  const int unknowns = knowledge.unknowns > 0 ? knowledge.unknowns : options.unknowns;
  const AggregationOptions& own = own_options_of(options);
  const PointGraph<T> graph = point_graph(A, unknowns, own);
  std::vector<GlobalIndex> starts = knowledge.virtual_starts;
  for (GlobalIndex& start : starts) start /= unknowns;
  GridTransfer<T> transfer;
  transfer.aggregates = earlier ? earlier->aggregates
                                : std::make_shared<const aggregate::Aggregates>(aggregate_points(
                                      graph.matrix(A), graph.strength, starts,
                                      knowledge.symmetric.value_or(false), options));
  const aggregate::Aggregates& aggregates = *transfer.aggregates;
  const mpi::Scope scope(A.comm(), "interpolation");
  const double radius = radius_of_level(A, knowledge, options);
  const NearNullSpace<T> B =
      candidates(A, knowledge, given_vectors(A, knowledge, options), radius, options);
  if (!is_worth_a_level(aggregates.layout.n_global() * B.n_vectors, A.rows().n_global())) return {};
  auto [tentative, coarse] = aggregate::tentative_prolongator(aggregates, unknowns, A.rows(), B);
  transfer.P = std::make_shared<const DistMatrix<T>>(
      prolongator(A, graph, unknowns, tentative, B.n_vectors, knowledge, radius, options));
  transfer.coarse_near_null_space = std::move(coarse);
  transfer.coarse_unknowns = B.n_vectors;
  transfer.spectral_radius = radius;
  if (!own.restriction->is_transposed) {
    own.restriction->function<T>()(A, knowledge, unknowns, options, transfer);
  }
  transfer.failure = mpi::caught([&] {
    if (transfer.R) transfer.empty_columns = zero_rows(transfer.coarse_near_null_space);
    transfer.coarse_rows = rows_of_roots(aggregates, unknowns, transfer.coarse_unknowns);
  });
  return transfer;
}

template PointGraph<float> point_graph(const DistMatrix<float>&, int, const AggregationOptions&);
template PointGraph<double> point_graph(const DistMatrix<double>&, int, const AggregationOptions&);
template aggregate::Aggregates aggregate_points(const DistMatrix<float>&, const Strength&,
                                                std::span<const GlobalIndex>, bool, const Options&);
template aggregate::Aggregates aggregate_points(const DistMatrix<double>&, const Strength&,
                                                std::span<const GlobalIndex>, bool, const Options&);
template void check_aggregation(const DistMatrix<float>&, const ProblemInfo<float>&,
                                const Options&);
template void check_aggregation(const DistMatrix<double>&, const ProblemInfo<double>&,
                                const Options&);
template GridTransfer<float> aggregation_transfer(const DistMatrix<float>&,
                                                  const ProblemInfo<float>&, const Options&,
                                                  const GridTransfer<float>*);
template GridTransfer<double> aggregation_transfer(const DistMatrix<double>&,
                                                   const ProblemInfo<double>&, const Options&,
                                                   const GridTransfer<double>*);

namespace {

template <class T>
void add_nothing(const DistMatrix<T>&, const ProblemInfo<T>&, int, const Options&,
                 GridTransfer<T>&) {}

}  // namespace

const RestrictionMethod& transposed_restriction() {
  static const RestrictionMethod method = {{"transposed", "the transposed prolongation", ""},
                                           true,
                                           add_nothing<double>,
                                           add_nothing<float>};
  return method;
}

const RestrictionMethod& smoothed_restriction() {
  static const RestrictionMethod method = {
      {"smoothed",
       "smoothed by the transposed matrix: for nonsymmetric matrices, and not for conjugate "
       "gradients",
       ""},
      false,
      add_smoothed_restriction<double>,
      add_smoothed_restriction<float>};
  return method;
}

const LevelMethod& aggregation_method() {
  constexpr auto asymmetry = [](const Options& options) {
    return has_smoothed_restriction(options) ? std::string("restriction smoothed") : std::string();
  };
  static const LevelMethod method = {
      {"aggregation", "groups of points are the points of the next level",
       "Vanek, Mandel, Brezina 1996", own_options(aggregation_fields)},
      false,
      true,
      true,
      true,
      +asymmetry,
      SetupSteps::aggregation,
      LevelFunctions<double>{aggregation_transfer<double>, check_aggregation<double>},
      LevelFunctions<float>{aggregation_transfer<float>, check_aggregation<float>},
      "",
      true};
  return method;
}

}  // namespace nodewise::amg
