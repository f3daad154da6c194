#include "nodewise/amg/smoother.hpp"

#include <algorithm>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using relax::Direction;

namespace {

/// Sweeps without a direction need no order.
template <class T>
SweepOrder effective(SweepOrder order, const relax::Relaxation<T>& relaxation) {
  return relaxation.has_direction() ? order : SweepOrder::forward;
}

}  // namespace

template <class T>
Smoother<T>::Smoother(const matrix::DistMatrix<T>& A, const Options& options,
                      double spectral_radius)
    : A_(A),
      relaxation_(relax::make_relaxation(A, options, spectral_radius)),
      order_(effective(options.sweep_order, *relaxation_)),
      pre_(options.pre_sweeps),
      post_(options.post_sweeps) {}

/// The sweeps before the coarse correction but the `first` ones.
template <class T>
void Smoother<T>::sweeps_before(int first, std::span<const T> b, std::span<T> x) const {
  const auto direction = order_ == SweepOrder::backward ? Direction::backward : Direction::forward;
  for (int k = first; k < pre_; ++k) {
    if (order_ == SweepOrder::symmetric) {
      relaxation_->symmetric_sweep(b, x);
    } else {
      relaxation_->sweep(direction, b, x);
    }
  }
}

template <class T>
void Smoother<T>::presmooth(std::span<const T> b, std::span<T> x, std::span<T> r) const {
  if (pre_ == 0) {
    std::fill(x.begin(), x.end(), T{});
    std::copy(b.begin(), b.end(), r.begin());
    return;
  }
  if (order_ == SweepOrder::backward) {
    std::fill(x.begin(), x.end(), T{});
    return presmooth_further(b, x, r);
  }
  if (pre_ == 1 && order_ != SweepOrder::symmetric) {
    return relaxation_->first_sweep_with_residual(b, x, r);
  }
  if (order_ == SweepOrder::symmetric) {
    relaxation_->first_symmetric_sweep(b, x);
  } else {
    relaxation_->first_sweep(b, x);
  }
  sweeps_before(1, b, x);
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, std::span<const T>(x), b, r);
}

template <class T>
void Smoother<T>::presmooth_further(std::span<const T> b, std::span<T> x, std::span<T> r) const {
  sweeps_before(0, b, x);
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, std::span<const T>(x), b, r);
}

template <class T>
void Smoother<T>::postsmooth(std::span<const T> b, std::span<T> x) const {
  const auto direction = order_ == SweepOrder::forward ? Direction::forward : Direction::backward;
  for (int k = 0; k < post_; ++k) {
    if (order_ == SweepOrder::symmetric) {
      relaxation_->symmetric_sweep(b, x);
    } else {
      relaxation_->sweep(direction, b, x);
    }
  }
}

template <class T>
void Smoother<T>::solve_approximately(int sweeps, std::span<const T> b, std::span<T> x) const {
  relaxation_->first_sweep(b, x);
  for (int k = 1; k < sweeps; ++k) relaxation_->sweep(Direction::forward, b, x);
  for (int k = 0; k < sweeps; ++k) relaxation_->sweep(Direction::backward, b, x);
}

template class Smoother<float>;
template class Smoother<double>;

}  // namespace nodewise::amg
