// Distributed matrices to test with, and their dense references on every rank.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

#include "exchange_support.hpp"
#include "local_matrix.hpp"

namespace nodewise::test {

/// A whole matrix as every rank sees it: `pattern` is 1 where an entry is stored.
template <class T>
struct Whole {
  Dense<T> values;
  Dense<int> pattern;
};

template <class T>
Whole<T> product(const Whole<T>& A, const Whole<T>& B) {
  const Dense<int> paths = A.pattern * B.pattern;
  return {A.values * B.values, either(paths, paths)};
}

template <class T>
Whole<T> transposed(const Whole<T>& A) {
  return {A.values.transpose(), A.pattern.transpose()};
}

/// A random matrix of small integers, and its reference, which every rank makes for itself.
template <class T>
struct RandomMatrix {
  RandomMatrix(const matrix::Layout& rows, const matrix::Layout& cols, double density,
               std::uint64_t seed)
      : whole{Dense<T>(rows.n_global(), cols.n_global()),
              Dense<int>(rows.n_global(), cols.n_global())},
        dist(matrix::matrix_from_rows<T>(rows, cols, [&](GlobalIndex i, auto&& emit) {
          // From the last column to the first: rows are not sorted for the library.
          for (GlobalIndex j = cols.n_global(); j-- > 0;) {
            const GlobalIndex row = i - rows.first();
            if (has_entry(row, j, density, seed)) {
              emit(cols.first() + j, small_value<T>(row, j, seed));
            }
          }
        })) {
    for (GlobalIndex i = 0; i < rows.n_global(); ++i) {
      for (GlobalIndex j = 0; j < cols.n_global(); ++j) {
        if (!has_entry(i, j, density, seed)) continue;
        whole.values(i, j) = small_value<T>(i, j, seed);
        whole.pattern(i, j) = 1;
      }
    }
  }

  Whole<T> whole;
  matrix::DistMatrix<T> dist;
};

/// Calls f(global row, global column, value) for every entry this rank holds.
template <class T, class F>
void for_each_entry(const matrix::DistMatrix<T>& A, F&& f) {
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const GlobalIndex row = A.rows().to_global(i);
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      f(row, A.cols().to_global(A.on().cols[p]), A.on().vals[p]);
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      f(row, A.ghosts()[static_cast<std::size_t>(A.off().cols[p])], A.off().vals[p]);
    }
  }
}

/// Expects rows with ascending, distinct columns in range.
template <class T>
void expect_sorted_part(const kernels::Csr<T>& part, const std::string& what) {
  EXPECT_EQ(part.row_ptr.size(), static_cast<std::size_t>(part.n_rows) + 1) << what;
  EXPECT_EQ(part.cols.size(), static_cast<std::size_t>(part.nnz())) << what;
  EXPECT_EQ(part.vals.size(), static_cast<std::size_t>(part.nnz())) << what;
  for (LocalIndex i = 0; i < part.n_rows; ++i) {
    LocalIndex above = 0;  // the least column that may come next
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const LocalIndex col = part.cols[static_cast<std::size_t>(k)];
      EXPECT_GE(col, above) << what << ", row " << i;
      EXPECT_LT(col, part.n_cols) << what << ", row " << i;
      above = col + 1;
    }
  }
}

/// Collective. Expects all that DistMatrix promises of its parts.
template <class T>
void expect_invariants(const matrix::DistMatrix<T>& A) {
  EXPECT_EQ(A.on().n_rows, A.rows().n_local());
  EXPECT_EQ(A.off().n_rows, A.rows().n_local());
  EXPECT_EQ(A.on().n_cols, A.cols().n_local());
  EXPECT_EQ(A.ghosts().size(), static_cast<std::size_t>(A.n_ghosts()));
  expect_sorted_part(A.on(), "on");
  expect_sorted_part(A.off(), "off");
  std::vector<GlobalIndex> used;
  for (const LocalIndex col : A.off().cols) {
    used.push_back(A.ghosts()[static_cast<std::size_t>(col)]);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  EXPECT_EQ(std::vector<GlobalIndex>(A.ghosts().begin(), A.ghosts().end()), used);
  for (const GlobalIndex ghost : used) {
    EXPECT_TRUE(A.cols().contains(ghost) && !A.cols().owns(ghost)) << ghost;
  }
  std::vector<LocalIndex> boundary;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    if (A.off().end(i) > A.off().begin(i)) boundary.push_back(i);
  }
  EXPECT_EQ(std::vector<LocalIndex>(A.boundary_rows().begin(), A.boundary_rows().end()), boundary);
  EXPECT_EQ(A.nnz_local(), static_cast<Offset>(A.on().cols.size() + A.off().cols.size()));
  EXPECT_EQ(A.nnz_global(), mpi::sum<GlobalIndex>(A.comm(), A.nnz_local()));
  EXPECT_EQ(A.exchange().plan().n_owned, A.cols().n_local());
  EXPECT_EQ(A.exchange().plan().n_ghosts, A.n_ghosts());
}

