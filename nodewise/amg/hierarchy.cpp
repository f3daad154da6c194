#include "nodewise/amg/hierarchy.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "nodewise/amg/coarsen/virtual_ranks.hpp"
#include "nodewise/amg/cycle/cycle.hpp"
#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/amg/cycle/precision_choice.hpp"
#include "nodewise/amg/redistribute/level_arrival.hpp"
#include "nodewise/amg/redistribute/level_copies.hpp"
#include "nodewise/amg/setup/coarse_matrix.hpp"
#include "nodewise/amg/setup/input_check.hpp"
#include "nodewise/amg/setup/level.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/amg/setup/level_matrix.hpp"
#include "nodewise/amg/setup/level_relaxation.hpp"
#include "nodewise/amg/setup/levels.hpp"
#include "nodewise/amg/setup/sparser_level.hpp"
#include "nodewise/amg/setup/united_info.hpp"
#include "nodewise/base/large_memory.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/same_pattern.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/matrix_operator.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

/// Collective. What a rank that solves the coarsest level knows of it, on all: two broadcasts where
/// others have no part of it.
template <class T>
void share_coarse_solver(const mpi::Comm& comm, const Level<T>& last, int informant,
                         std::string& coarse_solver) {
  if (last.starts.empty()) return;
  coarse_solver = mpi::broadcast(comm, coarse_solver, informant);
}

/// What the entries of the coarsest matrix are sums of; empty where there is one level.
template <class T>
std::span<const double> coarsest_sizes(const Levels<T>& levels) {
  if (levels.size() < 2) return {};
  return levels[levels.size() - 2]->transfer.coarse_sizes;
}

/// Collective on the level's communicator. Adds a level to a cycle, with its matrix, or rounded
/// already; returns how the last level is solved. What fails here is left in `failure`.
template <class T>
std::string apply_to(MixedPrecisionCycle<T>& cycle, const Level<T>& level,
                     const MatrixPointer<T>& A, const MatrixPointer<float>& rounded_A,
                     const relax::MatrixFacts& facts, std::span<const double> sizes,
                     std::optional<Error>& failure) {
  const mpi::Scope scope(cycle.comm(), "level_setup", level.depth);
  if (level.solved_directly) {
    std::string how;
    const auto error = mpi::error_of([&] { how = cycle.add_direct(A, sizes); });
    if (!failure) failure = error;
    return how;
  }
  if (!failure) {
    failure = mpi::caught([&] {
      const GridTransfer<T>& transfer = level.transfer;
      LevelParts<T> parts = {
          .A = A, .P = transfer.P, .R = transfer.R, .rounded_A = rounded_A, .facts = facts};
      if (const LevelCopies<T>* const copies = transfer.copies.get()) {
        parts.P = copies->from_copy;
        parts.R = copies->R;
        parts.to_copies = copies->to_copies;
      }
      if (transfer.before_move) parts.move = transfer.move;
      cycle.add_smoothed(parts);
    });
  }
  return level.transfer.P ? "" : describe_last_sweeps();
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
  if (chosen(options.coarse_solve).has_factors) {
    return {false, "the coarsest level is solved by factors"};
  }
  // All levels have one or none.
  if (levels.front()->transfer.R) {
    return {false, "the restriction is not that of a symmetric cycle"};
  }
  const mpi::Scope scope(levels.front()->A->comm(), "precision");
  std::vector<MatrixPointer<T>> held;
  std::vector<const DistMatrix<T>*> prolongations;
  for (const auto& level : levels) {
    if (!level->transfer.P || level->is_copy) continue;
    prolongations.push_back(held.emplace_back(prolongation_from_next(level->transfer)).get());
  }
  PrecisionChoice choice = choose_precision(
      estimated_condition<T>(*levels.front()->A, prolongations,
                             last.is_copy ? nullptr : last.A.get(), coarsest_sizes(levels)));
  if (choice.single) options.precision = Precision::single;
  return choice;
}

