// Sorting, transposing and multiplying local matrices, against plain dense references.
#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>

#include <gtest/gtest.h>

#include "nodewise/kernels/csr_ops.hpp"

#include "local_matrix.hpp"

namespace nodewise::kernels {
namespace {

using test::Dense;
using test::from_rows;
using test::random_csr;
using test::to_dense;

// Positions count to 64 bits, in the local matrix too: a rank may hold more than 2^31 nonzeros.
static_assert(std::is_same_v<decltype(Csr<double>().nnz()), std::int64_t>);
static_assert(std::is_same_v<decltype(Csr<float>::row_ptr)::value_type, std::int64_t>);
static_assert(std::is_same_v<decltype(Csr<double>::cols)::value_type, std::int32_t>);

template <class T>
class CsrOps : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(CsrOps, Values);

template <class T>
ExtendedRows<T> whole(const Csr<T>& A, const Csr<T>& none) {
  return {.on = &A, .off = &none, .ghost = nullptr, .off_shift = 0, .n_cols = A.n_cols};
}

template <class T>
Csr<T> product(const Csr<T>& A, const Csr<T>& B) {
  const Csr<T> none_left(A.n_rows, 0);
  const Csr<T> none_right(B.n_rows, 0);
  return spgemm(whole(A, none_left), A.n_rows, whole(B, none_right));
}

// Consistent row pointers, columns in range, no column twice in a row.
template <class T>
void expect_well_formed(const Csr<T>& A) {
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
void expect_sorted_rows(const Csr<T>& A) {
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    EXPECT_TRUE(std::is_sorted(A.cols.begin() + A.begin(i), A.cols.begin() + A.end(i)));
  }
}

// Rows of every length around the switch of algorithms, with columns repeated and unsorted.
template <class T>
Csr<T> messy(LocalIndex n_cols, std::uint64_t seed) {
  std::vector<std::vector<std::pair<LocalIndex, T>>> rows;
  for (const std::uint64_t length : {0, 1, 2, 7, 23, 24, 25, 26, 60, 0, 300, 24, 0}) {
    auto& row = rows.emplace_back();
    for (std::uint64_t k = 0; k < length; ++k) {
      const std::uint64_t h = hash64(1000 * rows.size() + k, seed);
      row.emplace_back(static_cast<LocalIndex>(h % static_cast<std::uint64_t>(n_cols)),
                       static_cast<T>(h % 9) - T{4});
    }
  }
  return from_rows<T>(rows, n_cols);
}

TYPED_TEST(CsrOps, SortAndCombineKeepsTheMatrix) {
  for (const LocalIndex n_cols : {1, 3, 20, 1000}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Csr<TypeParam> A = messy<TypeParam>(n_cols, seed);
      const Dense<TypeParam> before = to_dense(A);
      const Offset entries = A.nnz();
      const Offset combined = sort_and_combine_rows(A);
      EXPECT_EQ(combined, entries - A.nnz());
      expect_well_formed(A);
      expect_sorted_rows(A);
      EXPECT_EQ(to_dense(A), before);
    }
  }
}

// (1e20 + 1) - 1e20 is not (1e20 - 1e20) + 1: the order of the additions shows.
TYPED_TEST(CsrOps, RepeatedColumnsAddUpInTheirOrder) {
  for (const std::size_t padding : {0, 5, 40}) {
    std::vector<std::pair<LocalIndex, TypeParam>> row = {{7, TypeParam(1e20)}, {3, 2}, {7, 1}};
    for (std::size_t k = 0; k < padding; ++k) {
      row.emplace_back(static_cast<LocalIndex>(100 - k), TypeParam{1});
    }
    row.emplace_back(7, TypeParam(-1e20));
    row.emplace_back(7, TypeParam{3});
    Csr<TypeParam> A = from_rows<TypeParam>({row}, 101);
    EXPECT_EQ(sort_and_combine_rows(A), 3);
    EXPECT_EQ(A.cols[0], 3);
    EXPECT_EQ(A.cols[1], 7);
    EXPECT_EQ(A.vals[1], TypeParam{3});
  }
}

TYPED_TEST(CsrOps, SortOfSortedRowsCombinesOnly) {
  Csr<TypeParam> A = from_rows<TypeParam>({{{0, 1}, {0, 2}, {4, 3}}, {}, {{4, 1}, {4, 1}}}, 5);
  EXPECT_EQ(sort_and_combine_rows(A), 2);
  EXPECT_EQ(A.row_ptr, (Array<Offset>{0, 2, 2, 3}));
  EXPECT_EQ(A.vals, (Array<TypeParam>{3, 3, 2}));
  EXPECT_EQ(sort_and_combine_rows(A), 0);
}

TYPED_TEST(CsrOps, EmptyMatrices) {
  for (const LocalIndex rows : {0, 4}) {
    for (const LocalIndex cols : {0, 3}) {
      Csr<TypeParam> A(rows, cols);
      EXPECT_EQ(sort_and_combine_rows(A), 0);
      const Csr<TypeParam> B = transpose(A);
      EXPECT_EQ(B.n_rows, cols);
      EXPECT_EQ(B.n_cols, rows);
      EXPECT_EQ(B.nnz(), 0);
      const Csr<TypeParam> C = product(A, B);
      EXPECT_EQ(C.n_rows, rows);
      EXPECT_EQ(C.n_cols, rows);
      EXPECT_EQ(C.nnz(), 0);
      expect_well_formed(C);
    }
  }
}

TYPED_TEST(CsrOps, TransposeOfRandomMatrices) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto n_rows = static_cast<LocalIndex>(1 + hash64(seed, 1) % 60);
    const auto n_cols = static_cast<LocalIndex>(1 + hash64(seed, 2) % 60);
    const Csr<TypeParam> A =
        random_csr<TypeParam>(n_rows, n_cols, 0.1 * static_cast<double>(seed), seed);
    const Csr<TypeParam> B = transpose(A);
    expect_well_formed(B);
    expect_sorted_rows(B);
    EXPECT_EQ(B.nnz(), A.nnz());
    EXPECT_EQ(to_dense(B), to_dense(A).transpose());
    const Csr<TypeParam> back = transpose(B);
    EXPECT_EQ(back.row_ptr, A.row_ptr);
    EXPECT_EQ(back.cols, A.cols);
    EXPECT_EQ(back.vals, A.vals);
  }
}

