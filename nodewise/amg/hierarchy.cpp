#include "nodewise/amg/hierarchy.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/amg/aggregation.hpp"
#include "nodewise/amg/applied_cycle.hpp"
#include "nodewise/amg/classical.hpp"
#include "nodewise/amg/cycle.hpp"
#include "nodewise/amg/examination.hpp"
#include "nodewise/amg/level_choice.hpp"
#include "nodewise/amg/restriction/coarse_filter.hpp"
#include "nodewise/amg/round_off.hpp"
#include "nodewise/amg/rounding.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/amg/virtual_ranks.hpp"
#include "nodewise/base/large_memory.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/recompute.hpp"
#include "nodewise/matrix/same_pattern.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/matrix_operator.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

/// What the setup knows of a level.
template <class T>
struct Level {
  int depth = 0;
  std::shared_ptr<const DistMatrix<T>> A;
  Transfer<T> transfer;  // to the next level; no P on the last
  Knowledge<T> knowledge;
  bool solved_directly = false;
  // Of rebuild(), which makes the one that the level needs.
  std::unique_ptr<matrix::GalerkinProduct<T>> product;
  std::unique_ptr<matrix::RestrictedProduct<T>> restricted_product;
  std::unique_ptr<SpectralRadiusTracker<T>> radius;
};

namespace {

/// Local. What is known of a level, of traffic and ranks only this rank's part.
template <class T>
LevelInfo describe(const DistMatrix<T>& A, const LevelRoutes& routes) {
  LevelInfo info;
  info.rows = A.rows().n_global();
  info.nonzeros = A.nnz_global();
  info.routes = routes;
  info.traffic = comm::traffic(A.exchange().plan(), A.comm().topology(), A.comm().rank());
  info.max_messages = info.traffic.messages_on_node + info.traffic.messages_off_node;
  info.active_ranks = A.n_local() > 0 ? 1 : 0;
  return info;
}

/// Collective. Makes of every rank's part what holds for all, for all levels at once. Throws where
/// the setup failed on any rank.
void unite(const mpi::Comm& comm, std::span<LevelInfo> levels, std::optional<Error> failure) {
  std::vector<std::int64_t> sums, most;
  const auto collect = [&] {
    for (const LevelInfo& info : levels) {
      const comm::Traffic& t = info.traffic;
      sums.insert(sums.end(),
                  {t.messages_on_node, t.messages_off_node, t.entries_on_node, t.entries_off_node,
                   t.messages_on_domain, t.entries_on_domain, info.active_ranks});
      most.push_back(info.max_messages);
    }
  };
  if (!failure) failure = mpi::caught(collect);
  mpi::agree(comm, failure);
  mpi::sum_in_place(comm, std::span(sums));
  mpi::max_in_place(comm, std::span(most));
  auto sum = sums.begin();
  for (std::size_t l = 0; l < levels.size(); ++l, sum += 7) {
    levels[l].traffic = {sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]};
    levels[l].active_ranks = static_cast<int>(sum[6]);
    levels[l].max_messages = most[l];
  }
}

template <class T>
using MatrixPointer = std::shared_ptr<const DistMatrix<T>>;

/// How many rows make a point of a level: in classical coarsening coarse points have unknowns of
/// their own.
template <class T>
int rows_of_a_point(const Knowledge<T>& knowledge, const Options& options) {
  if (knowledge.unknowns > 0) return knowledge.unknowns;
  return knowledge.level == 0 ? options.unknowns : 1;
}

/// Collective. The matrix of a level as its relaxation reads it: in blocks where it works on them,
/// or goes by rows and they are full.
template <class T>
MatrixPointer<T> in_blocks(const MatrixPointer<T>& A, int block, const Options& options) {
  if (relax::reads_full_blocks(options.smoother)) {
    return matrix::with_blocks_where_full<T>(A, block);
  }
  if (!relax::works_on_blocks(options.smoother) || block == 1) return A;
  if (A->blocks() != nullptr && A->blocks()->block() == block) return A;
  return std::make_shared<const DistMatrix<T>>(A->with_blocks(block));
}

template <class T>
SpectrumOptions spectrum_of(const Level<T>& level, const Options& options) {
  return spectrum_options(level.knowledge.symmetric.value_or(true), options);
}