/// Local. Of the levels that a cycle has in float the matrices as it has them, in place of the
/// levels' own, unless somebody reads the values of those: who estimates a spectral radius again,
/// and who counts what virtual ranks would send. From the last on, so that there is hardly ever
/// more in the memory than there was.
template <class T>
std::vector<MatrixPointer<float>> give_up_matrices(Levels<T>& levels,
                                                   const MixedPrecisionCycle<T>& cycle,
                                                   const Options& options) {
  std::vector<MatrixPointer<float>> rounded(levels.size());
  std::size_t bytes = 0;
  if (!levels.front()->knowledge.virtual_starts.empty()) return rounded;
  if (options.smoother->needs_spectral_radius) return rounded;
  for (std::size_t l = levels.size(); l-- > 1;) {
    Level<T>& level = *levels[l];
    if (!cycle.is_single_precision(l) || level.solved_directly || level.is_elsewhere) continue;
    rounded[l] = cycle.rounded(level.A);
    bytes += static_cast<std::size_t>(level.A->nnz_local()) * sizeof(T);
    level.A = nullptr;
  }
  // Vectors of a solve may be too small to be given it; but the next setup waits for fresh pages.
  constexpr std::size_t worth_it = std::size_t{16} << 20;
  if (bytes >= worth_it) release_unused_memory();
  return rounded;
}

/// Local. The exchanges of products with vectors, whose matrix is A.
template <class T>
std::vector<comm::Exchange*> exchanges_of(const Level<T>& level, const MatrixPointer<T>& A) {
  std::vector<comm::Exchange*> all;
  for (const MatrixPointer<T>& M : {A, level.transfer.P, level.transfer.R}) {
    if (M == nullptr) continue;
    all.push_back(&M->exchange());
    if (M->blocks() != nullptr) all.push_back(&M->blocks()->exchange());
  }
  return all;
}

/// Collective. The cycle over levels that were set up.
template <class T>
std::unique_ptr<MixedPrecisionCycle<T>> make_cycle(SetUp<T>& made, const Options& options,
                                                   bool symmetric) {
  const Levels<T>& levels = made.levels;
  auto cycle = std::make_unique<MixedPrecisionCycle<T>>(
      *levels.front()->A, levels[levels.size() > 1 ? 1 : 0]->A.get(), options, symmetric);
  std::vector<MatrixPointer<T>> matrices;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    matrices.push_back(levels[l]->A);
    for (comm::Exchange* exchange : exchanges_of(*levels[l], levels[l]->A)) {
      exchange->set_overlap(made.info[l].overlap);
    }
  }
  std::vector<relax::RowScales> scales = row_scales<T>(levels, matrices, *options.smoother);
  matrices.clear();  // not to hold what is given up
  std::vector<MatrixPointer<float>> rounded(made.levels.size());
  if (!made.failure) {
    made.failure = mpi::caught([&] { rounded = give_up_matrices(made.levels, *cycle, options); });
  }
  for (std::size_t l = 0; l < made.levels.size(); ++l) {
    const Level<T>& level = *made.levels[l];
    made.info[l].is_single_precision = cycle->is_single_precision(l);
    if (level.is_elsewhere) {
      if (level.active) cycle->add_elsewhere();
      continue;
    }
    made.info[l].coarse_solver =
        apply_to(*cycle, level, level.A, rounded[l], facts_of(level, made.radii[l], scales[l]),
                 coarsest_sizes(levels), made.failure);
    scales[l] = {};  // what comes has its room
  }
  return cycle;
}

/// Local. What this rank holds for the way to copies, and not for the level besides.
template <class T>
std::size_t bytes_of(const LevelCopies<T>& copies) {
  std::size_t bytes = 0;
  for (const auto& M : {copies.copier, copies.to_copies, copies.R, copies.from_copy}) {
    if (M) bytes += M->memory_bytes();
  }
  return bytes;
}

/// Local. Throws invalid_argument where there is no such level.
template <class T>
const Level<T>& level_of(const Levels<T>& levels, std::size_t level) {
  if (level < levels.size()) return *levels[level];
  throw Error(ErrorCode::invalid_argument,
              fmt::format("multigrid: there is no level {}, the last of {} is {}", level,
                          levels.size(), levels.size() - 1));
}

/// Local. Without a matrix there is no communicator to agree on that.
template <class T>
void require_matrix(const MatrixPointer<T>& A) {
  if (!A) throw Error(ErrorCode::invalid_argument, "multigrid: there is no matrix");
}

}  // namespace

template <class T>
Hierarchy<T>::Hierarchy(std::shared_ptr<const DistMatrix<T>> A, const Options& options,
                        const LevelObserver& observe)
    : Hierarchy(std::move(A), options, ProblemInfo<T>{}, observe) {}

