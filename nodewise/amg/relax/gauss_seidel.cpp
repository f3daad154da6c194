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

/// The product of row i with x but for the entry at `skip`.
template <class T>
T row_product_without(const Csr<T>& A, LocalIndex i, Offset skip, const T* x) {
  return row_product(A.cols.data(), A.vals.data(), A.begin(i), skip, x) +
         row_product(A.cols.data(), A.vals.data(), skip + 1, A.end(i), x);
}

}  // namespace

template <class T>
GaussSeidel<T>::GaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1)
    : Relaxation<T>(A),
      inverse_(static_cast<std::size_t>(A.n_local())),
      lower_(static_cast<std::size_t>(A.n_local())) {
  const Csr<T>& on = A.on();
  const T w = static_cast<T>(weight);
  LocalIndex place = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const auto u = static_cast<std::size_t>(i);
    place = kernels::diagonal_place(on, i, place);
    const auto k = static_cast<std::size_t>(on.begin(i) + place);
    const bool there = std::cmp_less(k, on.end(i)) && on.cols[k] == i;
    lower_[u] = place;
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

/// Where the entries above the diagonal of row i begin.
template <class T>
Offset GaussSeidel<T>::upper(LocalIndex i) const {
  const Csr<T>& on = A_.on();
  const Offset k = on.begin(i) + lower_[static_cast<std::size_t>(i)];
  return k < on.end(i) && on.cols[static_cast<std::size_t>(k)] == i ? k + 1 : k;
}

template <class T>
std::size_t GaussSeidel<T>::memory_bytes() const {
  return (inverse_.size() + shift_.size()) * sizeof(T) +
         (lower_.size() + frozen_.size()) * sizeof(LocalIndex);
}

/// From x = 0 nothing arrives from other ranks, nothing from above the diagonal. The neighbour that
/// was computed just before comes last and from a register: on a grid every row has it, and would
/// have to wait for it from the start.
template <class T>
void GaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  const Csr<T>& on = A_.on();
  kernels::Prefetch<T> prefetch(on);
  T previous{};
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    const auto u = static_cast<std::size_t>(i);
    prefetch.upwards(on.end(i));
    const Offset begin = on.begin(i);
    Offset end = begin + lower_[u];
    T to_previous{};
    if (end > begin && on.cols[static_cast<std::size_t>(end - 1)] == i - 1) {
      to_previous = on.vals[static_cast<std::size_t>(--end)] * inverse_[u];
    }
    const T others = row_product(on.cols.data(), on.vals.data(), begin, end, x.data());
    previous = (b[u] - others) * inverse_[u] - to_previous * previous;
    x[u] = previous;
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
      r[u] = -row_product(on.cols.data(), on.vals.data(), upper(i), on.end(i), x.data());
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
  fetch_ghosts(x);
  sweep_beside_ghosts(direction, b, x);
}

/// Both halves see the same values of other ranks: on the unknowns of a rank this is symmetric
/// Gauss-Seidel, between ranks Jacobi, which is its own adjoint.
template <class T>
void GaussSeidel<T>::symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  fetch_ghosts(x);
  sweep_beside_ghosts(Direction::forward, b, x);
  sweep_beside_ghosts(Direction::backward, b, x);
}

template <class T>
void GaussSeidel<T>::first_symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  first_sweep(b, x);
  sweep_rows<false>(Direction::backward, b, x);
}

template <class T>
void GaussSeidel<T>::fetch_ghosts(std::span<const T> x) const {
  A_.exchange().forward(x, A_.exchange().template ghost_buffer<T>());
}

template <class T>
void GaussSeidel<T>::sweep_beside_ghosts(Direction direction, std::span<const T> b,
                                         std::span<T> x) const {
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
  T previous{};
  for (LocalIndex count = 0; count < n; ++count, i += step) {
    const auto u = static_cast<std::size_t>(i);
    Offset neighbour = 0;
    if (direction == Direction::forward) {
      prefetch.upwards(on.end(i));
      neighbour = on.begin(i) + lower_[u] - 1;
    } else {
      prefetch.downwards(on.begin(i));
      neighbour = upper(i);
    }
    // As in first_sweep(): what was computed just before comes last.
    const bool there = neighbour >= on.begin(i) && neighbour < on.end(i) &&
                       on.cols[static_cast<std::size_t>(neighbour)] == i - step;
    T to_previous{};
    T r = b[u];
    if (there) {
      to_previous = on.vals[static_cast<std::size_t>(neighbour)] * inverse_[u];
      r -= row_product_without(on, i, neighbour, x.data());
    } else {
      r -= row_product(on.cols.data(), on.vals.data(), on.begin(i), on.end(i), x.data());
    }
    if constexpr (has_ghosts) {
      r -= row_product(off.cols.data(), off.vals.data(), off.begin(i), off.end(i), ghosts);
    }
    previous = (x[u] + r * inverse_[u]) - to_previous * previous;
    x[u] = previous;
  }
}

template class GaussSeidel<float>;
template class GaussSeidel<double>;

}  // namespace nodewise::amg::relax
