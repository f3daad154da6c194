#include "nodewise/amg/aggregate/graph.hpp"

#include <cmath>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::aggregate {

namespace {

using comm::Layout;
using kernels::Csr;
using matrix::DistMatrix;

/// The norms of the blocks of one part of a matrix, rows in blocks of k; block_of[j] is the block
/// column of column j.
template <class T>
Csr<T> norms_of_blocks(const Csr<T>& part, LocalIndex k, std::span<const LocalIndex> block_of,
                       LocalIndex n_block_columns) {
  Csr<double> squares(part.n_rows / k, n_block_columns);
  squares.cols.resize(part.cols.size());
  squares.vals.resize(part.vals.size());
  for (LocalIndex i = 0; i < squares.n_rows; ++i) {
    const LocalIndex last = (i + 1) * k - 1;  // row of the block
    squares.row_ptr[static_cast<std::size_t>(i) + 1] = part.end(last);
  }
  parallel::for_range(part.cols.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const auto value = static_cast<double>(part.vals[p]);
      squares.cols[p] = block_of[static_cast<std::size_t>(part.cols[p])];
      squares.vals[p] = value * value;
    }
  });
  kernels::sort_and_combine_rows(squares);
  Csr<T> norms(squares.n_rows, n_block_columns);
  norms.row_ptr = std::move(squares.row_ptr);
  norms.cols = std::move(squares.cols);
  norms.vals.resize(squares.vals.size());
  std::transform(squares.vals.begin(), squares.vals.end(), norms.vals.begin(),
                 [](double square) { return static_cast<T>(std::sqrt(square)); });
  return norms;
}

template <class T>
matrix::SplitRows<T> split_norms(const DistMatrix<T>& A, const Layout& points, LocalIndex k) {
  matrix::SplitRows<T> split;
  std::vector<LocalIndex> block_of(static_cast<std::size_t>(A.n_local()));
  for (std::size_t j = 0; j < block_of.size(); ++j) {
    block_of[j] = static_cast<LocalIndex>(j) / k;
  }
  split.on = norms_of_blocks(A.on(), k, block_of, points.n_local());
  block_of.clear();
  for (const GlobalIndex ghost : A.ghosts()) {  // ascending, so that equal points are neighbours
    const GlobalIndex point = (ghost - A.cols().first()) / k;
    if (split.ghosts.empty() || split.ghosts.back() != point) split.ghosts.push_back(point);
    block_of.push_back(static_cast<LocalIndex>(split.ghosts.size()) - 1);
  }
  split.off = norms_of_blocks(A.off(), k, block_of, static_cast<LocalIndex>(split.ghosts.size()));
  return split;
}

}  // namespace

template <class T>
DistMatrix<T> block_norms(const DistMatrix<T>& A, int unknowns) {
  if (!(A.rows() == A.cols())) {
    throw Error(ErrorCode::dimension_mismatch, "norms of blocks: the matrix is not square");
  }
  const Layout points = points_of(A.rows(), unknowns);
  return {points, points, [&] { return split_norms(A, points, unknowns); }};
}

namespace {

/// Marks the entries of one part for which is_strong(row, column, modulus).
template <class T, class IsStrong>
void mark(const Csr<T>& part, const IsStrong& is_strong, Array<std::uint8_t>& marks) {
  marks.resize(part.cols.size());
  const LocalIndex* const cols = part.cols.data();
  const T* const vals = part.vals.data();
  std::uint8_t* const to = marks.data();
  parallel::for_rows(part.row_ptr, [&](LocalIndex first, LocalIndex last) {
    kernels::RowBlocks<T>(part, first, last).upwards(first, last, [&](LocalIndex b, LocalIndex e) {
      for (LocalIndex i = b; i < e; ++i) {
        const Offset end = part.end(i);
        for (Offset k = part.begin(i); k < end; ++k) {
          to[k] = is_strong(i, cols[k], std::abs(vals[k])) ? 1 : 0;
        }
      }
    });
  });
}

}  // namespace

template <class T>
Strength symmetric_strength(const DistMatrix<T>& G, double threshold) {
  Strength strength;
  if (threshold == 0) {
    return mpi::collectively(G.comm(), [&] {
      mark(
          G.on(), [](LocalIndex i, LocalIndex j, T size) { return i != j && size > 0; },
          strength.on);
      mark(
          G.off(), [](LocalIndex, LocalIndex, T size) { return size > 0; }, strength.off);
      return std::move(strength);
    });
  }
  std::vector<T> root, ghost_root;  // of the diagonal
  mpi::collectively(G.comm(), [&] {
    root = matrix::diagonal(G);
    for (T& d : root) d = std::sqrt(std::abs(d));
    ghost_root.resize(static_cast<std::size_t>(G.n_ghosts()));
    strength.on.reserve(G.on().cols.size());
    strength.off.reserve(G.off().cols.size());
  });
  G.exchange().forward(std::span<const T>(root), std::span<T>(ghost_root));
  // The roots are multiplied first, which gives the same for (i, j) and (j, i).
  const T t = static_cast<T>(threshold);
  const T* const roots = root.data();
  const auto bound = [t, roots](LocalIndex i, T other) { return t * (roots[i] * other); };
  mark(
      G.on(),
      [bound, roots](LocalIndex i, LocalIndex j, T size) {
        return (i != j) & (size > bound(i, roots[j]));
      },
      strength.on);
  mark(
      G.off(),
      [&](LocalIndex i, LocalIndex g, T size) {
        return size > bound(i, ghost_root[static_cast<std::size_t>(g)]);
      },
      strength.off);
  return strength;
}

#define NODEWISE_INSTANTIATE(T)                                  \
  template DistMatrix<T> block_norms(const DistMatrix<T>&, int); \
  template Strength symmetric_strength(const DistMatrix<T>&, double);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::aggregate