/// Collective. The spectral radius that the relaxation of a new level needs; 0 where it needs none.
template <class T>
double radius_for_smoother(Level<T>& level, const Options& options) {
  if (level.solved_directly || !relax::needs_spectral_radius(options.smoother)) return 0;
  double& radius = level.transfer.spectral_radius;
  if (radius > 0) return radius;
  const mpi::Scope scope(level.A->comm(), "spectral_radius");
  return radius = spectral_radius(*level.A, spectrum_of(level, options));
}

/// Collective. Likewise for new values, while the level has the old ones, which are the first ones
/// the first time.
template <class T>
double radius_for_values(Level<T>& level, const DistMatrix<T>& A, const Options& options) {
  if (level.solved_directly || !relax::needs_spectral_radius(options.smoother)) return 0;
  const mpi::Scope scope(A.comm(), "spectral_radius");
  const SpectrumOptions spectrum = spectrum_of(level, options);
  if (!spectrum.symmetric) return spectral_radius(A, spectrum);
  if (level.radius) return level.radius->estimate(A);
  auto tracker = std::make_unique<SpectralRadiusTracker<T>>(A, spectrum);
  tracker->remember(*level.A, level.transfer.spectral_radius);
  level.radius = std::move(tracker);
  return level.radius->radius();
}

/// P^T A P, or R A P without its small entries.
template <class T>
DistMatrix<T> coarse_matrix(const DistMatrix<T>& A, const DistMatrix<T>* R, const DistMatrix<T>& P,
                            int coarse_unknowns, double filter) {
  if (R == nullptr) {
    return matrix::galerkin_product(A, P, matrix::GalerkinForm::fused, coarse_unknowns);
  }
  const DistMatrix<T> product = matrix::multiply(*R, matrix::multiply(A, P));
  return filter == 0 ? product : restriction::without_small_entries(product, filter);
}

/// Local. What fails on this rank alone is left in `failure`.
template <class T>
void drop_round_off(DistMatrix<T>& C, const DistMatrix<T>& A, const Transfer<T>& transfer,
                    std::optional<Error>& failure) {
  if (failure || transfer.R) return;
  const int unknowns = std::max(1, transfer.coarse_unknowns);
  failure = mpi::caught([&] { C = without_round_off(C, A, *transfer.P, unknowns); });
}

/// A coarse matrix as a cycle can use it: aggregates may have fewer rows than vectors.
template <class T>
DistMatrix<T> without_zero_rows(const DistMatrix<T>& A, const Transfer<T>& transfer) {
  if (transfer.coarse_unknowns == 0) return A;
  return aggregate::with_unit_rows(A, transfer.coarse_unknowns, transfer.empty_columns);
}

template <class T>
Transfer<T> make_transfer(const DistMatrix<T>& A, const Knowledge<T>& knowledge,
                          const Options& options, const Transfer<T>* earlier) {
  return options.method == Method::aggregation
             ? aggregation_transfer(A, knowledge, options, earlier)
             : classical_transfer(A, knowledge, options, earlier);
}

/// Gives a level its transfer, and returns the matrix of the next; nothing where the level is to be
/// the last. What takes another route in the setup than in the solve is needed here only.
template <class T>
MatrixPointer<T> coarsen_level(Level<T>& level, const MatrixPointer<T>& A,
                               const LevelRoutes& routes, const Options& options,
                               const Transfer<T>* earlier) {
  // What has the same route shares the plan.
  const bool one_route = routes.setup == routes.solve;
  const auto for_setup = [&](const MatrixPointer<T>& M) {
    return routed(M, routes.setup, routes.setup_transport);
  };
  const auto for_solve = [&](const MatrixPointer<T>& M) {
    return routed(M, routes.solve, routes.solve_transport);
  };
  MatrixPointer<T> setup_A = for_setup(one_route ? level.A : A);
  if (setup_A->blocks() == nullptr && level.A->blocks() != nullptr) {
    setup_A = std::make_shared<const DistMatrix<T>>(setup_A->with_blocks(level.A->shared_blocks()));
  }
  level.transfer = make_transfer(*setup_A, level.knowledge, options, earlier);
  auto& P = level.transfer.P;
  auto& R = level.transfer.R;
  if (P == nullptr) return nullptr;
  const MatrixPointer<T> setup_P = for_setup(P);
  const MatrixPointer<T> setup_R = R ? for_setup(R) : nullptr;
  P = for_solve(one_route ? setup_P : P);
  if (R) R = for_solve(one_route ? setup_R : R);
  DistMatrix<T> C =
      without_zero_rows(coarse_matrix(*setup_A, setup_R.get(), *setup_P,
                                      level.transfer.coarse_unknowns, options.coarse_filter),
                        level.transfer);
  drop_round_off(C, *setup_A, level.transfer, level.transfer.failure);
  return std::make_shared<const DistMatrix<T>>(std::move(C));
}

}  // namespace