template <class T>
Hierarchy<T>::Hierarchy(std::shared_ptr<const DistMatrix<T>> A, const Options& options,
                        ProblemInfo<T> knowledge, const LevelObserver& observe)
    : options_(options) {
  require_matrix<T>(A);
  check_starts(*A, std::span<const GlobalIndex>(knowledge.virtual_starts));
  symmetry_is_given_ = knowledge.symmetric.has_value();
  symmetric_ = examine(*A, knowledge, options_);
  keeps_symmetry_ = keeps_symmetry(knowledge, options_);
  const bool symmetric = symmetric_.value_or(true);
  const auto set_up = [&](MatrixPointer<T> matrix, ProblemInfo<T> known) {
    SetUp<T> made =
        set_up_levels(std::move(matrix), std::move(known), symmetric_, options_, observe);
    options_.precision = options.precision;
    precision_ = resolve_precision(options_, made.levels, symmetric);
    cycle_ = make_cycle(made, options_, symmetric && keeps_symmetry_);
    unite(made.levels.front()->A->comm(), made.info, made.failure);
    take(made);
  };
  if (!options_.sparsification->goes_on_with_rest) {
    set_up(std::move(A), std::move(knowledge));
    return;
  }
  do {
    set_up(A, knowledge);
  } while (drops_less());
}

/// Local, the same on every rank. Whether the setup has to be made again, since the coarsest matrix
/// of a symmetric problem has become indefinite; with lower tolerances then.
template <class T>
bool Hierarchy<T>::drops_less() {
  if (!symmetric_.value_or(true)) return false;
  if (!info_.back().coarse_solver.ends_with(indefinite_suffix)) return false;
  std::vector<double> by_level, lost_by;
  for (std::size_t l = 0; l < info_.size(); ++l) {
    by_level.push_back(drop_tolerance_of(options_.sparsification, static_cast<int>(l)));
    lost_by.push_back(info_[l].sparsity ? by_level.back() : 0);
  }
  const std::vector<double> lower = lower_tolerances(lost_by, 1);
  std::vector<std::size_t> changed;
  for (std::size_t l = 1; l < lower.size(); ++l) {
    if (lower[l] == lost_by[l]) continue;
    changed.push_back(l);
    by_level[l] = lower[l];
  }
  if (changed.empty()) return false;
  back_in_setup_.push_back(std::move(changed));
  auto& drop = options_.sparsification.template options<SparsificationOptions>().drop;
  (*drop->set_tolerances)(drop, {by_level.begin() + 1, by_level.end()});
  return true;
}

/// Collective. The levels that a setup has made, on all ranks.
template <class T>
void Hierarchy<T>::take(SetUp<T>& made) {
  levels_ = std::move(made.levels);
  info_ = std::move(made.info);
  informant_ = made.informant;
  share_coarse_solver(layout().comm(), *levels_.back(), informant_, info_.back().coarse_solver);
}

template <class T>
void Hierarchy<T>::rebuild(std::shared_ptr<const DistMatrix<T>> A, Reuse reuse) {
  require_matrix<T>(A);
  {
    const mpi::Scope scope(A->comm(), "examination", 0);
    matrix::require_same_pattern(*levels_.front()->A, *A, "multigrid rebuild");
    check_matrix(*A, options_,
                 {static_cast<std::uint64_t>(reuse), "multigrid rebuild: what is reused"});
  }
  // The plans of products know the entries that a level had when the next was made.
  if (reuse == Reuse::splitting || is_made_of_less_) return rebuild_interpolations(std::move(A));
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
  take(made);
  cycle_ = std::move(cycle);
  is_made_of_less_ = false;
}

/// Collective on the level's communicator. Gives a level the matrix that a lower tolerance leaves,
/// and says in `here` what this rank's part of it is.
template <class T>
void Hierarchy<T>::put_back(std::size_t l, double tolerance, LevelInfo& here) {
  Level<T>& level = *levels_[l];
  const bool is_kept = level.A != nullptr;  // and not in the cycle alone, in single precision
  const MatrixPointer<T> before = matrix_here(l);
  const mpi::Scope scope(before->comm(), "entries_put_back", level.depth);
  sparsify::Sparsified<T> denser = denser_level(level, before, tolerance, options_);
  const MatrixPointer<T> A = in_blocks(routed(denser.A, before->route(), before->transport()),
                                       rows_of_a_point(level.knowledge, options_), options_);
  here = describe(*A, info_[l].routes);
  here.sparsity = std::make_shared<const Sparsity>(
      Sparsity{denser.lost.tolerance,
               info_[l].sparsity->nonzeros,
               {},
               comm::traffic(denser.A->exchange().plan(), A->comm().topology(), A->comm().rank())});
  level.lost.reset();
  if (denser.lost.tolerance > 0) level.lost = std::move(denser.lost);
  level.A = A;
  level.transfer.spectral_radius = 0;
  const double radius = radius_for_smoother(level, options_);
  std::vector<const DistMatrix<T>*> weighed = {
      relax::needs_row_scales(*options_.smoother, A->comm()) ? A.get() : nullptr};
  std::vector<relax::RowScales> scales(1);
  if (options_.smoother->is_l1()) scales = relax::row_scales<T>(A->comm(), weighed);
  mpi::collectively(A->comm(),
                    [&] { cycle_->replace_matrix(l, A, facts_of(level, radius, scales.front())); });
  if (!is_kept) level.A = nullptr;
}