TYPED_TEST(CsrOps, ProductOfRandomMatrices) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto n = static_cast<LocalIndex>(1 + hash64(seed, 1) % 90);
    const auto m = static_cast<LocalIndex>(1 + hash64(seed, 2) % 90);
    const auto k = static_cast<LocalIndex>(1 + hash64(seed, 3) % 90);
    const Csr<TypeParam> A = random_csr<TypeParam>(n, m, 0.04 * static_cast<double>(seed), seed);
    const Csr<TypeParam> B = random_csr<TypeParam>(m, k, 0.1, seed + 100);
    const Csr<TypeParam> C = product(A, B);
    expect_well_formed(C);
    EXPECT_EQ(C.n_cols, k);
    EXPECT_EQ(to_dense(C), to_dense(A) * to_dense(B));
  }
}

// The first operand split in on- and off-process columns, the second in on, off and ghost rows.
TYPED_TEST(CsrOps, ProductOfMatricesInPieces) {
  const Csr<TypeParam> A_on = random_csr<TypeParam>(30, 12, 0.3, 1);
  const Csr<TypeParam> A_off = random_csr<TypeParam>(30, 9, 0.2, 2);
  const Csr<TypeParam> B_on = random_csr<TypeParam>(12, 14, 0.3, 3);
  const Csr<TypeParam> B_off = random_csr<TypeParam>(12, 5, 0.3, 4);
  const Csr<TypeParam> B_ghost = random_csr<TypeParam>(9, 25, 0.3, 5);  // numbers columns 19 .. 24
  const ExtendedRows<TypeParam> A{
      .on = &A_on, .off = &A_off, .ghost = nullptr, .off_shift = 12, .n_cols = 21};
  const ExtendedRows<TypeParam> B{
      .on = &B_on, .off = &B_off, .ghost = &B_ghost, .off_shift = 14, .n_cols = 25};
  Dense<TypeParam> left(30, 21);
  left.put(0, 0, to_dense(A_on));
  left.put(0, 12, to_dense(A_off));
  Dense<TypeParam> right(21, 25);
  right.put(0, 0, to_dense(B_on));
  right.put(0, 14, to_dense(B_off));
  right.put(12, 0, to_dense(B_ghost));
  const Csr<TypeParam> C = spgemm(A, 30, B);
  expect_well_formed(C);
  EXPECT_EQ(to_dense(C), left * right);
}