namespace {

template <class T>
using Levels = std::vector<std::unique_ptr<Level<T>>>;

/// Collective. Of the matrices of levels that are relaxed and need them; the others' are empty.
template <class T>
std::vector<relax::RowScales> row_scales(const Levels<T>& levels,
                                         std::span<const MatrixPointer<T>> matrices,
                                         SmootherKind smoother) {
  if (!relax::is_l1(smoother)) return std::vector<relax::RowScales>(levels.size());
  const mpi::Comm& comm = matrices.front()->comm();
  std::vector<const DistMatrix<T>*> weighed(levels.size(), nullptr);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool is_relaxed = !levels[l]->solved_directly;
    if (is_relaxed && relax::needs_row_scales(smoother, comm)) weighed[l] = matrices[l].get();
  }
  return relax::row_scales<T>(comm, weighed);
}

/// What the relaxation of a level is told.
template <class T>
relax::MatrixFacts facts_of(const Level<T>& level, double radius, const relax::RowScales& scales) {
  return {.spectral_radius = radius,
          .coarse_rows = level.transfer.coarse_rows,
          .is_symmetric = level.knowledge.symmetric.value_or(false),
          .scales = &scales,
          .gives_product = level.depth == 0};
}

/// Collective. Adds a level to a cycle, with its matrix, or rounded already; returns how the last
/// level is solved. What fails on this rank alone is left in `failure`.
template <class T>
std::string apply_to(AppliedCycle<T>& cycle, const Level<T>& level, const MatrixPointer<T>& A,
                     const MatrixPointer<float>& rounded_A, const relax::MatrixFacts& facts,
                     std::optional<Error>& failure) {
  const mpi::Scope scope(cycle.comm(), "level_setup", level.depth);
  if (level.solved_directly) return cycle.add_direct(A);
  if (!failure) {
    failure = mpi::caught([&] {
      const Transfer<T>& transfer = level.transfer;
      cycle.add_smoothed(
          {.A = A, .P = transfer.P, .R = transfer.R, .rounded_A = rounded_A, .facts = facts});
    });
  }
  return level.transfer.P ? "" : std::to_string(last_level_sweeps) + " symmetric sweeps";
}

/// Collective. Finds whether single precision is safe, where that is asked for.
template <class T>
PrecisionChoice resolve_precision(Options& options, const Levels<T>& levels, bool symmetric) {
  if (options.precision != Precision::automatic) {
    return {options.precision == Precision::single || std::is_same_v<T, float>, ""};
  }
  options.precision = Precision::same;
  if (std::is_same_v<T, float>) return {true, "the matrix is in single precision"};
  if (!symmetric) return {false, "the matrix is not symmetric"};
  const Level<T>& last = *levels.back();
  if (!last.solved_directly) return {false, "the coarsest level is not solved directly"};
  const mpi::Scope scope(last.A->comm(), "precision");
  std::vector<const DistMatrix<T>*> prolongations;
  for (const auto& level : levels) {
    if (level->transfer.R) return {false, "the restriction is not that of a symmetric cycle"};
    if (level->transfer.P) prolongations.push_back(level->transfer.P.get());
  }
  PrecisionChoice choice =
      choose_precision(estimated_condition<T>(*levels.front()->A, prolongations, *last.A));
  if (choice.single) options.precision = Precision::single;
  return choice;
}

