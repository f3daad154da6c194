#include "nodewise/solve/checkpoint.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

namespace {

/// The residual that an earlier kept iterate must exceed, relative to another's, to make room for
/// it. Where there is no solution residuals end on a plateau, and the first iterates on it are the
/// best: later ones have gone further along null vectors, which the recurrences do not see.
constexpr double worthwhile = 1.1;

/// Whether a residual is below another, which may be none at all.
bool is_better(double residual, double other) {
  return residual < other || (std::isnan(other) && !std::isnan(residual));
}

}  // namespace

template <class T>
void Checkpoint<T>::reserve_workspace() {
  kept_.resize(it_.x().size());
  start_.resize(it_.x().size());
}

template <class T>
void Checkpoint<T>::begin() {
  note(it_.last());
  if (!it_.starts_from_zero()) std::copy(it_.x().begin(), it_.x().end(), start_.begin());
}

template <class T>
bool Checkpoint<T>::is_worth_keeping() const {
  return !(it_.last() > best_) && worthwhile * best_ <= kept_residual_;
}

template <class T>
void Checkpoint<T>::keep_before(std::initializer_list<Move<T>> step) {
  if (!is_worth_keeping()) return;
  const std::span<const T> x = it_.x();
  std::copy(x.begin(), x.end(), kept_.begin());
  for (const Move<T>& move : step) axpy<T>(-move.length, move.along, kept_);
  kept_residual_ = best_;
}

template <class T>
void Checkpoint<T>::undo(std::initializer_list<Move<T>> step) {
  const std::span<T> x = it_.x();
  for (const Move<T>& move : step) axpy<T>(-move.length, move.along, x);
  if (sum_all(it_.comm(), count_not_finite<T>(x))[0] > 0) std::fill(x.begin(), x.end(), T{});
}

template <class T>
void Checkpoint<T>::restore(std::span<T> work) {
  if (it_.report().converged() || it_.report().iterations == 0) return;
  const std::span<T> x = it_.x();
  const double margin = it_.was_cut_short() ? 2 : 1;
  double reached = it_.true_residual(work);
  const auto takes_over = [&](double other) { return is_better(margin * other, reached); };
  if (!std::isinf(kept_residual_) && takes_over(kept_residual_)) {
    const double of_kept = it_.residual_of(kept_, work);
    if (takes_over(of_kept)) {
      std::copy(kept_.begin(), kept_.end(), x.begin());
      reached = of_kept;
    }
  }
  const double of_start = it_.report().history.front();
  if (it_.was_cut_short() && !takes_over(of_start)) return;
  if (!it_.starts_from_zero() && takes_over(of_start)) {
    std::copy(start_.begin(), start_.end(), x.begin());
    reached = of_start;
  }
  const double of_zero = 1;  // relative to b
  if (takes_over(of_zero)) std::fill(x.begin(), x.end(), T{});
}

template class Checkpoint<double>;
template class Checkpoint<float>;

}  // namespace nodewise::solve
