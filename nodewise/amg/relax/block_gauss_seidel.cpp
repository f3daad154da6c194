#include "nodewise/amg/relax/block_gauss_seidel.hpp"

#include <algorithm>

#include "nodewise/amg/relax/block_inverse.hpp"
#include "nodewise/amg/relax/block_l1.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Bsr;

/// b less the blocks begin .. end times x, all of one point.
template <int B, class T>
std::array<T, B> less_product(const T* b, const Bsr<T>& A, Offset begin, Offset end, const T* x) {
  std::array<T, B> sum{};
  kernels::add_blocks_product<B>(A, begin, end, x, sum);
  for (std::size_t k = 0; k < B; ++k) sum[k] = b[k] - sum[k];
  return sum;
}

/// The forward sweep from x = 0, and where r is not null what the blocks up to the diagonal leave
/// of b.
template <int B, class T>
void sweep_from_zero(const Bsr<T>& on, const T* inverse, std::span<const Offset> diagonal,
                     const T* b, T* x, T* r) {
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    const auto at = static_cast<std::size_t>(i) * B;
    const Offset place = diagonal[static_cast<std::size_t>(i)];
    const auto left = less_product<B>(b + at, on, on.begin(i), place, x);
    std::array<T, B> solved{};
    kernels::add_block_product<B>(inverse + at * B, left.data(), solved);
    std::copy(solved.begin(), solved.end(), x + at);
    if (r == nullptr) continue;
    const Offset behind = has_diagonal(on, i, place) ? place + 1 : place;
    const auto residual = less_product<B>(left.data(), on, place, behind, x);
    std::copy(residual.begin(), residual.end(), r + at);
  }
}

/// From x = 0, if there are no ghosts, those of other ranks are zero too.
template <int B, class T>
void sweep_points(Direction direction, const matrix::BlockMatrix<T>& A, const T* ghosts,
                  const T* inverse, const T* b, T* x) {
  const Bsr<T>& on = A.on();
  const Bsr<T>& off = A.off();
  const LocalIndex n = on.n_rows;
  for (LocalIndex count = 0; count < n; ++count) {
    const LocalIndex i = direction == Direction::forward ? count : n - 1 - count;
    const auto at = static_cast<std::size_t>(i) * B;
    auto r = less_product<B>(b + at, on, on.begin(i), on.end(i), x);
    if (ghosts != nullptr && off.begin(i) < off.end(i)) {
      r = less_product<B>(r.data(), off, off.begin(i), off.end(i), ghosts);
    }
    std::array<T, B> step{};
    kernels::add_block_product<B>(inverse + at * B, r.data(), step);
    for (std::size_t k = 0; k < B; ++k) x[at + k] += step[k];
  }
}

/// r -= the blocks behind the diagonal times x.
template <int B, class T>
void subtract_upper(const Bsr<T>& on, std::span<const Offset> diagonal, const T* x, T* r) {
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    const auto at = static_cast<std::size_t>(i) * B;
    const Offset place = diagonal[static_cast<std::size_t>(i)];
    const Offset behind = has_diagonal(on, i, place) ? place + 1 : place;
    const auto left = less_product<B>(r + at, on, behind, on.end(i), x);
    std::copy(left.begin(), left.end(), r + at);
  }
}

}  // namespace

template <class T>
BlockGaussSeidel<T>::BlockGaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1)
    : Relaxation<T>(A),
      inverse_(inverse_diagonal_blocks<T>(A, weight,
                                          l1 ? truncated_half_sums(A) : std::vector<double>())),
      diagonal_(diagonal_places(A.blocks()->on())) {}

template <class T>
std::size_t BlockGaussSeidel<T>::memory_bytes() const {
  return inverse_.size() * sizeof(T) + diagonal_.size() * sizeof(Offset);
}

template <class T>
void BlockGaussSeidel<T>::first_sweep(std::span<const T> b, std::span<T> x) const {
  const Bsr<T>& on = A_.blocks()->on();
  kernels::with_block_size(on.block, [&](auto block) {
    constexpr int B = decltype(block)::value;
    sweep_from_zero<B, T>(on, inverse_.data(), diagonal_, b.data(), x.data(), nullptr);
  });
}