/// The levels of a hierarchy before there is a cycle.
template <class T>
struct SetUp {
  Levels<T> levels;
  std::vector<LevelInfo> info;  // of this rank's part
  std::vector<double> radii;
  // What fails on this rank alone, and is no matrix: it waits for the others at the end, since an
  // agreement on every level would cost as much as a message to the farthest rank and back.
  std::optional<Error> failure;
};

/// The levels of an earlier setup, whose splittings and routes are taken again.
template <class T>
struct Earlier {
  const Levels<T>& levels;
  std::span<const LevelInfo> info;
};

/// Collective.
template <class T>
LevelChoice<T> choose_again(const MatrixPointer<T>& A, const LevelInfo& earlier) {
  const LevelRoutes& routes = earlier.routes;
  return {{routes, earlier.route_choice, earlier.setup_route_choice,
           routed(A, routes.solve, routes.solve_transport), A},
          earlier.transport_choice};
}

/// Collective. The next level's part of what is known.
template <class T>
Knowledge<T> knowledge_below(Level<T>& level) {
  Knowledge<T> knowledge;
  knowledge.virtual_starts =
      virtual_coarse_starts(level.knowledge.virtual_starts, level.transfer.coarse_rows);
  knowledge.near_null_space = std::move(level.transfer.coarse_near_null_space);
  knowledge.left_near_null_space = std::move(level.transfer.coarse_left_near_null_space);
  knowledge.unknowns = level.transfer.coarse_unknowns;
  knowledge.level = level.depth + 1;
  knowledge.unknown_of_row = std::move(level.transfer.coarse_unknown_of_row);
  return knowledge;
}

/// Whether the levels below a symmetric one are symmetric, but for rounding: the restriction is the
/// transposed prolongation, or made from the same vectors.
template <class T>
bool keeps_symmetry(const Knowledge<T>& knowledge, const Options& options) {
  const bool other_vectors =
      has_smoothed_restriction(options) && knowledge.left_near_null_space.n_vectors > 0;
  return options.method != Method::air && !other_vectors;
}

/// Collective.
template <class T>
SetUp<T> set_up_levels(MatrixPointer<T> A, Knowledge<T> knowledge, std::optional<bool> symmetric,
                       const Options& options, const LevelObserver& observe,
                       const Earlier<T>* earlier = nullptr) {
  SetUp<T> made;
  const bool stays_symmetric = keeps_symmetry(knowledge, options);
  while (true) {
    const std::size_t l = made.levels.size();
    const int depth = static_cast<int>(l);
    const mpi::Scope scope(A->comm(), "level_setup", depth);
    Level<T>& level = *made.levels.emplace_back(std::make_unique<Level<T>>());
    level.depth = depth;
    level.knowledge = std::move(knowledge);
    const Transfer<T>* before = earlier ? &earlier->levels[l]->transfer : nullptr;
    const LevelChoice<T> choice =
        earlier ? choose_again(A, earlier->info[l]) : choose_for(A, options, depth);
    const ChosenRoutes<T>& chosen = choice.routes;
    const LevelRoutes& routes = chosen.routes;
    level.A = in_blocks(chosen.for_solve, rows_of_a_point(level.knowledge, options), options);
    A = chosen.for_setup;
    level.knowledge.symmetric = symmetric;
    if (!stays_symmetric) symmetric = false;  // the levels below
    LevelInfo info = describe(*level.A, routes);
    info.route_choice = chosen.solve;
    info.setup_route_choice = chosen.setup;
    info.transport_choice = choice.transport;
    const bool goes_on = before ? before->P != nullptr : may_coarsen(info.rows, options, depth);
    A = goes_on ? coarsen_level(level, A, routes, options, before) : nullptr;
    if (level.transfer.P) {
      info.interpolation_nonzeros = level.transfer.P->nnz_global();
    } else {
      level.solved_directly = may_solve_directly(info.rows, options);
    }
    if (!made.failure) made.failure = level.transfer.failure;
    made.radii.push_back(radius_for_smoother(level, options));
    made.info.push_back(info);
    if (observe) observe(depth, info);
    if (!level.transfer.P) return made;
    knowledge = knowledge_below(level);
  }
}

