// Local matrices to test with. Values are small integers, so that sums are exact in any order, in
// double and in float.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/kernels/csr.hpp"

#include "dense.hpp"

namespace nodewise::test {

/// Rows of (column, value), taken as they are: unsorted, repeated.
template <class T>
kernels::Csr<T> from_rows(const std::vector<std::vector<std::pair<LocalIndex, T>>>& rows,
                          LocalIndex n_cols) {
  kernels::Csr<T> A(static_cast<LocalIndex>(rows.size()), n_cols);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [col, value] : rows[i]) {
      A.cols.push_back(col);
      A.vals.push_back(value);
    }
    A.row_ptr[i + 1] = static_cast<Offset>(A.cols.size());
  }
  return A;
}

/// Expects the same numbers, signs of zeros included.
template <class T>
void expect_same_bits(const Array<T>& a, const Array<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  if (!a.empty()) {
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
  }
}

/// A value for place (i, j): an integer of -4 .. 4, zero included.
template <class T>
T small_value(std::int64_t i, std::int64_t j, std::uint64_t seed) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(i), seed + 7);
  return static_cast<T>(hash64(static_cast<std::uint64_t>(j), h) % 9) - T{4};
}

/// Whether place (i, j) of a random matrix holds an entry.
inline bool has_entry(std::int64_t i, std::int64_t j, double density, std::uint64_t seed) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(i), seed + 3);
  return hash_uniform(static_cast<std::uint64_t>(j), h) < density;
}

/// Sorted rows; entries with the given probability.
template <class T>
kernels::Csr<T> random_csr(LocalIndex n_rows, LocalIndex n_cols, double density,
                           std::uint64_t seed) {
  kernels::Csr<T> A(n_rows, n_cols);
  for (LocalIndex i = 0; i < n_rows; ++i) {
    for (LocalIndex j = 0; j < n_cols; ++j) {
      if (!has_entry(i, j, density, seed)) continue;
      A.cols.push_back(j);
      A.vals.push_back(small_value<T>(i, j, seed));
    }
    A.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(A.cols.size());
  }
  return A;
}

template <class T>
Dense<T> to_dense(const kernels::Csr<T>& A) {
  Dense<T> dense = Dense<T>(A.n_rows, A.n_cols);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      dense(i, A.cols[static_cast<std::size_t>(k)]) += A.vals[static_cast<std::size_t>(k)];
    }
  }
  return dense;
}

// Consistent row pointers, columns in range, no column twice in a row.
template <class T>
void expect_well_formed(const kernels::Csr<T>& A) {
  ASSERT_EQ(A.row_ptr.size(), static_cast<std::size_t>(A.n_rows) + 1);
  EXPECT_EQ(A.row_ptr.front(), 0);
  EXPECT_TRUE(std::is_sorted(A.row_ptr.begin(), A.row_ptr.end()));
  ASSERT_EQ(A.cols.size(), static_cast<std::size_t>(A.nnz()));
  ASSERT_EQ(A.vals.size(), static_cast<std::size_t>(A.nnz()));
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    std::vector<LocalIndex> cols(A.cols.begin() + A.begin(i), A.cols.begin() + A.end(i));
    std::sort(cols.begin(), cols.end());
    EXPECT_EQ(std::adjacent_find(cols.begin(), cols.end()), cols.end()) << "row " << i;
    if (!cols.empty()) {
      EXPECT_GE(cols.front(), 0);
      EXPECT_LT(cols.back(), A.n_cols);
    }
  }
}

template <class T>
void expect_sorted_rows(const kernels::Csr<T>& A) {
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    EXPECT_TRUE(std::is_sorted(A.cols.begin() + A.begin(i), A.cols.begin() + A.end(i)));
  }
}

}  // namespace nodewise::test
