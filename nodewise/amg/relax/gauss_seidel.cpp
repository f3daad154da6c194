#include "nodewise/amg/relax/gauss_seidel.hpp"

#include <cmath>
#include <utility>

#include "nodewise/amg/relax/row_norm.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/ghost_product.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Csr;
using kernels::row_product;

/// What the l1 form adds to the modulus of a diagonal: nothing where the coupling to other ranks is
/// small enough to converge as it is (remark 6.2).
template <class T>
T l1_term(const Csr<T>& off, LocalIndex i, T diagonal) {
  const T half = absolute_sum(off, i) / 2;
  return half <= std::abs(diagonal) / 3 ? T{} : half;
}

}  // namespace

template <class T>
GaussSeidel<T>::GaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1)
    : Relaxation<T>(A),
      inverse_(static_cast<std::size_t>(A.n_local())),
      upper_(static_cast<std::size_t>(A.n_local())) {
  const Csr<T>& on = A.on();
  const T w = static_cast<T>(weight);
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
    const T term = l1 ? std::copysign(l1_term(A.off(), i, diagonal), diagonal) : T{};
    inverse_[u] = w / (diagonal + term);
    if (term == T{} && w == T{1}) continue;
    if (shift_.empty()) shift_.resize(inverse_.size());
    shift_[u] = T{1} / inverse_[u] - diagonal;
  }
}

template <class T>
std::size_t GaussSeidel<T>::memory_bytes() const {
  return (inverse_.size() + shift_.size()) * sizeof(T) +
         (upper_.size() + frozen_.size()) * sizeof(LocalIndex);
}

/// From x = 0 nothing arrives from other ranks, nothing from above the diagonal.
template <class T>
void GaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
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
void GaussSeidel<T>::first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                               std::span<T> r) const {
  first_sweep(b, x);
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::add_ghost_product(T{-1}, A_, std::span<const T>(x), r, [&] {
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
void GaussSeidel<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  A_.exchange().forward(std::span<const T>(x), A_.exchange().template ghost_buffer<T>());
  if (A_.n_ghosts() > 0) {
    sweep_rows<true>(direction, b, x);
  } else {
    sweep_rows<false>(direction, b, x);
  }
}

template <class T>
template <bool has_ghosts>
void GaussSeidel<T>::sweep_rows(Direction direction, std::span<const T> b, std::span<T> x) const {
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

template class GaussSeidel<float>;
template class GaussSeidel<double>;

}  // namespace nodewise::amg::relax
