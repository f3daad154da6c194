#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"

#include <type_traits>
#include <utility>

#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

template <class V>
std::string describe(const CoarseSolver<V>& solver, const Choice<CoarseSolveMethod>& where) {
  return "direct" + *chosen(where).place + (solver.singular() ? ", singular" : "") +
         (solver.indefinite() ? indefinite_suffix : "");
}

template std::string describe(const CoarseSolver<float>&, const Choice<CoarseSolveMethod>&);
template std::string describe(const CoarseSolver<double>&, const Choice<CoarseSolveMethod>&);

std::string describe_last_sweeps() {
  return std::to_string(last_level_sweeps) + " symmetric sweeps";
}

template <class T>
MixedPrecisionCycle<T>::MixedPrecisionCycle(const matrix::DistMatrix<T>& A,
                                            const matrix::DistMatrix<T>* next,
                                            const Options& options, bool symmetric_matrix)
    : comm_(A.shared_comm()), options_(options), cycle_(*options.cycle, symmetric_matrix) {
  if (options.precision != Precision::single || std::is_same_v<T, float>) return;
  finest_is_rounded_ =
      options.cycle->visit == CoarseVisit::add || !Smoother<T>::can_save_product(A, options);
  rounded_ = finest_is_rounded_
                 ? std::make_shared<SinglePrecisionLevels<T>>(&A, options, symmetric_matrix, 0)
                 : std::make_shared<SinglePrecisionLevels<T>>(next, options, symmetric_matrix, 1);
}

template <class T>
bool MixedPrecisionCycle<T>::is_single_precision(std::size_t level) const {
  return rounded_ && (level > 0 || finest_is_rounded_);
}

template <class T>
auto MixedPrecisionCycle<T>::restored_matrix(std::size_t level) const -> Matrix {
  return std::make_shared<const matrix::DistMatrix<T>>(
      rounded_matrix(level).template with_type<T>(1 / rounded_->scale()));
}

template <class T>
std::size_t MixedPrecisionCycle<T>::pattern_bytes(std::size_t level) const {
  const matrix::DistMatrix<float>& A = rounded_matrix(level);
  return A.memory_bytes() - static_cast<std::size_t>(A.nnz_local()) * sizeof(float);
}

/// Whether the next level to be added is.
template <class T>
bool MixedPrecisionCycle<T>::adds_to_rounded() const {
  return is_single_precision(cycle_.levels.size());
}

template <class T>
void MixedPrecisionCycle<T>::add_smoothed(const LevelParts<T>& parts) {
  if (adds_to_rounded()) return rounded_->add_smoothed(parts);
  const bool is_finest = cycle_.levels.empty();
  CycleLevel<T> level;
  level.A = parts.A;
  level.P = parts.P;
  level.R = parts.R;
  level.to_copies = parts.to_copies;
  if (parts.move) level.arrival.emplace(*parts.move);
  level.smoother = std::make_shared<const Smoother<T>>(*level.A, options_, parts.facts);
  level.reserve(!is_finest, options_.cycle->visit == CoarseVisit::iterate && !is_finest);
  cycle_.levels.push_back(std::move(level));
  if (!rounded_ || !parts.P) return;
  CycleLevel<T> below;
  below.lower = rounded_;
  const comm::Layout& rows_below = parts.move ? parts.move->to() : parts.P->cols();
  below.reserve_vectors(static_cast<std::size_t>(rows_below.n_local()));
  cycle_.levels.push_back(std::move(below));
}

template <class T>
void MixedPrecisionCycle<T>::replace_matrix(std::size_t level, const Matrix& A,
                                            const relax::MatrixFacts& facts) {
  if (is_single_precision(level)) {
    return rounded_->replace_matrix(level - (finest_is_rounded_ ? 0 : 1), A, facts);
  }
  cycle_.levels[level].replace_matrix(A, options_, facts);
}

/// The matrix is inverted as it is: rounded to another type, a singular one would not be
/// recognised.
template <class T>
std::string MixedPrecisionCycle<T>::add_direct(const Matrix& A, std::span<const double> sizes) {
  std::string how;
  if (adds_to_rounded()) {
    auto solver = std::make_shared<const CoarseSolver<float>>(*A, rounded_->scale(),
                                                              options_.coarse_solve, sizes);
    how = describe(*solver, options_.coarse_solve);
    mpi::collectively(A->comm(), [&] { rounded_->add_direct(A, std::move(solver)); });
  } else {
    auto solver = std::make_shared<const CoarseSolver<T>>(*A, 1.0, options_.coarse_solve, sizes);
    how = describe(*solver, options_.coarse_solve);
    mpi::collectively(A->comm(), [&] {
      CycleLevel<T> level;
      level.A = A;
      level.direct = std::move(solver);
      level.reserve(!cycle_.levels.empty(), false);
      cycle_.levels.push_back(std::move(level));
    });
  }
  return how;
}

template <class T>
void MixedPrecisionCycle<T>::add_elsewhere() {
  if (adds_to_rounded()) return rounded_->add_elsewhere();
  cycle_.levels.emplace_back();
}

template <class T>
void MixedPrecisionCycle<T>::apply(std::span<const T> b, std::span<T> x) const {
  if (finest_is_rounded_) return rounded_->apply(b, x);
  cycle_.apply(b, x);
}

template <class T>
bool MixedPrecisionCycle<T>::apply_block(std::span<const T> B, std::span<T> X, int width) const {
  if (!cycle_.shares_messages()) return false;
  if (finest_is_rounded_) {
    rounded_->apply(B, X, width);
  } else {
    cycle_.apply(B, X, width);
  }
  return true;
}

template <class T>
std::size_t MixedPrecisionCycle<T>::memory_bytes() const {
  std::size_t bytes = rounded_ ? rounded_->memory_bytes() : 0;
  for (const CycleLevel<T>& level : cycle_.levels) bytes += level.memory_bytes();
  return bytes;
}

template class MixedPrecisionCycle<float>;
template class MixedPrecisionCycle<double>;

}  // namespace nodewise::amg