/// After a sweep from zero b - (D + L) x is at hand, row by row, so that only the upper half of the
/// matrix is left to be read.
template <class T>
void BlockGaussSeidel<T>::first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                                    std::span<T> r) const {
  const matrix::BlockMatrix<T>& A = *A_.blocks();
  kernels::with_block_size(A.block(), [&](auto block) {
    constexpr int B = decltype(block)::value;
    sweep_from_zero<B, T>(A.on(), inverse_.data(), diagonal_, b.data(), x.data(), r.data());
    const mpi::Scope scope(A_.comm(), "residual");
    matrix::add_ghost_blocks_product(T{-1}, A, std::span<const T>(x), r, 1, [&] {
      subtract_upper<B, T>(A.on(), diagonal_, x.data(), r.data());
    });
  });
}

template <class T>
std::span<const T> BlockGaussSeidel<T>::fetch_ghosts(std::span<const T> X, int width) const {
  comm::Exchange& exchange = A_.blocks()->exchange();
  const int values = A_.blocks()->block() * width;
  const std::span<T> ghosts = exchange.template ghost_buffer<T>(values);
  exchange.forward(X, ghosts, values);
  return ghosts;
}

template <class T>
void BlockGaussSeidel<T>::sweep_beside(std::span<const T> ghosts, Direction direction,
                                       std::span<const T> b, std::span<T> x) const {
  const matrix::BlockMatrix<T>& A = *A_.blocks();
  kernels::with_block_size(A.block(), [&](auto block) {
    constexpr int B = decltype(block)::value;
    sweep_points<B, T>(direction, A, ghosts.data(), inverse_.data(), b.data(), x.data());
  });
}

template <class T>
void BlockGaussSeidel<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  sweep_beside(fetch_ghosts(x, 1), direction, b, x);
}

/// Both halves see the same values of other ranks: on a rank this is symmetric Gauss-Seidel,
/// between ranks Jacobi, which is its own adjoint.
template <class T>
void BlockGaussSeidel<T>::symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  const std::span<const T> ghosts = fetch_ghosts(x, 1);
  sweep_beside(ghosts, Direction::forward, b, x);
  sweep_beside(ghosts, Direction::backward, b, x);
}

template <class T>
void BlockGaussSeidel<T>::first_symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  first_sweep(b, x);
  sweep_beside({}, Direction::backward, b, x);
}

namespace {

/// The points of a sweep in one direction, for `width` vectors; R is scratch of their size.
template <class T>
void sweep_points_together(Direction direction, const matrix::BlockMatrix<T>& A,
                           std::span<const T> ghosts, const T* inverse, std::span<const T> B,
                           std::span<T> X, std::span<T> R, int width) {
  const auto w = static_cast<std::size_t>(width);
  const auto b = static_cast<std::size_t>(A.block());
  const LocalIndex n = A.on().n_rows;
  for (LocalIndex count = 0; count < n; ++count) {
    const LocalIndex i = direction == Direction::forward ? count : n - 1 - count;
    const std::size_t at = static_cast<std::size_t>(i) * b;
    std::copy_n(B.data() + at * w, b * w, R.data() + at * w);
    const std::span<const LocalIndex> row(&i, 1);
    kernels::bsr_add_rows(T{-1}, A.on(), row, std::span<const T>(X), R, width);
    if (!ghosts.empty()) kernels::bsr_add_rows(T{-1}, A.off(), row, ghosts, R, width);
    for (std::size_t r = 0; r < b; ++r) {
      for (std::size_t k = 0; k < b; ++k) {
        const T m = inverse[(at + r) * b + k];
        for (std::size_t c = 0; c < w; ++c) X[(at + r) * w + c] += m * R[(at + k) * w + c];
      }
    }
  }
}

}  // namespace

template <class T>
std::size_t BlockGaussSeidel<T>::room_for(std::size_t width) const {
  return this->n_local() * width;
}

template <class T>
void BlockGaussSeidel<T>::sweep_together(Sweep sweep, std::span<const T> B, std::span<T> X,
                                         int width) const {
  std::span<const T> ghosts;
  if (is_from_zero(sweep)) {
    std::fill(X.begin(), X.end(), T{});
  } else {
    ghosts = fetch_ghosts(X, width);
  }
  const std::span<T> R = this->room(B.size());
  const auto run = [&](Direction direction) {
    sweep_points_together<T>(direction, *A_.blocks(), ghosts, inverse_.data(), B, X, R, width);
  };
  if (has_forward(sweep)) run(Direction::forward);
  if (has_backward(sweep)) run(Direction::backward);
}

template class BlockGaussSeidel<float>;
template class BlockGaussSeidel<double>;

}  // namespace nodewise::amg::relax