/// Local. Of the levels that a cycle has in float the matrices as it has them, in place of the
/// levels' own, unless somebody reads the values of those: who estimates a spectral radius again,
/// and who counts what virtual ranks would send. From the last on, so that there is hardly ever
/// more in the memory than there was.
template <class T>
std::vector<MatrixPointer<float>> give_up_matrices(Levels<T>& levels, const AppliedCycle<T>& cycle,
                                                   const Options& options) {
  std::vector<MatrixPointer<float>> rounded(levels.size());
  std::size_t bytes = 0;
  if (!levels.front()->knowledge.virtual_starts.empty()) return rounded;
  if (relax::needs_spectral_radius(options.smoother)) return rounded;
  for (std::size_t l = levels.size(); l-- > 1;) {
    Level<T>& level = *levels[l];
    if (!cycle.is_rounded(l) || level.solved_directly) continue;
    rounded[l] = cycle.rounded(level.A);
    bytes += static_cast<std::size_t>(level.A->nnz_local()) * sizeof(T);
    level.A = nullptr;
  }
  // Vectors of a solve may be too small to be given it; but the next setup waits for fresh pages.
  constexpr std::size_t worth_it = std::size_t{16} << 20;
  if (bytes >= worth_it) release_unused_memory();
  return rounded;
}

/// Collective. The cycle over levels that were set up.
template <class T>
std::unique_ptr<AppliedCycle<T>> make_cycle(SetUp<T>& made, const Options& options,
                                            bool symmetric) {
  const Levels<T>& levels = made.levels;
  auto cycle = std::make_unique<AppliedCycle<T>>(
      *levels.front()->A, *levels[levels.size() > 1 ? 1 : 0]->A, options, symmetric);
  std::vector<MatrixPointer<T>> matrices;
  for (const auto& level : levels) matrices.push_back(level->A);
  const std::vector<relax::RowScales> scales = row_scales<T>(levels, matrices, options.smoother);
  matrices.clear();  // not to hold what is given up
  std::vector<MatrixPointer<float>> rounded(made.levels.size());
  if (!made.failure) {
    made.failure = mpi::caught([&] { rounded = give_up_matrices(made.levels, *cycle, options); });
  }
  for (std::size_t l = 0; l < made.levels.size(); ++l) {
    const Level<T>& level = *made.levels[l];
    made.info[l].is_rounded = cycle->is_rounded(l);
    made.info[l].coarse_solver = apply_to(*cycle, level, level.A, rounded[l],
                                          facts_of(level, made.radii[l], scales[l]), made.failure);
  }
  return cycle;
}

}  // namespace

template <class T>
Hierarchy<T>::Hierarchy(std::shared_ptr<const DistMatrix<T>> A, const Options& options,
                        const LevelObserver& observe)
    : Hierarchy(std::move(A), options, Knowledge<T>{}, observe) {}

template <class T>
Hierarchy<T>::Hierarchy(std::shared_ptr<const DistMatrix<T>> A, const Options& options,
                        Knowledge<T> knowledge, const LevelObserver& observe)
    : options_(options) {
  check_starts(*A, std::span<const GlobalIndex>(knowledge.virtual_starts));
  symmetry_is_given_ = knowledge.symmetric.has_value();
  symmetric_ = examine(*A, knowledge, options_);
  keeps_symmetry_ = keeps_symmetry(knowledge, options_);
  const bool symmetric = symmetric_.value_or(true);
  SetUp<T> made = set_up_levels(std::move(A), std::move(knowledge), symmetric_, options_, observe);
  precision_ = resolve_precision(options_, made.levels, symmetric);
  cycle_ = make_cycle(made, options_, symmetric && keeps_symmetry_);
  unite(made.levels.front()->A->comm(), made.info, made.failure);
  levels_ = std::move(made.levels);
  info_ = std::move(made.info);
}

