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

/// What the l1 form adds to the modulus of a diagonal: nothing where the coupling to others' rows
/// is small enough to converge as it is (remark 6.2).
template <class T>
T l1_term(T outside, T diagonal) {
  const T half = outside / 2;
  return half <= std::abs(diagonal) / 3 ? T{} : half;
}

/// The product of entries from begin to end with x but for the one at `skip`.
template <class T>
T row_product_without(const Csr<T>& A, Offset begin, Offset end, Offset skip, const T* x) {
  return row_product(A.cols.data(), A.vals.data(), begin, skip, x) +
         row_product(A.cols.data(), A.vals.data(), skip + 1, end, x);
}

}  // namespace

template <class T>
GaussSeidel<T>::GaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1)
    : Relaxation<T>(A),
      inverse_(static_cast<std::size_t>(A.n_local())),
      lower_(static_cast<std::size_t>(A.n_local())) {
  find_blocks();
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
      inverse_[u] = T{};
      continue;
    }
    const T term = l1 ? std::copysign(l1_term(outside_sum(i), diagonal), diagonal) : T{};
    inverse_[u] = w / (diagonal + term);
    if (term == T{} && w == T{1}) continue;
    if (shift_.empty()) shift_.resize(inverse_.size());
    shift_[u] = T{1} / inverse_[u] - diagonal;
  }
}

/// A block for each thread that the rows are worth.
template <class T>
void GaussSeidel<T>::find_blocks() {
  const Csr<T>& on = A_.on();
  const int parts = parallel::parts_of(on.cols.size() + on.row_ptr.size());
  for (int part = 0; part <= parts; ++part) {
    blocks_.push_back(parallel::row_part(on.row_ptr, parts, part));
  }
  if (parts == 1) return;
  within_.resize(static_cast<std::size_t>(on.n_rows));
  old_.resize(within_.size());
  parallel::run(parts, [&](int part) {
    const LocalIndex first_row = blocks_[static_cast<std::size_t>(part)];
    const LocalIndex end_row = blocks_[static_cast<std::size_t>(part) + 1];
    for (LocalIndex i = first_row; i < end_row; ++i) {
      within_[static_cast<std::size_t>(i)] = within_block(i, first_row, end_row);
    }
  });
}

template <class T>
auto GaussSeidel<T>::within_block(LocalIndex i, LocalIndex first_row, LocalIndex end_row) const
    -> Within {
  const LocalIndex* const cols = A_.on().cols.data() + A_.on().begin(i);
  const auto n = static_cast<LocalIndex>(A_.on().end(i) - A_.on().begin(i));
  Within within{0, n};
  while (within.begin < n && cols[within.begin] < first_row) ++within.begin;
  while (within.end > within.begin && cols[within.end - 1] >= end_row) --within.end;
  return within;
}

/// The sum of the moduli of what couples row i to rows of other threads and ranks.
template <class T>
T GaussSeidel<T>::outside_sum(LocalIndex i) const {
  T sum = absolute_sum(A_.off(), i);
  if (within_.empty()) return sum;
  const T* const vals = A_.on().vals.data();
  for (Offset k = A_.on().begin(i); k < first(i); ++k) sum += std::abs(vals[k]);
  for (Offset k = last(i); k < A_.on().end(i); ++k) sum += std::abs(vals[k]);
  return sum;
}

/// Where the entries of row i at rows of its own block begin.
template <class T>
Offset GaussSeidel<T>::first(LocalIndex i) const {
  return A_.on().begin(i) + (within_.empty() ? 0 : within_[static_cast<std::size_t>(i)].begin);
}

/// Where they end.
template <class T>
Offset GaussSeidel<T>::last(LocalIndex i) const {
  return within_.empty() ? A_.on().end(i)
                         : A_.on().begin(i) + within_[static_cast<std::size_t>(i)].end;
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
  return (inverse_.size() + shift_.size() + old_.size()) * sizeof(T) +
         (lower_.size() + frozen_.size()) * sizeof(LocalIndex) + within_.size() * sizeof(Within);
}

template <class T>
void GaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  parallel::run(n_blocks(), [&](int block) { first_sweep_of(block, b, x); });
}

/// From x = 0 nothing arrives from other ranks or threads, nothing from above the diagonal. The
/// neighbour that was computed just before comes last and from a register: on a grid every row has
/// it, and would have to wait for it from the start.
template <class T>
void GaussSeidel<T>::first_sweep_of(int block, std::span<const T> b, std::span<T> x) const {
  const Csr<T>& on = A_.on();
  const LocalIndex first_row = blocks_[static_cast<std::size_t>(block)];
  const LocalIndex end_row = blocks_[static_cast<std::size_t>(block) + 1];
  kernels::Prefetch<T> prefetch(on, first_row, end_row);
  T previous{};
  for (LocalIndex i = first_row; i < end_row; ++i) {
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
    parallel::run(n_blocks(), [&](int block) {
      const LocalIndex first_row = blocks_[static_cast<std::size_t>(block)];
      const LocalIndex end_row = blocks_[static_cast<std::size_t>(block) + 1];
      kernels::Prefetch<T> prefetch(on, first_row, end_row);
      for (LocalIndex i = first_row; i < end_row; ++i) {
        const auto u = static_cast<std::size_t>(i);
        prefetch.upwards(on.end(i));
        r[u] = -row_product(cols, vals, upper(i), on.end(i), x.data());
        if (!within_.empty()) r[u] -= row_product(cols, vals, on.begin(i), first(i), x.data());
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
void GaussSeidel<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  keep_others(x);
  sweep_beside_others(direction, b, x);
}

/// Both halves see the same values of other threads and ranks: within a block this is symmetric
/// Gauss-Seidel, between blocks Jacobi, which is its own adjoint.
template <class T>
void GaussSeidel<T>::symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  keep_others(x);
  sweep_beside_others(Direction::forward, b, x);
  sweep_beside_others(Direction::backward, b, x);
}

template <class T>
void GaussSeidel<T>::first_symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  first_sweep(b, x);
  sweep_all<false>(Direction::backward, b, x);
}

/// Collective. Brings what a sweep is to see of other ranks, and keeps what it is to see of other
/// threads.
template <class T>
void GaussSeidel<T>::keep_others(std::span<const T> x) const {
  A_.exchange().forward(x, A_.exchange().template ghost_buffer<T>());
  if (old_.empty()) return;
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    std::copy(x.begin() + static_cast<Offset>(begin), x.begin() + static_cast<Offset>(end),
              old_.begin() + static_cast<Offset>(begin));
  });
}

