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
                      double spectral_radius, std::span<const LocalIndex> coarse_rows)
    : A_(A),
      relaxation_(relax::make_relaxation(A, options, spectral_radius, coarse_rows)),
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

template <class T>
void Smoother<T>::presmooth(bool from_zero, std::span<const T> B, std::span<T> X, std::span<T> R,
                            int width) const {
  using relax::Sweep;
  const bool symmetric = order_ == SweepOrder::symmetric;
  const bool backward = order_ == SweepOrder::backward;
  if (from_zero && (pre_ == 0 || backward)) std::fill(X.begin(), X.end(), T{});
  for (int k = 0; k < pre_; ++k) {
    const Sweep first = symmetric ? Sweep::first_symmetric : Sweep::first;
    const Sweep further = symmetric ? Sweep::symmetric : Sweep::forward;
    const Sweep sweep = backward ? Sweep::backward : k == 0 && from_zero ? first : further;
    relaxation_->sweep_together(sweep, B, X, width);
  }
  if (from_zero && pre_ == 0) {
    std::copy(B.begin(), B.end(), R.begin());
    return;
  }
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, std::span<const T>(X), B, R, width);
}

template <class T>
void Smoother<T>::postsmooth(std::span<const T> B, std::span<T> X, int width) const {
  using relax::Sweep;
  const Sweep sweep = order_ == SweepOrder::symmetric ? Sweep::symmetric
                      : order_ == SweepOrder::forward ? Sweep::forward
                                                      : Sweep::backward;
  for (int k = 0; k < post_; ++k) relaxation_->sweep_together(sweep, B, X, width);
}

template <class T>
void Smoother<T>::solve_approximately(int sweeps, std::span<const T> B, std::span<T> X,
                                      int width) const {
  using relax::Sweep;
  for (int k = 0; k < sweeps; ++k) {
    relaxation_->sweep_together(k == 0 ? Sweep::first : Sweep::forward, B, X, width);
  }
  for (int k = 0; k < sweeps; ++k) relaxation_->sweep_together(Sweep::backward, B, X, width);
}

template class Smoother<float>;
template class Smoother<double>;

}  // namespace nodewise::amg
