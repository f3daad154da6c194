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
    if (off.begin(i) < off.end(i)) {
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
void BlockGaussSeidel<T>::sweep(Direction direction, std::span<const T> b, std::span<T> x) const {
  const matrix::BlockMatrix<T>& A = *A_.blocks();
  const std::span<T> ghosts = A.exchange().template ghost_buffer<T>(A.block());
  A.exchange().forward(std::span<const T>(x), ghosts, A.block());
  kernels::with_block_size(A.block(), [&](auto block) {
    constexpr int B = decltype(block)::value;
    sweep_points<B, T>(direction, A, ghosts.data(), inverse_.data(), b.data(), x.data());
  });
}

template class BlockGaussSeidel<float>;
template class BlockGaussSeidel<double>;

}  // namespace nodewise::amg::relax
