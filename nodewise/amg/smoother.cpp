#include "nodewise/amg/smoother.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/ghost_product.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

namespace {

using kernels::Csr;
using kernels::row_product;

template <class T>
T absolute_sum(const Csr<T>& A, LocalIndex i) {
  T sum{};
  for (Offset k = A.begin(i); k < A.end(i); ++k) {
    sum += std::abs(A.vals[static_cast<std::size_t>(k)]);
  }
  return sum;
}

/// What is added to the modulus of the diagonal of row i.
template <class T>
T l1_term(const matrix::DistMatrix<T>& A, SmootherKind kind, LocalIndex i, T diagonal) {
  const T size = std::abs(diagonal);
  if (kind == SmootherKind::l1_gauss_seidel) {
    const T half = absolute_sum(A.off(), i) / 2;
    return half <= size / 3 ? T{} : half;  // small enough to converge as it is: remark 6.2
  }
  if (kind == SmootherKind::l1_jacobi) {
    return absolute_sum(A.on(), i) - size + absolute_sum(A.off(), i);
  }
  return T{};
}

}  // namespace

template <class T>
Smoother<T>::Smoother(const matrix::DistMatrix<T>& A, const Options& options)
    : A_(A),
      kind_(options.smoother),
      symmetric_(options.sweep_order == SweepOrder::symmetric),
      pre_(options.pre_sweeps),
      post_(options.post_sweeps),
      inverse_(static_cast<std::size_t>(A.n_local())),
      upper_(static_cast<std::size_t>(A.n_local())) {
  const T damping = kind_ == SmootherKind::jacobi ? static_cast<T>(options.jacobi_weight) : T{1};
  const auto& on = A.on();
  LocalIndex place = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const auto u = static_cast<std::size_t>(i);
    place = kernels::diagonal_place(on, i, place);
    const auto k = static_cast<std::size_t>(on.begin(i) + place);
    const bool there = std::cmp_less(k, on.end(i)) && on.cols[k] == i;
    upper_[u] = there ? place + 1 : place;
    const T diagonal = there ? on.vals[k] : T{};
    if (diagonal == T{}) {
      frozen_.push_back(i);
      continue;
    }
    const T term = std::copysign(l1_term(A, kind_, i, diagonal), diagonal);
    inverse_[u] = damping / (diagonal + term);
    if (term == T{} || !is_gauss_seidel()) continue;
    if (shift_.empty()) shift_.resize(inverse_.size());
    shift_[u] = T{1} / inverse_[u] - diagonal;
  }
  if (!is_gauss_seidel()) scratch_.resize(inverse_.size());
}

template <class T>
bool Smoother<T>::is_gauss_seidel() const {
  return kind_ == SmootherKind::gauss_seidel || kind_ == SmootherKind::l1_gauss_seidel;
}

template <class T>
std::size_t Smoother<T>::memory_bytes() const {
  return (inverse_.size() + shift_.size() + scratch_.size()) * sizeof(T) +
         (upper_.size() + frozen_.size()) * sizeof(LocalIndex);
}

template <class T>
void Smoother<T>::presmooth(std::span<const T> b, std::span<T> x, std::span<T> r) const {
  if (pre_ == 0) {
    std::fill(x.begin(), x.end(), T{});
    std::copy(b.begin(), b.end(), r.begin());
    return;
  }
  first_sweep(b, x);
  if (pre_ == 1 && !symmetric_ && is_gauss_seidel()) return residual_after_first_sweep(b, x, r);
  if (symmetric_) sweep(Direction::backward, b, x);
  for (int k = 1; k < pre_; ++k) {
    sweep(Direction::forward, b, x);
    if (symmetric_) sweep(Direction::backward, b, x);
  }
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, std::span<const T>(x), b, r);
}

template <class T>
void Smoother<T>::postsmooth(std::span<const T> b, std::span<T> x) const {
  for (int k = 0; k < post_; ++k) {
    if (symmetric_) sweep(Direction::forward, b, x);
    sweep(Direction::backward, b, x);
  }
}

