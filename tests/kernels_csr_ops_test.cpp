// Sorting and transposing local matrices, against plain dense references.
#include <algorithm>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "nodewise/kernels/csr_ops.hpp"

#include "local_matrix.hpp"

namespace nodewise::kernels {
namespace kernels_csr_ops_test {

using test::Dense;
using test::expect_sorted_rows;
using test::expect_well_formed;
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
  EXPECT_EQ(A.row_ptr, (SharedArray<Offset>{0, 2, 2, 3}));
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
    }
  }
}

TYPED_TEST(CsrOps, EmptyMatricesShareRowPointersUntilTheyAreWrittenTo) {
  const Csr<TypeParam> A(5, 2);
  Csr<TypeParam> B(4, 3);
  const Csr<TypeParam> C = B;
  EXPECT_EQ(std::as_const(B).row_ptr.data(), A.row_ptr.data());
  EXPECT_EQ(B.row_ptr.size(), 5U);
  EXPECT_EQ(B.nnz(), 0);
  B.row_ptr[4] = 7;
  B.row_ptr.push_back(8);
  EXPECT_EQ(B.row_ptr, (SharedArray<Offset>{0, 0, 0, 0, 7, 8}));
  EXPECT_EQ(A.row_ptr, (SharedArray<Offset>{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(C.row_ptr, (SharedArray<Offset>{0, 0, 0, 0, 0}));
  const Csr<TypeParam> longer(9, 1);
  EXPECT_EQ(longer.row_ptr, SharedArray<Offset>(10, 0));
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

}  // namespace kernels_csr_ops_test
}  // namespace nodewise::kernels
