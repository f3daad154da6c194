// The diagonal blocks, and their inverses, of relaxations that solve for all unknowns of a point at
// once.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/matrix/block_matrix.hpp"

namespace nodewise::amg::relax {

/// Local. Returns weight times the inverses of A.blocks()' diagonal blocks, row-major and in the
/// order of the points. The diagonal of each row first gets the entry of `added` for it, with the
/// diagonal's sign; empty: nothing. A singular block is inverted on its range, so that vectors of
/// its null space are left alone. Singularity is that of the block scaled to a unit diagonal, since
/// displacements and rotations may be of very different sizes; rows with a zero there are scaled to
/// a largest entry of about one. Throws unsuitable_matrix, naming the row, where a diagonal block
/// has an entry that is not finite.
template <class T>
Array<T> inverse_diagonal_blocks(const matrix::DistMatrix<T>& A, double weight,
                                 std::span<const double> added);

/// Local. The same for sweeps that go through the rows of a point one after another: the inverses
/// of a block's triangles in place of its own, with the diagonal over `weight`. The lower one's is
/// in the lower triangle and the upper one's in the upper; they have the diagonal in common. Rows
/// with a zero on the diagonal have zeros there, and so are left alone.
template <class T>
Array<T> inverse_diagonal_triangles(const matrix::DistMatrix<T>& A, double weight,
                                    std::span<const double> added);

/// Local. Whether the diagonal block of a point of `block` rows is invertible, to within round-off
/// of T; not where the matrix has not all of its rows.
template <class T>
bool has_invertible_block(const kernels::Csr<T>& A, LocalIndex point, int block);

/// Local. Returns where the blocks from the diagonal on begin in each block row of a square matrix.
template <class T>
std::vector<Offset> diagonal_places(const kernels::Bsr<T>& A);

/// Local. Whether the block row has its diagonal block, given its place.
template <class T>
bool has_diagonal(const kernels::Bsr<T>& A, LocalIndex i, Offset place) {
  return place < A.end(i) && A.cols[static_cast<std::size_t>(place)] == i;
}

/// Local. The diagonal block of a block row, row-major, given its place; zeros where there is none.
template <int B, class T>
std::array<double, B * B> diagonal_block(const kernels::Bsr<T>& A, LocalIndex i, Offset place) {
  std::array<double, B * B> block{};
  if (!has_diagonal(A, i, place)) return block;
  const T* const values = A.vals.data() + place * (B * B);
  for (std::size_t k = 0; k < B * B; ++k) block[k] = static_cast<double>(values[k]);
  return block;
}

}  // namespace nodewise::amg::relax
