#include "nodewise/amg/relax/gauss_seidel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nodewise/amg/relax/row_norm.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/spmm.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/matrix/ghost_product.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Csr;
using kernels::row_product;

/// The product of entries from begin to end with x but for the one at `skip`.
template <class T>
T row_product_without(const Csr<T>& A, Offset begin, Offset end, Offset skip, const T* x) {
  return row_product(A.cols.data(), A.vals.data(), begin, skip, x) +
         row_product(A.cols.data(), A.vals.data(), skip + 1, end, x);
}

}  // namespace

template <class T>
GaussSeidel<T>::GaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1)
    : HybridSweeps<T>(A, {A.on().row_ptr, A.on().cols, A.exchange(), 1}),
      inverse_(static_cast<std::size_t>(A.n_local())),
      lower_(static_cast<std::size_t>(A.n_local())) {
  const T w = static_cast<T>(weight);
  std::vector<PreparedRows> prepared(static_cast<std::size_t>(n_parts()));
  parallel::run(n_parts(), [&](int part) {
    prepared[static_cast<std::size_t>(part)] = prepare_part(part, w, l1);
  });
  bool is_shifted = w != T{1};
  for (const PreparedRows& rows : prepared) {
    frozen_.insert(frozen_.end(), rows.frozen.begin(), rows.frozen.end());
    is_shifted = is_shifted || rows.is_shifted;
  }
  if (!is_shifted) return;
  shift_.resize(inverse_.size());
  parallel::run(n_parts(), [&](int part) {
    for (LocalIndex i = first_row(part); i < end_row(part); ++i) {
      const auto u = static_cast<std::size_t>(i);
      const T a = diagonal(i);
      const bool is_row_shifted = a != T{} && (w != T{1} || l1_term(l1, i, a) != T{});
      shift_[u] = is_row_shifted ? T{1} / inverse_[u] - a : T{};
    }
  });
}

template <class T>
auto GaussSeidel<T>::prepare_part(int part, T weight, bool l1) -> PreparedRows {
  PreparedRows prepared;
  LocalIndex place = 0;
  for (LocalIndex i = first_row(part); i < end_row(part); ++i) {
    const auto u = static_cast<std::size_t>(i);
    place = kernels::diagonal_place(A_.on(), i, place);
    lower_[u] = place;
    const T a = diagonal(i);
    if (a == T{}) {
      prepared.frozen.push_back(i);
      inverse_[u] = T{};
      continue;
    }
    const T term = l1_term(l1, i, a);
    inverse_[u] = weight / (a + term);
    prepared.is_shifted = prepared.is_shifted || term != T{};
  }
  return prepared;
}

/// The entry of A, 0 where there is none.
template <class T>
T GaussSeidel<T>::diagonal(LocalIndex i) const {
  const Csr<T>& on = A_.on();
  const auto k = static_cast<std::size_t>(on.begin(i) + lower_[static_cast<std::size_t>(i)]);
  return std::cmp_less(k, on.end(i)) && on.cols[k] == i ? on.vals[k] : T{};
}

/// What the l1 form adds to the diagonal of row i: nothing where the coupling to others' rows is
/// small enough to converge as it is (remark 6.2).
template <class T>
T GaussSeidel<T>::l1_term(bool l1, LocalIndex i, T diagonal) const {
  if (!l1) return T{};
  const T half = outside_sum(i) / 2;
  return half <= std::abs(diagonal) / 3 ? T{} : std::copysign(half, diagonal);
}

/// The sum of the moduli of what couples row i to rows of other threads and ranks.
template <class T>
T GaussSeidel<T>::outside_sum(LocalIndex i) const {
  T sum = absolute_sum(A_.off(), i);
  if (n_parts() == 1) return sum;
  const T* const vals = A_.on().vals.data();
  for (Offset k = A_.on().begin(i); k < first(i); ++k) sum += std::abs(vals[k]);
  for (Offset k = last(i); k < A_.on().end(i); ++k) sum += std::abs(vals[k]);
  return sum;
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
  return HybridSweeps<T>::memory_bytes() + (inverse_.size() + shift_.size()) * sizeof(T) +
         (lower_.size() + frozen_.size()) * sizeof(LocalIndex);
}

template <class T>
void GaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  parallel::run(n_parts(), [&](int part) { first_sweep_of(part, b, x); });
}

/// From x = 0 nothing arrives from other ranks or threads, nothing from above the diagonal. The
/// neighbour that was computed just before comes last and from a register: on a grid every row has
/// it, and would have to wait for it from the start.
template <class T>
void GaussSeidel<T>::first_sweep_of(int part, std::span<const T> b, std::span<T> x) const {
  const Csr<T>& on = A_.on();
  kernels::Prefetch<T> prefetch(on, first_row(part), end_row(part));
  T previous{};
  for (LocalIndex i = first_row(part); i < end_row(part); ++i) {
    const auto u = static_cast<std::size_t>(i);
    prefetch.upwards(on.end(i));
    const Offset begin = first(i);
    Offset end = on.begin(i) + lower_[u];
    T to_previous{};
    if (end > begin && on.cols[static_cast<std::size_t>(end - 1)] == i - 1) {
      to_previous = on.vals[static_cast<std::size_t>(--end)] * inverse_[u];
    }
    const T others = row_product(on.cols.data(), on.vals.data(), begin, end, x.data());
    previous = (b[u] - others) * inverse_[u] - to_previous * previous;
    x[u] = previous;
  }
}

