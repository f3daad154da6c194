#include "nodewise/amg/setup/sparser_level.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/amg/setup/next_level.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

/// The vector that the smoothing of the next level is to see as the Galerkin matrix does.
template <class T>
std::vector<T> first_vector(const NearNullSpace<T>& space) {
  std::vector<T> vector;
  for (std::size_t i = 0; i < space.values.size(); i += static_cast<std::size_t>(space.n_vectors)) {
    vector.push_back(space.values[i]);
  }
  return vector;
}

template <class T>
sparsify::DropRules<T> drop_rules(const Options& options, int unknowns,
                                  const NearNullSpace<T>& space, std::span<const T> vector) {
  const auto& own = options.sparsification.options<SparsificationOptions>();
  return {.drop = own.drop,
          .lumping = own.lumping,
          .unknowns = std::max(1, unknowns),
          .has_kept_vector = space.n_vectors > 0,
          .kept_vector = vector,
          .places = {}};
}

/// Who has the rows of a level that takes this route. Without virtual ranks the matrix says it.
template <class T>
sparsify::RowPlaces places_of(const ProblemInfo<T>& knowledge, const comm::Route& route) {
  sparsify::RowPlaces places;
  places.by_nodes = route.is_automatic() || !route->goes_straight;
  if (knowledge.virtual_starts.empty()) return places;
  places.starts = knowledge.virtual_starts;
  places.topology = knowledge.virtual_topology.get();
  places.is_virtual = true;
  return places;
}

/// Below which tolerance entries go by the options, or went in an earlier setup.
double tolerance_of(const Options& options, int depth, const LevelInfo* earlier) {
  if (!earlier) return drop_tolerance_of(options.sparsification, depth);
  return earlier->sparsity ? earlier->sparsity->tolerance : 0;
}

/// Local. A level whose matrix is A, for what it would cost.
template <class T>
std::unique_ptr<NextLevel> costed_level(const MatrixPointer<T>& A, const Options& options,
                                        int depth, const ProblemInfo<T>& knowledge) {
  static const MatrixPointer<T> no_transfer;
  if (knowledge.virtual_starts.empty()) return next_level(A, no_transfer, options, depth);
  return next_virtual_level(A, no_transfer, options, depth, knowledge.virtual_starts, knowledge);
}

template <class T>
sparsify::SparserChoice<T> keeps_all(const std::string& reason) {
  sparsify::SparserChoice<T> choice;
  choice.decision.reason = reason;
  return choice;
}

}  // namespace

template <class T>
double finest_level_s(const Level<T>& level, const MatrixPointer<T>& A, const Options& options) {
  const mpi::Scope scope(A->comm(), "sparsification");
  return sparsify::finest_level_s(*costed_level(A, options, 0, level.knowledge));
}

template <class T>
SparserNext<T> sparser_next(Level<T>& level, const MatrixPointer<T>& A,
                            const MatrixPointer<T>& next, const ProblemInfo<T>& knowledge,
                            const Options& options, const LevelInfo* earlier, FinerLevels& finer) {
  const int depth = level.depth + 1;
  const GlobalIndex n = next->rows().n_global();
  const bool is_solved = !may_coarsen(n, options, depth) && may_solve_directly(n, options);
  const GridTransfer<T>& transfer = level.transfer;
  const auto fetched = std::exchange(level.transfer.fetched, nullptr);
  SparserNext<T> result;
  if (earlier) result.choice = earlier->sparsity_choice;
  if (!options.sparsification->drops_entries || is_solved || transfer.n_copies > 1) return result;
  const double tolerance = tolerance_of(options, depth, earlier);
  const bool asks_costs = options.sparsification->asks_costs && !earlier;
  if (tolerance == 0 && !asks_costs) return result;
  std::vector<T> vector;
  std::optional<Error> failure = transfer.failure;
  const auto taken = mpi::caught([&] { vector = first_vector(knowledge.near_null_space); });
  if (!failure) failure = taken;
  auto rules = drop_rules<T>(options, knowledge.unknowns, knowledge.near_null_space, vector);
  rules.tolerance = tolerance;
  rules.places = places_of(knowledge, routes_of_level(options, depth).solve);
  const int fine_unknowns =
      level.knowledge.unknowns > 0 ? level.knowledge.unknowns : options.unknowns;
  const sparsify::Coarsening<T> coarsening = {
      .A = options.sparsification->pattern_of_rest ? *level.A : *A,
      .P = *transfer.P,
      .coarse_rows = transfer.coarse_rows,
      .move = transfer.move ? &*transfer.move : nullptr,
      .moves_columns = transfer.before_move != nullptr,
      .unknowns = options.method->has_coarse_points ? 1 : fine_unknowns,
      .coarse_unknowns = rules.unknowns,
      .fetched = fetched,
      .fetched_for = A->ghosts()};
  if (asks_costs) {
    auto choice = level.knowledge.symmetric.value_or(false)
                      ? sparsify::cheapest_sparsity(next, coarsening, rules,
                                                    *costed_level(next, options, depth, knowledge),
                                                    finer, std::move(failure))
                      : keeps_all<T>("the matrix is not symmetric");
    result.choice = std::make_shared<const sparsify::SparsityDecision>(std::move(choice.decision));
    result.sparse = std::move(choice.sparse);
    return result;
  }
  if (result.choice) {
    rules.drop = result.choice->drop;
    rules.places.by_nodes = result.choice->by_nodes;
  }
  result.sparse = sparsify::sparsify<T>(next, coarsening, rules, std::move(failure));
  return result;
}