template <class T>
std::vector<std::size_t> Hierarchy<T>::put_entries_back(int n_levels) {
  std::vector<double> tolerances;
  for (const LevelInfo& info : info_) {
    tolerances.push_back(info.sparsity ? info.sparsity->tolerance : 0);
  }
  const std::vector<double> lower = lower_tolerances(tolerances, n_levels);
  std::vector<std::size_t> changed;
  std::vector<LevelInfo> here;
  std::optional<Error> failure;  // on all ranks of a level, and of those below
  for (std::size_t l = 0; l < lower.size(); ++l) {
    if (lower[l] == tolerances[l]) continue;
    changed.push_back(l);
    here.emplace_back().sparsity = std::make_shared<const Sparsity>();
    if (!levels_[l]->is_elsewhere && !failure) {
      failure = mpi::error_of([&] { put_back(l, lower[l], here.back()); });
    }
    is_made_of_less_ = is_made_of_less_ || options_.sparsification->goes_on_with_rest;
  }
  if (changed.empty()) return changed;
  unite(layout().comm(), here, failure);
  for (std::size_t k = 0; k < changed.size(); ++k) {
    LevelInfo& info = info_[changed[k]];
    info.traffic = here[k].traffic;
    info.max_messages = here[k].max_messages;
    info.nonzeros = mpi::max(layout().comm(), here[k].nonzeros);
    const Sparsity& was = *info.sparsity;
    // 0 where nothing is lost any more, which those who have no part of the level do not know.
    const double tolerance = mpi::max(layout().comm(), here[k].sparsity->tolerance);
    const comm::Traffic after = here[k].sparsity->after;
    info.sparsity = tolerance == 0 ? nullptr
                                   : std::make_shared<const Sparsity>(
                                         Sparsity{tolerance, was.nonzeros, was.before, after});
  }
  return changed;
}

/// Collective. The matrix of a level on the communicator that this rank has it on, where it was
/// `before`; null where this rank has no part of it.
template <class T>
MatrixPointer<T> on_ranks_of(const Level<T>& level, GridTransfer<T>& from_above,
                             const DistMatrix<T>& A, const MatrixPointer<T>& before) {
  if (from_above.copies) fill_copies_again(from_above, A);
  if (level.is_elsewhere) return nullptr;
  if (level.is_copy) return from_above.copies->A;
  return std::make_shared<const DistMatrix<T>>(
      on_active_ranks(A, *level.active)->with_exchange_of(*before));
}

/// Collective. The matrices of all levels for other values of the finest one, and the spectral
/// radii that their relaxation needs. Null, and 0, where this rank has no part of a level.
template <class T>
auto Hierarchy<T>::matrices_for(MatrixPointer<T> A, std::optional<Error>& failure) -> LevelValues {
  LevelValues values{std::vector<MatrixPointer<T>>(levels_.size()),
                     std::vector<std::optional<sparsify::LostEntries<T>>>(levels_.size()),
                     std::vector<double>(levels_.size(), 0)};
  const bool goes_on_with_rest = options_.sparsification->goes_on_with_rest;
  MatrixPointer<T> before = matrix_here(0);  // with what it has lost since
  for (std::size_t l = 0; A != nullptr; ++l) {
    Level<T>& level = *levels_[l];
    const mpi::Scope scope(A->comm(), "level_setup", level.depth);
    A = std::make_shared<const DistMatrix<T>>(A->with_blocks_of(*before));
    MatrixPointer<T> left = A;
    if (level.lost) {
      const MatrixPointer<T> left_before = matrix_here(l);
      auto sparse = sparser_again(level, A, left_before, options_);
      left = std::make_shared<const DistMatrix<T>>(sparse.A->with_blocks_of(*left_before));
      values.lost[l] = std::move(sparse.lost);
      if (goes_on_with_rest) {
        A = left;
        before = left_before;
      }
    }
    values.matrices[l] = left;
    values.radii[l] = radius_for_values(level, *left, options_);
    if (!level.transfer.P) break;
    const Level<T>& next = *levels_[l + 1];
    const MatrixPointer<T> next_before = galerkin_matrix_here(l + 1);
    const bool is_moved_later = level.transfer.before_move != nullptr;
    const MatrixPointer<T> C =
        is_moved_later ? level.transfer.before_move
        : next.active
            ? seen_by<T>(next.is_copy && !level.is_copy ? nullptr : next_before, next.active->above,
                         next.active->above, next.active->ranks, info_[l + 1].nonzeros)
            : next_before;
    A = coarse_matrix_again(level, {*before, *C}, *A, options_, failure);
    if (is_moved_later) A = move_next_matrix_again(level.transfer, *A, failure);
    if (next.active) A = on_ranks_of(next, level.transfer, *A, next_before);
    before = next_before;
  }
  return values;
}