template <class T>
void Smoother<T>::solve_approximately(int sweeps, std::span<const T> b, std::span<T> x) const {
  first_sweep(b, x);
  for (int k = 1; k < sweeps; ++k) sweep(Direction::forward, b, x);
  for (int k = 0; k < sweeps; ++k) sweep(Direction::backward, b, x);
}

/// A forward sweep from x = 0: nothing arrives from other ranks, nothing from above the diagonal.
template <class T>
void Smoother<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  if (!is_gauss_seidel()) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = inverse_[i] * b[i];
    return;
  }
  const Csr<T>& on = A_.on();
  kernels::Prefetch<T> prefetch(on);
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    const auto u = static_cast<std::size_t>(i);
    prefetch.upwards(on.end(i));
    // One past the diagonal; x_i is set to 0 first so that the diagonal's entry adds nothing.
    const Offset begin = on.begin(i);
    x[u] = T{};
    const T lower = row_product(on.cols.data(), on.vals.data(), begin, begin + upper_[u], x.data());
    x[u] = (b[u] - lower) * inverse_[u];
  }
}

/// After first_sweep (D' + L) x = b, so that b - A x = (D' - D) x - U x - (other ranks): half of
/// the matrix need not be read. Not so in the rows that were left alone.
template <class T>
void Smoother<T>::residual_after_first_sweep(std::span<const T> b, std::span<const T> x,
                                             std::span<T> r) const {
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::add_ghost_product(T{-1}, A_, x, r, [&] {
    const Csr<T>& on = A_.on();
    kernels::Prefetch<T> prefetch(on);
    for (LocalIndex i = 0; i < on.n_rows; ++i) {
      const auto u = static_cast<std::size_t>(i);
      prefetch.upwards(on.end(i));
      r[u] = -row_product(on.cols.data(), on.vals.data(), on.begin(i) + upper_[u], on.end(i),
                          x.data());
    }
    for (std::size_t i = 0; i < shift_.size(); ++i) r[i] += shift_[i] * x[i];
    for (const LocalIndex i : frozen_) {
      const auto u = static_cast<std::size_t>(i);
      r[u] = b[u] - row_product(on.cols.data(), on.vals.data(), on.begin(i), on.end(i), x.data());
    }
  });
}

template <class T>
void Smoother<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  if (!is_gauss_seidel()) return jacobi_sweep(b, x);
  A_.exchange().forward(std::span<const T>(x), A_.exchange().template ghost_buffer<T>());
  if (A_.n_ghosts() > 0) {
    gauss_seidel_sweep<true>(direction, b, x);
  } else {
    gauss_seidel_sweep<false>(direction, b, x);
  }
}

template <class T>
template <bool has_ghosts>
void Smoother<T>::gauss_seidel_sweep(Direction direction, std::span<const T> b,
                                     std::span<T> x) const {
  const Csr<T>& on = A_.on();
  const Csr<T>& off = A_.off();
  const T* ghosts = A_.exchange().template ghost_buffer<T>().data();
  const LocalIndex n = on.n_rows;
  const LocalIndex step = direction == Direction::forward ? 1 : -1;
  LocalIndex i = direction == Direction::forward ? 0 : n - 1;
  kernels::Prefetch<T> prefetch(on);
  for (LocalIndex count = 0; count < n; ++count, i += step) {
    const auto u = static_cast<std::size_t>(i);
    if (direction == Direction::forward) {
      prefetch.upwards(on.end(i));
    } else {
      prefetch.downwards(on.begin(i));
    }
    T r = b[u] - row_product(on.cols.data(), on.vals.data(), on.begin(i), on.end(i), x.data());
    if constexpr (has_ghosts) {
      r -= row_product(off.cols.data(), off.vals.data(), off.begin(i), off.end(i), ghosts);
    }
    x[u] += r * inverse_[u];
  }
}

template <class T>
void Smoother<T>::jacobi_sweep(std::span<const T> b, std::span<T> x) const {
  matrix::residual(A_, std::span<const T>(x), b, std::span<T>(scratch_));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += inverse_[i] * scratch_[i];
}

template class Smoother<float>;
template class Smoother<double>;

}  // namespace nodewise::amg