namespace {

/// The matrices of a level and of the next before a rebuild, for their patterns.
template <class T>
struct Patterns {
  const DistMatrix<T>& A;
  const DistMatrix<T>& next;
};

/// The next level's matrix from new values of a level's, on the pattern that it has. What fails on
/// this rank alone is left in `failure`.
template <class T>
MatrixPointer<T> next_matrix(Level<T>& level, const Patterns<T>& before, const DistMatrix<T>& A,
                             const Options& options, std::optional<Error>& failure) {
  const Transfer<T>& transfer = level.transfer;
  if (transfer.R) {
    const bool is_product = options.coarse_filter == 0;
    auto& product = level.restricted_product;
    if (!product) {
      const auto plan = [&](const DistMatrix<T>& C) {
        return std::make_unique<matrix::RestrictedProduct<T>>(before.A, *transfer.R, *transfer.P,
                                                              C);
      };
      product =
          plan(is_product ? before.next
                          : matrix::multiply(*transfer.R, matrix::multiply(before.A, *transfer.P)));
    }
    const DistMatrix<T> C = product->recompute(A);
    return std::make_shared<const DistMatrix<T>>(
        is_product ? without_zero_rows(C, transfer) : restriction::filtered_alike(C, before.next));
  }
  if (!level.product) {
    level.product = std::make_unique<matrix::GalerkinProduct<T>>(before.A, *transfer.P, before.next,
                                                                 transfer.coarse_unknowns);
  }
  DistMatrix<T> C = without_zero_rows(level.product->recompute(A), transfer);
  drop_round_off(C, A, transfer, failure);
  return std::make_shared<const DistMatrix<T>>(std::move(C));
}

}  // namespace

template <class T>
void Hierarchy<T>::rebuild(std::shared_ptr<const DistMatrix<T>> A, Reuse reuse) {
  {
    const mpi::Scope scope(A->comm(), "examination", 0);
    matrix::require_same_pattern(*levels_.front()->A, *A, "multigrid rebuild");
    check_matrix(*A, options_);
  }
  if (reuse == Reuse::splitting) return rebuild_interpolations(std::move(A));
  rebuild_values(std::move(A));
}

/// Collective. What the levels may take for granted with other values; where the first were
/// symmetric, and nobody said that they are, they have to be looked at.
template <class T>
std::optional<bool> Hierarchy<T>::symmetry_of_values(const DistMatrix<T>& A) const {
  if (symmetry_is_given_ || !symmetric_.value_or(false)) return symmetric_;
  const mpi::Scope scope(A.comm(), "examination", 0);
  return matrix::is_symmetric(A);
}

template <class T>
void Hierarchy<T>::rebuild_interpolations(std::shared_ptr<const DistMatrix<T>> A) {
  const Earlier<T> earlier{levels_, info_};
  A = std::make_shared<const DistMatrix<T>>(A->with_exchange_of(*levels_.front()->A));
  const std::optional<bool> symmetric = symmetry_of_values(*A);
  SetUp<T> made = set_up_levels(A, levels_.front()->knowledge, symmetric, options_, {}, &earlier);
  auto cycle = make_cycle(made, options_, symmetric.value_or(true) && keeps_symmetry_);
  unite(layout().comm(), made.info, made.failure);
  levels_ = std::move(made.levels);
  info_ = std::move(made.info);
  cycle_ = std::move(cycle);
}

template <class T>
void Hierarchy<T>::rebuild_values(std::shared_ptr<const DistMatrix<T>> A) {
  // All that is new is made before any of the old goes.
  std::optional<Error> failure;
  std::vector<MatrixPointer<T>> old, matrices;
  std::vector<double> radii;
  for (std::size_t l = 0; l < levels_.size(); ++l) old.push_back(matrix(l));
  const auto blocks_of = [](const DistMatrix<T>& before, const DistMatrix<T>& values) {
    return std::make_shared<const DistMatrix<T>>(values.with_blocks_of(before));
  };
  A = blocks_of(*old.front(), A->with_exchange_of(*old.front()));
  const std::optional<bool> symmetric = symmetry_of_values(*A);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level<T>& level = *levels_[l];
    const mpi::Scope scope(A->comm(), "level_setup", level.depth);
    matrices.push_back(A);
    radii.push_back(radius_for_values(level, *A, options_));
    if (!level.transfer.P) break;
    const Patterns<T> before{*old[l], *old[l + 1]};
    A = blocks_of(before.next, *next_matrix(level, before, *A, options_, failure));
  }
  auto cycle =
      std::make_unique<AppliedCycle<T>>(*matrices.front(), *matrices[matrices.size() > 1 ? 1 : 0],
                                        options_, symmetric.value_or(true) && keeps_symmetry_);
  const std::vector<relax::RowScales> scales = row_scales<T>(levels_, matrices, options_.smoother);
  std::string coarse_solver;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    relax::MatrixFacts facts = facts_of(*levels_[l], radii[l], scales[l]);
    facts.is_symmetric = facts.is_symmetric && symmetric.value_or(false);
    coarse_solver = apply_to<T>(*cycle, *levels_[l], matrices[l], nullptr, facts, failure);
  }
  mpi::agree(layout().comm(), failure);
  for (std::size_t l = 0; l < matrices.size(); ++l) levels_[l]->A = std::move(matrices[l]);
  cycle_ = std::move(cycle);
  info_.back().coarse_solver = std::move(coarse_solver);
}