template <class T>
void Hierarchy<T>::rebuild_values(std::shared_ptr<const DistMatrix<T>> A) {
  // All that is new is made before any of the old goes.
  std::optional<Error> failure;
  A = std::make_shared<const DistMatrix<T>>(A->with_exchange_of(*levels_.front()->A));
  const std::optional<bool> symmetric = symmetry_of_values(*A);
  LevelValues values;
  const auto error = mpi::error_of([&] { values = matrices_for(A, failure); });
  const bool on_fewer_ranks = !levels_.back()->starts.empty();
  if (on_fewer_ranks) {
    mpi::agree(A->comm(), error);
  } else if (error) {
    throw Error(*error);  // all ranks do
  }
  auto& [matrices, lost, radii] = values;
  auto cycle = std::make_unique<MixedPrecisionCycle<T>>(
      *matrices.front(), matrices[matrices.size() > 1 ? 1 : 0].get(), options_,
      symmetric.value_or(true) && keeps_symmetry_);
  const std::vector<relax::RowScales> scales = row_scales<T>(levels_, matrices, *options_.smoother);
  std::string coarse_solver;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    if (levels_[l]->is_elsewhere) {
      cycle->add_elsewhere();
      break;
    }
    relax::MatrixFacts facts = facts_of(*levels_[l], radii[l], scales[l]);
    facts.is_symmetric = facts.is_symmetric && symmetric.value_or(false);
    coarse_solver = apply_to<T>(*cycle, *levels_[l], matrices[l], nullptr, facts,
                                coarsest_sizes(levels_), failure);
  }
  mpi::agree(layout().comm(), failure);
  share_coarse_solver(layout().comm(), *levels_.back(), informant_, coarse_solver);
  for (std::size_t l = 0; l < matrices.size(); ++l) {
    levels_[l]->A = std::move(matrices[l]);
    levels_[l]->lost = std::move(lost[l]);
  }
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
  const auto n = static_cast<std::size_t>(layout().n_local());
  if (b.size() != n || x.size() != n) {
    throw Error(ErrorCode::dimension_mismatch,
                "multigrid cycle: vectors of " + std::to_string(b.size()) + " and " +
                    std::to_string(x.size()) + " numbers on a rank of " + std::to_string(n) +
                    " rows");
  }
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
  if (!cycle_->apply_block(B, X, width)) {
    solve::Operator<T>::apply_block(B, X, width, work);
  }
}

template <class T>
std::span<const LevelInfo> Hierarchy<T>::levels() const {
  return info_;
}

/// Local. The level's matrix on its own communicator; null where this rank has no part of it.
template <class T>
MatrixPointer<T> Hierarchy<T>::matrix_here(std::size_t level) const {
  const Level<T>& of_level = *levels_[level];
  if (of_level.A || of_level.is_elsewhere) return of_level.A;
  return cycle_->restored_matrix(level);
}

template <class T>
std::vector<comm::Exchange*> Hierarchy<T>::exchanges(std::size_t level) const {
  return exchanges_of(level_of<T>(levels_, level), matrix_here(level));
}

/// Local. The same with what it lost.
template <class T>
MatrixPointer<T> Hierarchy<T>::galerkin_matrix_here(std::size_t level) const {
  const MatrixPointer<T> A = matrix_here(level);
  const auto& lost = levels_[level]->lost;
  return lost ? sparsify::restored(*A, *lost) : A;
}