// Space is reserved by looking at every 64th row: here those are the shortest, then the longest.
TYPED_TEST(CsrOps, ProductWhoseSampledRowsMislead) {
  constexpr LocalIndex n = 1000;
  for (const bool long_samples : {false, true}) {
    std::vector<std::vector<std::pair<LocalIndex, TypeParam>>> rows(n);
    for (LocalIndex i = 0; i < n; ++i) {
      const LocalIndex length = (i % 64 == 0) == long_samples ? 40 : (i % 3 == 0 ? 0 : 1);
      for (LocalIndex k = 0; k < length; ++k) {
        rows[static_cast<std::size_t>(i)].emplace_back((i * 7 + k * 11) % n, TypeParam{1});
      }
    }
    const Csr<TypeParam> A = from_rows<TypeParam>(rows, n);
    const Csr<TypeParam> C = product(A, A);
    expect_well_formed(C);
    EXPECT_EQ(C.cols.size(), static_cast<std::size_t>(C.nnz()));
    // Compared with ordered maps: dense would take a second with sanitizers.
    for (LocalIndex i = 0; i < n; ++i) {
      std::map<LocalIndex, TypeParam> expected;
      for (const auto& [k, a] : rows[static_cast<std::size_t>(i)]) {
        for (const auto& [j, b] : rows[static_cast<std::size_t>(k)]) expected[j] += a * b;
      }
      std::map<LocalIndex, TypeParam> got;
      for (Offset k = C.begin(i); k < C.end(i); ++k) {
        got[C.cols[static_cast<std::size_t>(k)]] = C.vals[static_cast<std::size_t>(k)];
      }
      EXPECT_EQ(got, expected) << "row " << i;
    }
  }
}

// A single full row after many empty ones: longer than everything reserved.
TYPED_TEST(CsrOps, ProductWithOneVeryLongLastRow) {
  constexpr LocalIndex n = 5000;
  std::vector<std::vector<std::pair<LocalIndex, TypeParam>>> rows(3);
  rows[2].emplace_back(0, TypeParam{2});
  rows[2].emplace_back(1, TypeParam{3});
  std::vector<std::vector<std::pair<LocalIndex, TypeParam>>> full(2);
  for (LocalIndex j = 0; j < n; ++j) {
    full[0].emplace_back(j, TypeParam{1});
    full[1].emplace_back(n - 1 - j, TypeParam{1});
  }
  const Csr<TypeParam> C = product(from_rows<TypeParam>(rows, 2), from_rows<TypeParam>(full, n));
  expect_well_formed(C);
  EXPECT_EQ(C.row_ptr, (Array<Offset>{0, 0, 0, n}));
  EXPECT_EQ(C.vals, Array<TypeParam>(n, TypeParam{5}));
}

// Not a number survives: 0 * NaN must not be skipped.
TYPED_TEST(CsrOps, ProductKeepsNotANumber) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto A = from_rows<TypeParam>({{{0, TypeParam{0}}}}, 1);
  const auto B = from_rows<TypeParam>({{{0, nan}}}, 1);
  const auto C = product(A, B);
  ASSERT_EQ(C.nnz(), 1);
  EXPECT_TRUE(std::isnan(C.vals[0]));
}

}  // namespace
}  // namespace nodewise::kernels