template <class T>
Hierarchy<T>::~Hierarchy() = default;
template <class T>
Hierarchy<T>::Hierarchy(Hierarchy&&) noexcept = default;

template <class T>
const comm::Layout& Hierarchy<T>::layout() const {
  return levels_.front()->A->rows();
}

template <class T>
void Hierarchy<T>::apply(std::span<const T> b, std::span<T> x) const {
  cycle_->apply(b, x);
}

template <class T>
bool Hierarchy<T>::saves_product_with(const solve::Operator<T>& A) const {
  const auto* product = dynamic_cast<const solve::MatrixOperator<T>*>(&A);
  return product != nullptr && cycle_->saves_product() &&
         product->matrix().shares_entries_with(*levels_.front()->A);
}

template <class T>
void Hierarchy<T>::apply_with_product(const solve::Operator<T>& A, std::span<const T> b,
                                      std::span<T> x, std::span<T> y) const {
  if (saves_product_with(A)) return cycle_->apply_with_product(b, x, y);
  solve::Operator<T>::apply_with_product(A, b, x, y);
}

template <class T>
void Hierarchy<T>::apply_block(std::span<const T> B, std::span<T> X, int width,
                               std::span<T> work) const {
  if (!cycle_->apply_together(B, X, width)) {
    solve::Operator<T>::apply_block(B, X, width, work);
  }
}

template <class T>
std::span<const LevelInfo> Hierarchy<T>::levels() const {
  return info_;
}

template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> Hierarchy<T>::matrix(std::size_t level) const {
  const MatrixPointer<T>& A = levels_.at(level)->A;
  return A ? A : cycle_->restored_matrix(level);
}

template <class T>
const matrix::DistMatrix<T>* Hierarchy<T>::interpolation(std::size_t level) const {
  return levels_.at(level)->transfer.P.get();
}

template <class T>
const matrix::DistMatrix<T>* Hierarchy<T>::restriction(std::size_t level) const {
  return levels_.at(level)->transfer.R.get();
}

template <class T>
std::span<const LocalIndex> Hierarchy<T>::coarse_rows(std::size_t level) const {
  return levels_.at(level)->transfer.coarse_rows;
}

template <class T>
double Hierarchy<T>::grid_complexity() const {
  double sum = 0;
  for (const LevelInfo& info : info_) sum += static_cast<double>(info.rows);
  return sum / std::max(1.0, static_cast<double>(info_.front().rows));
}

template <class T>
double Hierarchy<T>::operator_complexity() const {
  double sum = 0;
  for (const LevelInfo& info : info_) sum += static_cast<double>(info.nonzeros);
  return sum / std::max(1.0, static_cast<double>(info_.front().nonzeros));
}

template <class T>
std::span<const GlobalIndex> Hierarchy<T>::virtual_starts(std::size_t level) const {
  return levels_.at(level)->knowledge.virtual_starts;
}

template <class T>
std::size_t Hierarchy<T>::memory_bytes() const {
  std::size_t bytes = cycle_->memory_bytes();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const Level<T>& level = *levels_[l];
    if (l > 0) bytes += level.A ? level.A->memory_bytes() : cycle_->pattern_bytes(l);
    if (level.transfer.P) bytes += level.transfer.P->memory_bytes();
    if (level.transfer.R) bytes += level.transfer.R->memory_bytes();
    bytes += level.transfer.coarse_rows.size() * sizeof(LocalIndex);
    bytes += level.knowledge.virtual_starts.size() * sizeof(GlobalIndex);
  }
  return bytes;
}

template class Hierarchy<float>;
template class Hierarchy<double>;

}  // namespace nodewise::amg