template <class T>
comm::Layout Hierarchy<T>::rows_of_all(std::size_t level) const {
  const Level<T>& of_level = *levels_[level];
  if (of_level.starts.empty()) return of_level.A->rows();
  return {layout().shared_comm(), of_level.starts};
}

/// Of the level in the transfer from the one above.
template <class T>
comm::Layout Hierarchy<T>::rows_of_transfer(std::size_t level) const {
  const std::vector<GlobalIndex>& starts = levels_[level]->starts_before_move;
  return starts.empty() ? rows_of_all(level) : comm::Layout(layout().shared_comm(), starts);
}

template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> Hierarchy<T>::matrix(std::size_t level) const {
  level_of<T>(levels_, level);
  return of_all(level, matrix_here(level));
}

template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> Hierarchy<T>::galerkin_matrix(
    std::size_t level) const {
  level_of<T>(levels_, level);
  return of_all(level, galerkin_matrix_here(level));
}

/// Local. A level's matrix as the finest level's communicator sees it.
template <class T>
MatrixPointer<T> Hierarchy<T>::of_all(std::size_t level, const MatrixPointer<T>& A) const {
  const Level<T>& of_level = *levels_[level];
  if (of_level.starts.empty()) return A;
  const comm::Layout rows = rows_of_all(level);
  return seen_by<T>(of_level.is_copy ? nullptr : A, rows, rows, of_level.ranks,
                    A ? A->nnz_global() : info_[level].nonzeros);
}

/// Local. A matrix of a level's transfer on the finest level's communicator, made at the first
/// call. `is_restriction` where its rows are the next level's.
template <class T>
const DistMatrix<T>* Hierarchy<T>::transfer_of_all(std::size_t level, const MatrixPointer<T>& M,
                                                   MatrixPointer<T>& of_all,
                                                   bool is_restriction) const {
  const Level<T>& of_level = *levels_[level];
  if (of_level.starts.empty() || level + 1 == levels_.size()) return M.get();
  if (of_all) return of_all.get();
  comm::Layout rows = rows_of_all(level), cols = rows_of_transfer(level + 1);
  if (is_restriction) std::swap(rows, cols);
  of_all = seen_by<T>(of_level.is_copy ? nullptr : M, rows, cols, of_level.ranks,
                      info_[level].interpolation_nonzeros);
  return of_all.get();
}

template <class T>
const matrix::DistMatrix<T>* Hierarchy<T>::interpolation(std::size_t level) const {
  const Level<T>& of_level = level_of<T>(levels_, level);
  return transfer_of_all(level, of_level.transfer.P, of_level.P_of_all, false);
}

template <class T>
const matrix::DistMatrix<T>* Hierarchy<T>::restriction(std::size_t level) const {
  const Level<T>& of_level = level_of<T>(levels_, level);
  if (!levels_.front()->transfer.R) return nullptr;
  return transfer_of_all(level, of_level.transfer.R, of_level.R_of_all, true);
}

template <class T>
std::span<const LocalIndex> Hierarchy<T>::coarse_rows(std::size_t level) const {
  return level_of<T>(levels_, level).transfer.coarse_rows;
}

template <class T>
double Hierarchy<T>::grid_complexity() const {
  return complexity(info_, &LevelInfo::rows);
}

template <class T>
double Hierarchy<T>::operator_complexity() const {
  return complexity(info_, &LevelInfo::nonzeros);
}

template <class T>
std::span<const GlobalIndex> Hierarchy<T>::virtual_starts(std::size_t level) const {
  return level_of<T>(levels_, level).knowledge.virtual_starts;
}

template <class T>
std::size_t Hierarchy<T>::memory_bytes() const {
  std::size_t bytes = cycle_->memory_bytes();
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const Level<T>& level = *levels_[l];
    if (level.is_elsewhere) break;
    if (level.lost) bytes += level.lost->memory_bytes();
    if (l > 0) bytes += level.A ? level.A->memory_bytes() : cycle_->pattern_bytes(l);
    if (level.transfer.P) bytes += level.transfer.P->memory_bytes();
    if (level.transfer.R) bytes += level.transfer.R->memory_bytes();
    if (level.transfer.copies) bytes += bytes_of(*level.transfer.copies);
    if (level.transfer.before_move) bytes += level.transfer.before_move->memory_bytes();
    bytes += level.transfer.coarse_rows.size() * sizeof(LocalIndex);
    bytes += level.knowledge.virtual_starts.size() * sizeof(GlobalIndex);
  }
  return bytes;
}

template class Hierarchy<float>;
template class Hierarchy<double>;

}  // namespace nodewise::amg