/// Local. Expects the same places and bits.
template <class T>
void expect_same_bits(const matrix::DistMatrix<T>& A, const matrix::DistMatrix<T>& B) {
  EXPECT_TRUE(A.rows() == B.rows());
  EXPECT_TRUE(A.cols() == B.cols());
  EXPECT_TRUE(
      std::equal(A.ghosts().begin(), A.ghosts().end(), B.ghosts().begin(), B.ghosts().end()));
  EXPECT_EQ(A.on().row_ptr, B.on().row_ptr);
  EXPECT_EQ(A.on().cols, B.on().cols);
  EXPECT_EQ(A.off().row_ptr, B.off().row_ptr);
  EXPECT_EQ(A.off().cols, B.off().cols);
  expect_same_bits(A.on().vals, B.on().vals);
  expect_same_bits(A.off().vals, B.off().vals);
}

/// Collective. Expects the invariants, and on every rank its rows equal to those of the reference,
/// in values and in places.
template <class T>
void expect_equal(const matrix::DistMatrix<T>& A, const Whole<T>& expected) {
  expect_invariants(A);
  ASSERT_EQ(A.rows().n_global(), expected.values.rows());
  ASSERT_EQ(A.cols().n_global(), expected.values.cols());
  EXPECT_EQ(A.nnz_global(), expected.pattern.sum());
  const auto begin = A.rows().begin() - A.rows().first();
  Dense<T> values = Dense<T>(A.n_local(), expected.values.cols());
  Dense<int> pattern = Dense<int>(A.n_local(), expected.values.cols());
  for_each_entry(A, [&](GlobalIndex row, GlobalIndex col, T value) {
    values(A.rows().to_local(row), col - A.cols().first()) = value;
    pattern(A.rows().to_local(row), col - A.cols().first()) = 1;
  });
  EXPECT_TRUE(values == expected.values.rows_from(begin, A.n_local()))
      << "got\n"
      << values << "\ninstead of\n"
      << expected.values.rows_from(begin, A.n_local());
  EXPECT_TRUE(pattern == expected.pattern.rows_from(begin, A.n_local()))
      << "got entries at\n"
      << pattern << "\ninstead of\n"
      << expected.pattern.rows_from(begin, A.n_local());
}

/// A vector of small integers over a layout: the whole of it, and this rank's part.
template <class T>
struct TestVector {
  TestVector(const matrix::Layout& layout, std::uint64_t seed) : whole(layout.n_global()) {
    for (GlobalIndex i = 0; i < layout.n_global(); ++i) whole[i] = small_value<T>(i, -1, seed);
    for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
      local.push_back(whole[i - layout.first()]);
    }
  }
  std::span<const T> span() const { return local; }

  Dense<T> whole;
  std::vector<T> local;
};

/// This rank's part of a vector that every rank holds whole.
template <class T>
std::vector<T> part_of(const matrix::Layout& layout, const Dense<T>& whole) {
  const auto begin = whole.data() + (layout.begin() - layout.first());
  return {begin, begin + layout.n_local()};
}

/// Layouts of n indices: even, all on the last rank, all on the first, and two random ones with
/// empty ranks.
inline std::vector<matrix::Layout> layouts_of(const std::shared_ptr<const mpi::Comm>& comm,
                                              GlobalIndex n, GlobalIndex first = 0) {
  const auto p = static_cast<std::size_t>(comm->size());
  std::vector<GlobalIndex> on_last(p + 1, first);
  on_last.back() += n;
  std::vector<GlobalIndex> on_first(p + 1, first + n);
  on_first.front() = first;
  std::vector<GlobalIndex> even(p + 1);
  const matrix::Layout uniform = matrix::Layout::uniform(comm, n);
  for (std::size_t r = 0; r <= p; ++r) even[r] = first + uniform.starts()[r];
  return {{comm, even},
          {comm, on_last},
          random_layout(comm, n, 5, first),
          {comm, on_first},
          random_layout(comm, n, 6, first)};
}

/// The same places and values, and not almost.
inline void expect_same_bits(const kernels::Csr<double>& a, const kernels::Csr<double>& b,
                             const std::string& what) {
  EXPECT_TRUE(std::equal(a.row_ptr.begin(), a.row_ptr.end(), b.row_ptr.begin(), b.row_ptr.end()))
      << what;
  EXPECT_TRUE(std::equal(a.cols.begin(), a.cols.end(), b.cols.begin(), b.cols.end())) << what;
  EXPECT_EQ(a.vals, b.vals) << what;
}

inline void expect_same_bits(const matrix::DistMatrix<double>& a,
                             const matrix::DistMatrix<double>& b, const std::string& what) {
  expect_same_bits(a.on(), b.on(), what);
  expect_same_bits(a.off(), b.off(), what);
}

}  // namespace nodewise::test
