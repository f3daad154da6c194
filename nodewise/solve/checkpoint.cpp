#include "nodewise/solve/checkpoint.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::solve {

template <class T>
void Checkpoint<T>::keep_before(std::initializer_list<Move<T>> step) {
  if (it_.last() > best_ || !(2 * best_ <= kept_residual_)) return;
  const std::span<const T> x = it_.x();
  if (std::isinf(kept_residual_)) {
    mpi::collectively(it_.comm(), [&] { kept_.resize(x.size()); });
  }
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
  double reached = it_.true_residual(work);
  const auto is_much_better = [&](double other) { return !(reached <= 2 * other); };
  if (!std::isinf(kept_residual_) && is_much_better(kept_residual_)) {
    const double of_kept = it_.residual_of(kept_, work);
    if (is_much_better(of_kept)) {
      std::copy(kept_.begin(), kept_.end(), x.begin());
      reached = of_kept;
    }
  }
  const double of_zero = 1;  // relative to b
  const double of_start = it_.report().history.front();
  if (is_much_better(std::max(of_zero, of_start))) std::fill(x.begin(), x.end(), T{});
}

template class Checkpoint<double>;
template class Checkpoint<float>;

}  // namespace nodewise::solve
