#include "nodewise/amg/relax/block_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/Dense>

#include "nodewise/base/parallel.hpp"
#include "nodewise/base/row_text.hpp"
#include "nodewise/kernels/equilibrate.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Bsr;

/// One type for blocks of all sizes: the factorizations of one take ten seconds to compile.
using DiagonalBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor,
                                    kernels::max_block, kernels::max_block>;

template <class Block>
using BlockVector =
    Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, Block::MaxRowsAtCompileTime, 1>;

/// What scales rows and columns of a block to a unit diagonal, or where it has a zero there, as in
/// the row of a pressure, to largest entries of about one, so that units do not matter.
template <class Block>
BlockVector<Block> scale_of(const Block& block) {
  const auto n = block.rows();
  BlockVector<Block> scale(n);
  bool has_zero = false;
  for (Eigen::Index k = 0; k < n; ++k) {
    const double size = std::abs(block(k, k));
    has_zero = has_zero || size == 0;
    scale[k] = size > 0 ? 1 / std::sqrt(size) : 1;
  }
  if (!has_zero) return scale;
  const auto factors = kernels::equilibrating_factors(n, [&](std::size_t row, std::size_t column) {
    const auto i = static_cast<Eigen::Index>(row), j = static_cast<Eigen::Index>(column);
    return scale[i] * std::max(std::abs(block(i, j)), std::abs(block(j, i))) * scale[j];
  });
  for (Eigen::Index k = 0; k < n; ++k) scale[k] *= factors.first[static_cast<std::size_t>(k)];
  return scale;
}

/// Of a block of T's that is scaled.
template <class T>
double tolerance_of(int block) {
  return 4 * block * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// The inverse, of a singular block one on its range; symmetric for a symmetric block.
DiagonalBlock inverse(const DiagonalBlock& block, double tolerance) {
  const auto scale = scale_of(block);
  const DiagonalBlock scaled = scale.asDiagonal() * block * scale.asDiagonal();
  Eigen::CompleteOrthogonalDecomposition<DiagonalBlock> factors;
  factors.setThreshold(tolerance);
  factors.compute(scaled);
  return scale.asDiagonal() * DiagonalBlock(factors.pseudoInverse()) * scale.asDiagonal();
}

}  // namespace

template <class T>
std::vector<Offset> diagonal_places(const Bsr<T>& A) {
  std::vector<Offset> places;
  places.reserve(static_cast<std::size_t>(A.n_rows));
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    const LocalIndex* const begin = A.cols.data() + A.begin(i);
    const LocalIndex* const end = A.cols.data() + A.end(i);
    places.push_back(A.begin(i) + (std::lower_bound(begin, end, i) - begin));
  }
  return places;
}

namespace {

/// An array with room for the diagonal block of each point, which invert(block size, point, block,
/// its place in the array) fills.
template <class T, class F>
Array<T> inverted(const matrix::DistMatrix<T>& A, F&& invert) {
  const Bsr<T>& on = A.blocks()->on();
  const std::vector<Offset> places = diagonal_places(on);
  Array<T> inverses(static_cast<std::size_t>(on.n_rows) * on.block_entries());
  kernels::with_block_size(on.block, [&](auto block_size) {
    constexpr int B = decltype(block_size)::value;
    parallel::for_range(places.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        invert(block_size, p, diagonal_block<B>(on, static_cast<LocalIndex>(p), places[p]),
               inverses.data() + p * B * B);
      }
    });
  });
  return inverses;
}

/// The inverses of the triangles of D whose diagonal has the inverses `pivots`.
template <int B, class T>
void invert_triangles(const std::array<double, B * B>& D, const std::array<double, B>& pivots,
                      T* inverses) {
  for (std::size_t c = 0; c < B; ++c) {
    std::array<double, B> column{};
    column[c] = pivots[c];
    const auto eliminate = [&](std::size_t r, std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t k = begin; k < end; ++k) sum += D[r * B + k] * column[k];
      column[r] = -pivots[r] * sum;
    };
    for (std::size_t r = c + 1; r < B; ++r) eliminate(r, c, r);
    for (std::size_t r = c; r-- > 0;) eliminate(r, r + 1, c + 1);
    for (std::size_t r = 0; r < B; ++r) inverses[r * B + c] = static_cast<T>(column[r]);
  }
}

}  // namespace

template <class T>
Array<T> inverse_diagonal_blocks(const matrix::DistMatrix<T>& A, double weight,
                                 std::span<const double> added) {
  return inverted(A, [&](auto block_size, std::size_t p, const auto& values, T* result) {
    constexpr int B = decltype(block_size)::value;
    DiagonalBlock block = Eigen::Map<const DiagonalBlock>(values.data(), B, B);
    if (!block.allFinite()) {
      throw Error(
          ErrorCode::unsuitable_matrix,
          "block relaxation: the diagonal block that begins in " +
              row_text(A.rows().to_global(static_cast<LocalIndex>(p) * B) - A.rows().first()) +
              ", has an entry that is not a finite number");
    }
    for (int r = 0; r < B && !added.empty(); ++r) {
      block(r, r) += std::copysign(added[p * B + static_cast<std::size_t>(r)], block(r, r));
    }
    const DiagonalBlock inverse_of_block = weight * inverse(block, tolerance_of<T>(B));
    std::transform(inverse_of_block.data(), inverse_of_block.data() + B * B, result,
                   [](double value) { return static_cast<T>(value); });
  });
}

template <class T>
Array<T> inverse_diagonal_triangles(const matrix::DistMatrix<T>& A, double weight,
                                    std::span<const double> added) {
  return inverted(A, [&](auto block_size, std::size_t p, const auto& D, T* result) {
    constexpr int B = decltype(block_size)::value;
    std::array<double, B> pivots{};
    for (std::size_t r = 0; r < B; ++r) {
      const double d = D[r * B + r];
      const double more = added.empty() ? 0 : std::copysign(added[p * B + r], d);
      pivots[r] = d != 0 ? weight / (d + more) : 0;
    }
    invert_triangles<B>(D, pivots, result);
  });
}

template <class T>
bool has_invertible_block(const kernels::Csr<T>& A, LocalIndex point, int block) {
  const LocalIndex first = point * block;
  if (first + block > A.n_rows) return false;
  Eigen::MatrixXd values = Eigen::MatrixXd::Zero(block, block);
  for (LocalIndex r = 0; r < block; ++r) {
    for (Offset k = A.begin(first + r); k < A.end(first + r); ++k) {
      const LocalIndex c = A.cols[static_cast<std::size_t>(k)] - first;
      if (c >= 0 && c < block)
        values(r, c) = static_cast<double>(A.vals[static_cast<std::size_t>(k)]);
    }
  }
  const auto scale = scale_of(values);
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factors;
  factors.setThreshold(tolerance_of<T>(block));
  factors.compute(scale.asDiagonal() * values * scale.asDiagonal());
  return factors.isInvertible();
}

#define NODEWISE_INSTANTIATE(T)                                                      \
  template bool has_invertible_block(const kernels::Csr<T>&, LocalIndex, int);       \
  template std::vector<Offset> diagonal_places(const Bsr<T>&);                       \
  template Array<T> inverse_diagonal_blocks(const matrix::DistMatrix<T>&, double,    \
                                            std::span<const double>);                \
  template Array<T> inverse_diagonal_triangles(const matrix::DistMatrix<T>&, double, \
                                               std::span<const double>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::relax
