#include "nodewise/amg/aggregate/graph.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/base/scale.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/point_sums.hpp"
#include "nodewise/kernels/product_rows.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::amg::aggregate {

namespace {

using comm::Layout;
using kernels::Csr;
using matrix::DistMatrix;

/// A power of two in which the values can be squared, whatever their units.
template <class T>
double unit_of(const Array<T>& values) {
  return scale_of(solve::max_abs<T>(values));
}

/// The norms of the blocks of one part of a matrix, rows in blocks of k; block_of[j] is the block
/// column of column j.
template <class T>
Csr<T> norms_of_blocks(const Csr<T>& part, LocalIndex k, std::span<const LocalIndex> block_of,
                       LocalIndex n_block_columns) {
  const std::vector<Offset> ptr = kernels::point_ptr(part, k);
  const double unit = unit_of(part.vals);
  const auto make = [&](LocalIndex begin, LocalIndex end) {
    kernels::RowSum<double> squares(n_block_columns);
    Csr<T> norms(end - begin, n_block_columns);
    Offset* const row_ptr = norms.row_ptr.data();
    Array<LocalIndex> cols;
    const auto entries = static_cast<std::size_t>(ptr[static_cast<std::size_t>(end)] -
                                                  ptr[static_cast<std::size_t>(begin)]);
    const auto size = static_cast<std::size_t>(k) * static_cast<std::size_t>(k);
    cols.reserve(entries / size * 3 / 2);
    norms.vals.reserve(entries / size * 3 / 2);
    for (LocalIndex i = begin; i < end; ++i) {
      auto row = squares.open();
      for (Offset p = part.begin(i * k); p < part.end(i * k + k - 1); ++p) {
        const LocalIndex column = part.cols[static_cast<std::size_t>(p)];
        const double value = unit * static_cast<double>(part.vals[static_cast<std::size_t>(p)]);
        row.add(value, &block_of[static_cast<std::size_t>(column)], &value, 1, 0);
      }
      squares.close(row);
      cols.insert(cols.end(), squares.cols(), squares.cols() + squares.length());
      std::transform(squares.vals(), squares.vals() + squares.length(),
                     std::back_inserter(norms.vals),
                     [=](double square) { return static_cast<T>(std::sqrt(square) / unit); });
      row_ptr[i - begin + 1] = std::ssize(cols);
    }
    norms.cols = std::move(cols);
    return norms;
  };
  Csr<T> norms = kernels::rows_in_parts<T>(std::span<const Offset>(ptr), make);
  kernels::sort_and_combine_rows(norms);
  return norms;
}

/// The same from the blocks themselves.
template <class T>
Csr<T> norms_of_blocks(const kernels::Bsr<T>& part) {
  Csr<T> norms;
  norms.n_rows = part.n_rows;
  norms.n_cols = part.n_cols;
  norms.row_ptr = part.row_ptr;
  norms.cols = part.cols;
  norms.vals.resize(part.cols.size());
  const std::size_t size = part.block_entries();
  const double unit = unit_of(part.vals);
  parallel::for_range(norms.vals.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      double sum = 0;
      for (std::size_t p = b * size; p < (b + 1) * size; ++p) {
        const double value = unit * static_cast<double>(part.vals[p]);
        sum += value * value;
      }
      norms.vals[b] = static_cast<T>(std::sqrt(sum) / unit);
    }
  });
  return norms;
}

template <class T>
matrix::SplitRows<T> split_norms(const DistMatrix<T>& A, const Layout& points, LocalIndex k) {
  matrix::SplitRows<T> split;
  if (A.blocks() != nullptr && A.blocks()->block() == k) {
    split.on = norms_of_blocks(A.blocks()->on());
    split.off = norms_of_blocks(A.blocks()->off());
    split.ghosts.assign(A.blocks()->ghosts().begin(), A.blocks()->ghosts().end());
    return split;
  }
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
  Array<T> root, ghost_root;  // of the diagonal
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

namespace {

/// What an entry has to pass to be strong by a row: one that is negative, as -0 is, from above.
template <class T>
bool passes(T value, T bound) {
  return std::signbit(bound) ? value < bound : value > bound;
}

/// Local. `threshold` times the largest measure of each row, 0 at least, with the sign of the
/// entries that it holds for.
template <class T>
Array<T> bounds_of_rows(const DistMatrix<T>& G, double threshold, StrengthMeasure measure) {
  Array<T> bounds = matrix::diagonal(G);
  T* const to = bounds.data();
  parallel::for_rows(G.on().row_ptr, [&](LocalIndex first, LocalIndex last) {
    for (LocalIndex i = first; i < last; ++i) {
      const T sign = measure == StrengthMeasure::absolute || to[i] < 0 ? T{1} : T{-1};
      const auto size = [&](T value) {
        return measure == StrengthMeasure::absolute ? std::abs(value) : sign * value;
      };
      T largest{};
      for (Offset k = G.on().begin(i); k < G.on().end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        if (G.on().cols[p] != i) largest = std::max(largest, size(G.on().vals[p]));
      }
      for (Offset k = G.off().begin(i); k < G.off().end(i); ++k) {
        largest = std::max(largest, size(G.off().vals[static_cast<std::size_t>(k)]));
      }
      to[i] = std::copysign(static_cast<T>(threshold) * largest, sign);
    }
  });
  return bounds;
}

/// Marks the entries of one part that pass a row's bound or a column's.
template <class T>
void mark_either(const Csr<T>& part, std::span<const T> of_rows, std::span<const T> of_columns,
                 bool is_on, StrengthMeasure measure, Array<std::uint8_t>& marks) {
  marks.resize(part.cols.size());
  std::uint8_t* const to = marks.data();
  parallel::for_rows(part.row_ptr, [&](LocalIndex first, LocalIndex last) {
    for (LocalIndex i = first; i < last; ++i) {
      const T of_row = of_rows[static_cast<std::size_t>(i)];
      for (Offset k = part.begin(i); k < part.end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const T value =
            measure == StrengthMeasure::absolute ? std::abs(part.vals[p]) : part.vals[p];
        const LocalIndex j = part.cols[p];
        const bool is_diagonal = is_on && i == j;
        const bool strong =
            passes(value, of_row) || passes(value, of_columns[static_cast<std::size_t>(j)]);
        to[k] = !is_diagonal && strong ? 1 : 0;
      }
    }
  });
}

}  // namespace

template <class T>
Strength either_strength(const DistMatrix<T>& G, double threshold, StrengthMeasure measure) {
  Array<T> bounds, ghost_bounds;
  Strength strength;
  mpi::collectively(G.comm(), [&] {
    bounds = bounds_of_rows(G, threshold, measure);
    ghost_bounds.resize(static_cast<std::size_t>(G.n_ghosts()));
    strength.on.reserve(G.on().cols.size());
    strength.off.reserve(G.off().cols.size());
  });
  G.exchange().forward(std::span<const T>(bounds), std::span<T>(ghost_bounds));
  mark_either<T>(G.on(), bounds, bounds, true, measure, strength.on);
  mark_either<T>(G.off(), bounds, ghost_bounds, false, measure, strength.off);
  return strength;
}

#define NODEWISE_INSTANTIATE(T)                                       \
  template DistMatrix<T> block_norms(const DistMatrix<T>&, int);      \
  template Strength symmetric_strength(const DistMatrix<T>&, double); \
  template Strength either_strength(const DistMatrix<T>&, double, StrengthMeasure);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::aggregate