template <class T>
void GaussSeidel<T>::sweep_beside_others(Direction direction, std::span<const T> b,
                                         std::span<T> x) const {
  if (A_.n_ghosts() > 0 || n_blocks() > 1) {
    sweep_all<true>(direction, b, x);
  } else {
    sweep_all<false>(direction, b, x);
  }
}

template <class T>
template <bool has_others>
void GaussSeidel<T>::sweep_all(Direction direction, std::span<const T> b, std::span<T> x) const {
  parallel::run(n_blocks(), [&](int block) { sweep_block<has_others>(block, direction, b, x); });
}

/// Row i times what keep_others() has kept.
template <class T>
T GaussSeidel<T>::product_with_others(LocalIndex i, const T* ghosts) const {
  const Csr<T>& on = A_.on();
  const Csr<T>& off = A_.off();
  T sum = row_product(off.cols.data(), off.vals.data(), off.begin(i), off.end(i), ghosts);
  if (within_.empty()) return sum;
  sum += row_product(on.cols.data(), on.vals.data(), on.begin(i), first(i), old_.data());
  return sum + row_product(on.cols.data(), on.vals.data(), last(i), on.end(i), old_.data());
}

template <class T>
template <bool has_others>
void GaussSeidel<T>::sweep_block(int block, Direction direction, std::span<const T> b,
                                 std::span<T> x) const {
  const Csr<T>& on = A_.on();
  const T* ghosts = A_.exchange().template ghost_buffer<T>().data();
  const LocalIndex first_row = blocks_[static_cast<std::size_t>(block)];
  const LocalIndex end_row = blocks_[static_cast<std::size_t>(block) + 1];
  const LocalIndex step = direction == Direction::forward ? 1 : -1;
  LocalIndex i = direction == Direction::forward ? first_row : end_row - 1;
  kernels::Prefetch<T> prefetch(on, first_row, end_row);
  T previous{};
  for (LocalIndex count = first_row; count < end_row; ++count, i += step) {
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
    if constexpr (has_others) r -= product_with_others(i, ghosts);
    previous = (x[u] + r * inverse_[u]) - to_previous * previous;
    x[u] = previous;
  }
}

namespace {

/// Numbers kept apart for the sums of one thread, so that no two of them write to one cache line.
std::size_t room_for_sums(std::size_t width) {
  constexpr std::size_t line = 16;
  return (width + 2 * line - 1) / line * line;
}

}  // namespace

template <class T>
std::size_t GaussSeidel<T>::room_for(std::size_t width) const {
  const std::size_t old = n_blocks() > 1 ? this->n_local() * width : 0;
  return old + static_cast<std::size_t>(n_blocks()) * room_for_sums(width);
}

template <class T>
void GaussSeidel<T>::sweep_together(Sweep sweep, std::span<const T> B, std::span<T> X,
                                    int width) const {
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> all = this->room(room_for(w));
  const std::span<T> old = n_blocks() > 1 ? all.first(X.size()) : std::span<T>();
  std::span<T> ghosts;
  if (is_from_zero(sweep)) {
    std::fill(X.begin(), X.end(), T{});
  } else {
    ghosts = A_.exchange().template ghost_buffer<T>(width);
    A_.exchange().forward(std::span<const T>(X), ghosts, width);
    std::copy_n(X.begin(), old.size(), old.begin());
  }
  const Together vectors{B, X, ghosts, old, all.subspan(old.size()), w, is_from_zero(sweep)};
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const bool forward = direction == Direction::forward;
    if (forward ? !has_forward(sweep) : !has_backward(sweep)) continue;
    parallel::run(n_blocks(), [&](int block) { sweep_rows_together(block, direction, vectors); });
  }
}

/// As sweep_block(), without its pains for the memory: with several vectors a row is long.
template <class T>
void GaussSeidel<T>::sweep_rows_together(int block, Direction direction,
                                         const Together& vectors) const {
  const Csr<T>& on = A_.on();
  const Csr<T>& off = A_.off();
  const std::size_t w = vectors.width;
  const LocalIndex first_row = blocks_[static_cast<std::size_t>(block)];
  const LocalIndex end_row = blocks_[static_cast<std::size_t>(block) + 1];
  const std::span<T> sums =
      vectors.sums.subspan(static_cast<std::size_t>(block) * room_for_sums(w), w);
  for (LocalIndex count = first_row; count < end_row; ++count) {
    const LocalIndex i = direction == Direction::forward ? count : first_row + end_row - 1 - count;
    const auto u = static_cast<std::size_t>(i);
    std::fill(sums.begin(), sums.end(), T{});
    const auto add = [&](const Csr<T>& part, Offset begin, Offset end, const T* X) {
      if (begin < end) kernels::spmm_add_entries(part, begin, end, X, w, sums.data());
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