/// After first_sweep (D' + L) x = b, so that b - A x = (D' - D) x - U x - (other threads and
/// ranks): half of the matrix need not be read. Not so in the rows that were left alone.
template <class T>
void GaussSeidel<T>::first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                               std::span<T> r) const {
  first_sweep(b, x);
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::add_ghost_product(T{-1}, A_, std::span<const T>(x), r, [&] {
    const Csr<T>& on = A_.on();
    const LocalIndex* const cols = on.cols.data();
    const T* const vals = on.vals.data();
    parallel::run(n_parts(), [&](int part) {
      kernels::Prefetch<T> prefetch(on, first_row(part), end_row(part));
      for (LocalIndex i = first_row(part); i < end_row(part); ++i) {
        const auto u = static_cast<std::size_t>(i);
        prefetch.upwards(on.end(i));
        r[u] = -row_product(cols, vals, upper(i), on.end(i), x.data());
        if (n_parts() > 1) r[u] -= row_product(cols, vals, on.begin(i), first(i), x.data());
        if (!shift_.empty()) r[u] += shift_[u] * x[u];
      }
    });
    for (const LocalIndex i : frozen_) {
      const auto u = static_cast<std::size_t>(i);
      r[u] = b[u] - row_product(cols, vals, on.begin(i), on.end(i), x.data());
    }
  });
}

template <class T>
void GaussSeidel<T>::sweep_part(int part, Direction direction, const Vectors& vectors) const {
  if (vectors.width > 1) return sweep_rows_together(part, direction, vectors);
  if (!vectors.from_zero && (A_.n_ghosts() > 0 || n_parts() > 1)) {
    sweep_rows<true>(part, direction, vectors);
  } else {
    sweep_rows<false>(part, direction, vectors);
  }
}

/// Row i times what a sweep sees of others.
template <class T>
T GaussSeidel<T>::product_with_others(LocalIndex i, const Vectors& vectors) const {
  const Csr<T>& on = A_.on();
  const Csr<T>& off = A_.off();
  const T* const old = vectors.old.data();
  T sum = row_product(off.cols.data(), off.vals.data(), off.begin(i), off.end(i),
                      vectors.ghosts.data());
  if (n_parts() == 1) return sum;
  sum += row_product(on.cols.data(), on.vals.data(), on.begin(i), first(i), old);
  return sum + row_product(on.cols.data(), on.vals.data(), last(i), on.end(i), old);
}

template <class T>
template <bool has_others>
void GaussSeidel<T>::sweep_rows(int part, Direction direction, const Vectors& vectors) const {
  const Csr<T>& on = A_.on();
  const std::span<const T> b = vectors.B;
  const std::span<T> x = vectors.X;
  const LocalIndex step = direction == Direction::forward ? 1 : -1;
  LocalIndex i = direction == Direction::forward ? first_row(part) : end_row(part) - 1;
  kernels::Prefetch<T> prefetch(on, first_row(part), end_row(part));
  T previous{};
  for (LocalIndex count = first_row(part); count < end_row(part); ++count, i += step) {
    const auto u = static_cast<std::size_t>(i);
    const Offset begin = first(i);
    const Offset end = last(i);
    Offset neighbour = 0;
    if (direction == Direction::forward) {
      prefetch.upwards(on.end(i));
      neighbour = on.begin(i) + lower_[u] - 1;
    } else {
      prefetch.downwards(on.begin(i));
      neighbour = upper(i);
    }
    // As in first_sweep_of(): what was computed just before comes last.
    const bool there = neighbour >= begin && neighbour < end &&
                       on.cols[static_cast<std::size_t>(neighbour)] == i - step;
    T to_previous{};
    T r = b[u];
    if (there) {
      to_previous = on.vals[static_cast<std::size_t>(neighbour)] * inverse_[u];
      r -= row_product_without(on, begin, end, neighbour, x.data());
    } else {
      r -= row_product(on.cols.data(), on.vals.data(), begin, end, x.data());
    }
    if constexpr (has_others) r -= product_with_others(i, vectors);
    previous = (x[u] + r * inverse_[u]) - to_previous * previous;
    x[u] = previous;
  }
}

/// As sweep_rows(), without its pains for the memory: with several vectors a row is long.
template <class T>
void GaussSeidel<T>::sweep_rows_together(int part, Direction direction,
                                         const Vectors& vectors) const {
  const Csr<T>& on = A_.on();
  const Csr<T>& off = A_.off();
  const auto w = static_cast<std::size_t>(vectors.width);
  const LocalIndex begin_row = first_row(part);
  const std::span<T> sums = this->scratch_of(part, vectors);
  for (LocalIndex count = begin_row; count < end_row(part); ++count) {
    const LocalIndex i =
        direction == Direction::forward ? count : begin_row + end_row(part) - 1 - count;
    const auto u = static_cast<std::size_t>(i);
    std::fill(sums.begin(), sums.end(), T{});
    const auto add = [&](const Csr<T>& M, Offset begin, Offset end, const T* X) {
      if (begin < end) kernels::spmm_add_entries(M, begin, end, X, w, sums.data());
    };
    add(on, first(i), last(i), vectors.X.data());
    if (!vectors.from_zero) {
      add(off, off.begin(i), off.end(i), vectors.ghosts.data());
      add(on, on.begin(i), first(i), vectors.old.data());
      add(on, last(i), on.end(i), vectors.old.data());
    }
    for (std::size_t c = 0; c < w; ++c) {
      vectors.X[u * w + c] += inverse_[u] * (vectors.B[u * w + c] - sums[c]);
    }
  }
}

template class GaussSeidel<float>;
template class GaussSeidel<double>;

}  // namespace nodewise::amg::relax
