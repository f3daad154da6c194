#include "nodewise/amg/cycle/smoother.hpp"

#include <algorithm>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using relax::Direction;
using relax::Sweep;

namespace {

/// What one sweep before the coarse correction, or one after it, is made of.
std::vector<Sweep> parts_of_sweep(SweepOrder order, bool before) {
  switch (order) {
    case SweepOrder::automatic:  // resolved by whoever makes a smoother
    case SweepOrder::forward_backward:
    case SweepOrder::coarse_fine:  // that order is the relaxation's forward
    case SweepOrder::coarse_fine_symmetric:
      return {before ? Sweep::forward : Sweep::backward};
    case SweepOrder::symmetric:
      return {Sweep::symmetric};
    case SweepOrder::alternating:
      return {Sweep::forward, Sweep::backward};
    case SweepOrder::forward:
      return {Sweep::forward};
    case SweepOrder::backward:
      return {Sweep::backward};
  }
  return {};
}

std::vector<Sweep> repeated(const std::vector<Sweep>& parts, int times) {
  std::vector<Sweep> all;
  for (int k = 0; k < times; ++k) all.insert(all.end(), parts.begin(), parts.end());
  return all;
}

/// The same from x = 0; a backward sweep has no form of its own for that.
std::vector<Sweep> from_zero(std::vector<Sweep> sweeps) {
  if (sweeps.empty()) return sweeps;
  if (sweeps.front() == Sweep::forward) sweeps.front() = Sweep::first;
  if (sweeps.front() == Sweep::symmetric) sweeps.front() = Sweep::first_symmetric;
  return sweeps;
}

/// Whether x has to be set to zero before the sweeps.
bool need_zero(const std::vector<Sweep>& sweeps) {
  return sweeps.empty() || !is_from_zero(sweeps.front());
}

}  // namespace

template <class T>
Smoother<T>::Smoother(const matrix::DistMatrix<T>& A, const Options& options,
                      const relax::MatrixFacts& facts)
    : A_(A), relaxation_(relax::make_relaxation(A, options.smoother, facts)) {
  const SweepOrder order = relax::order_of(options.smoother);
  const SweepCounts sweeps = sweep_counts(options.cycle);
  before_ = repeated(parts_of_sweep(order, true), sweeps.pre_sweeps);
  before_from_zero_ = from_zero(before_);
  after_ = repeated(parts_of_sweep(order, false), sweeps.post_sweeps);
}

template <class T>
void Smoother<T>::presmooth(std::span<const T> b, std::span<T> x, std::span<T> r) const {
  if (before_from_zero_.size() == 1 && is_from_zero(before_from_zero_.front())) {
    return before_from_zero_.front() == Sweep::first
               ? relaxation_->first_sweep_with_residual(b, x, r)
               : relaxation_->first_symmetric_sweep_with_residual(b, x, r);
  }
  if (need_zero(before_from_zero_)) std::fill(x.begin(), x.end(), T{});
  if (before_.empty()) {
    std::copy(b.begin(), b.end(), r.begin());
    return;
  }
  for (const Sweep sweep : before_from_zero_) relaxation_->run(sweep, b, x);
  relaxation_->subtract_product(b, x, r);
}

template <class T>
void Smoother<T>::presmooth_further(std::span<const T> b, std::span<T> x, std::span<T> r) const {
  for (const Sweep sweep : before_) relaxation_->run(sweep, b, x);
  relaxation_->subtract_product(b, x, r);
}

template <class T>
void Smoother<T>::postsmooth(std::span<const T> b, std::span<T> x) const {
  for (const Sweep sweep : after_) relaxation_->run(sweep, b, x);
}

template <class T>
void Smoother<T>::postsmooth_with_product(std::span<const T> b, std::span<T> x,
                                          std::span<T> y) const {
  for (std::size_t k = 0; k + 1 < after_.size(); ++k) relaxation_->run(after_[k], b, x);
  relaxation_->sweep_with_product(after_.back(), b, x, y);
}

template <class T>
bool Smoother<T>::can_save_product(const matrix::DistMatrix<T>& A, const Options& options) {
  return sweep_counts(options.cycle).post_sweeps > 0 &&
         relax::can_save_product(A, options.smoother) &&
         has_backward(parts_of_sweep(relax::order_of(options.smoother), false).back());
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
  const std::vector<Sweep>& sweeps = from_zero ? before_from_zero_ : before_;
  if (from_zero && need_zero(sweeps)) std::fill(X.begin(), X.end(), T{});
  if (from_zero && sweeps.empty()) {
    std::copy(B.begin(), B.end(), R.begin());
    return;
  }
  for (const Sweep sweep : sweeps) relaxation_->sweep_block(sweep, B, X, width);
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, std::span<const T>(X), B, R, width);
}

template <class T>
void Smoother<T>::postsmooth(std::span<const T> B, std::span<T> X, int width) const {
  for (const Sweep sweep : after_) relaxation_->sweep_block(sweep, B, X, width);
}

template <class T>
void Smoother<T>::solve_approximately(int sweeps, std::span<const T> B, std::span<T> X,
                                      int width) const {
  for (int k = 0; k < sweeps; ++k) {
    relaxation_->sweep_block(k == 0 ? Sweep::first : Sweep::forward, B, X, width);
  }
  for (int k = 0; k < sweeps; ++k) relaxation_->sweep_block(Sweep::backward, B, X, width);
}

template class Smoother<float>;
template class Smoother<double>;

}  // namespace nodewise::amg