template <class T>
sparsify::Sparsified<T> sparser_again(const Level<T>& level, const MatrixPointer<T>& A,
                                      const MatrixPointer<T>& left, const Options& options) {
  const NearNullSpace<T>& space = level.knowledge.near_null_space;
  const std::vector<T> vector = mpi::collectively(A->comm(), [&] { return first_vector(space); });
  return sparsify::sparsify_alike<T>(A, {left, *level.lost},
                                     drop_rules<T>(options, level.lost->unknowns, space, vector));
}

std::vector<double> lower_tolerances(std::vector<double> tolerances, int n_levels) {
  constexpr double least = 0.01;
  const auto first = std::find_if(tolerances.begin(), tolerances.end(),
                                  [](double tolerance) { return tolerance > 0; });
  const auto n = std::min<std::ptrdiff_t>(n_levels, tolerances.end() - first);
  std::for_each(first, first + n, [](double& tolerance) {
    tolerance /= 10;
    if (tolerance < least * (1 - 1e-12)) tolerance = 0;  // 0.1 / 10 may be less by rounding
  });
  return tolerances;
}

template <class T>
sparsify::Sparsified<T> denser_level(const Level<T>& level, const MatrixPointer<T>& left,
                                     double tolerance, const Options& options) {
  const NearNullSpace<T>& space = level.knowledge.near_null_space;
  const std::vector<T> vector =
      mpi::collectively(left->comm(), [&] { return first_vector(space); });
  auto rules = drop_rules<T>(options, level.lost->unknowns, space, vector);
  if (rules.lumping->changes_diagonal_only) rules.tolerance = tolerance;
  return sparsify::with_entries_back(*left, *level.lost, rules);
}

template <class T>
void follow_to_active_ranks(const Level<T>& level, const MatrixPointer<T>& full,
                            sparsify::Sparsified<T>& sparse) {
  if (!level.active || full == nullptr) return;
  sparse.A = on_active_ranks(*sparse.A, *level.active);
  sparse.lost.pattern = comm::route::pattern_of(full->exchange().plan());
  if (sparse.lost.whole) sparse.lost.whole = full;
}

template <class T>
std::shared_ptr<const Sparsity> sparsity_of(const DistMatrix<T>& full,
                                            const sparsify::Sparsified<T>& sparse) {
  const mpi::Comm& comm = full.comm();
  const auto count = [&](const DistMatrix<T>& A) {
    return comm::traffic(A.exchange().plan(), comm.topology(), comm.rank());
  };
  return std::make_shared<const Sparsity>(
      Sparsity{sparse.lost.tolerance, full.nnz_global(), count(full), count(*sparse.A)});
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template double finest_level_s(const Level<T>&, const MatrixPointer<T>&, const Options&);       \
  template SparserNext<T> sparser_next(Level<T>&, const MatrixPointer<T>&,                        \
                                       const MatrixPointer<T>&, const ProblemInfo<T>&,            \
                                       const Options&, const LevelInfo*, FinerLevels&);           \
  template sparsify::Sparsified<T> sparser_again(const Level<T>&, const MatrixPointer<T>&,        \
                                                 const MatrixPointer<T>&, const Options&);        \
  template sparsify::Sparsified<T> denser_level(const Level<T>&, const MatrixPointer<T>&, double, \
                                                const Options&);                                  \
  template void follow_to_active_ranks(const Level<T>&, const MatrixPointer<T>&,                  \
                                       sparsify::Sparsified<T>&);                                 \
  template std::shared_ptr<const Sparsity> sparsity_of(const DistMatrix<T>&,                      \
                                                       const sparsify::Sparsified<T>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
