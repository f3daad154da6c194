// Products, transposes and sums of distributed matrices against dense references. All values are
// small integers, so that every result is exact on any number of ranks.
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_operations_test {

using test::expect_equal;
using test::expect_invariants;
using test::expect_same_error;
using test::layouts_of;
using test::part_of;
using test::RandomMatrix;
using test::test_comm;
using test::TestVector;
using test::Whole;

// No count of nonzeros, local or global, is narrower than 64 bits.
static_assert(
    std::is_same_v<decltype(std::declval<DistMatrix<double>>().nnz_global()), std::int64_t>);
static_assert(
    std::is_same_v<decltype(std::declval<DistMatrix<double>>().nnz_local()), std::int64_t>);

template <class T>
class Operations : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Operations, Values);

template <class T>
void expect_vector_products(const RandomMatrix<T>& A) {
  const Layout& rows = A.dist.rows();
  const Layout& cols = A.dist.cols();
  const TestVector<T> x(cols, 1);
  const TestVector<T> b(rows, 2);
  std::vector<T> y(b.local.size(), T{99});
  multiply(A.dist, x.span(), std::span<T>(y));
  EXPECT_EQ(y, part_of<T>(rows, A.whole.values * x.whole));
  residual(A.dist, x.span(), b.span(), std::span<T>(y));
  EXPECT_EQ(y, part_of<T>(rows, b.whole - A.whole.values * x.whole));
  y = b.local;  // b and r are one array
  residual(A.dist, x.span(), std::span<const T>(y), std::span<T>(y));
  EXPECT_EQ(y, part_of<T>(rows, b.whole - A.whole.values * x.whole));
  std::vector<T> z(x.local.size(), T{99});
  multiply_transposed(A.dist, b.span(), std::span<T>(z));
  EXPECT_EQ(z, part_of<T>(cols, A.whole.values.transpose() * b.whole));
}

TYPED_TEST(Operations, VectorProductsOnAllPairsOfLayouts) {
  std::uint64_t seed = 0;
  for (const Layout& rows : layouts_of(test_comm(), 23)) {
    for (const Layout& cols : layouts_of(test_comm(), 17)) {
      const RandomMatrix<TypeParam> A(rows, cols, seed % 3 == 0 ? 0.05 : 0.4, seed);
      ++seed;
      expect_equal(A.dist, A.whole);
      expect_vector_products(A);
      expect_equal(transpose(A.dist), test::transposed(A.whole));
    }
  }
}

TYPED_TEST(Operations, TransposedTwiceIsBitwiseTheSame) {
  const auto comm = test_comm();
  const RandomMatrix<TypeParam> A(test::random_layout(comm, 40, 1),
                                  test::random_layout(comm, 30, 2), 0.3, 5);
  const auto back = transpose(transpose(A.dist));
  EXPECT_EQ(back.on().row_ptr, A.dist.on().row_ptr);
  EXPECT_EQ(back.on().cols, A.dist.on().cols);
  EXPECT_EQ(back.on().vals, A.dist.on().vals);
  EXPECT_EQ(back.off().row_ptr, A.dist.off().row_ptr);
  EXPECT_EQ(back.off().cols, A.dist.off().cols);
  EXPECT_EQ(back.off().vals, A.dist.off().vals);
}

TYPED_TEST(Operations, SumsOfMatrices) {
  std::uint64_t seed = 0;
  for (const Layout& rows : layouts_of(test_comm(), 19)) {
    const Layout cols = layouts_of(test_comm(), 21)[++seed % 5];
    const RandomMatrix<TypeParam> A(rows, cols, 0.2, seed);
    const RandomMatrix<TypeParam> B(rows, cols, seed % 2 == 0 ? 0.5 : 0.02, seed + 50);
    const auto sum = add(TypeParam{2}, A.dist, TypeParam{-3}, B.dist);
    expect_equal<TypeParam>(sum, {TypeParam{2} * A.whole.values - TypeParam{3} * B.whole.values,
                                  test::either(A.whole.pattern, B.whole.pattern)});
    const RandomMatrix<TypeParam> none(rows, cols, 0.0, 1);
    expect_equal(add(TypeParam{1}, none.dist, TypeParam{1}, B.dist), B.whole);
    expect_equal(add(TypeParam{1}, A.dist, TypeParam{7}, none.dist), A.whole);
  }
}

TYPED_TEST(Operations, ProductsOfMatricesOnAllLayouts) {
  const auto rows = layouts_of(test_comm(), 15);
  const auto inner = layouts_of(test_comm(), 22);
  const auto cols = layouts_of(test_comm(), 13);
  for (std::size_t k = 0; k < 25; ++k) {
    const RandomMatrix<TypeParam> A(rows[k % 5], inner[k / 5], 0.25, k);
    const RandomMatrix<TypeParam> B(inner[k / 5], cols[(2 * k + 1) % 5], 0.25, k + 100);
    expect_equal(multiply(A.dist, B.dist), test::product(A.whole, B.whole));
  }
}

TYPED_TEST(Operations, ProductsWithEmptyFactors) {
  const auto comm = test_comm();
  const Layout rows = Layout::uniform(comm, 9);
  const Layout none = Layout::uniform(comm, 0);
  const Layout cols = Layout::uniform(comm, 7);
  const RandomMatrix<TypeParam> thin(rows, none, 0.5, 1);
  const RandomMatrix<TypeParam> flat(none, cols, 0.5, 2);
  expect_equal(multiply(thin.dist, flat.dist), test::product(thin.whole, flat.whole));
  expect_equal(multiply(flat.dist, transpose(flat.dist)),
               test::product(flat.whole, test::transposed(flat.whole)));
  expect_vector_products(thin);
  expect_vector_products(flat);
  const RandomMatrix<TypeParam> zero(rows, cols, 0.0, 3);
  const RandomMatrix<TypeParam> B(cols, rows, 0.5, 4);
  expect_equal(multiply(zero.dist, B.dist), test::product(zero.whole, B.whole));
  expect_equal(multiply(B.dist, zero.dist), test::product(B.whole, zero.whole));
}

TYPED_TEST(Operations, OneByOne) {
  const auto comm = test_comm();
  for (const Layout& one : layouts_of(comm, 1)) {
    const auto A =
        matrix_from_rows<TypeParam>(one, one, [](GlobalIndex i, auto&& emit) { emit(i, 3); });
    EXPECT_EQ(A.nnz_global(), 1);
    expect_invariants(A);
    const TestVector<TypeParam> x(one, 3);
    std::vector<TypeParam> y(x.local.size());
    multiply(A, x.span(), std::span<TypeParam>(y));
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 3 * x.local[i]);
    const auto cube = multiply(multiply(A, A), transpose(A));
    for (const TypeParam value : cube.on().vals) EXPECT_EQ(value, 27);
    EXPECT_EQ(cube.nnz_global(), 1);
    EXPECT_TRUE(is_symmetric(A));
  }
}

// Rank r's rows reach only columns of rank r + 1: its on-process part is empty.
TYPED_TEST(Operations, AllColumnsOffProcess) {
  const auto comm = test_comm();
  if (comm->size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const Layout layout = Layout::uniform(comm, 3 * comm->size());
  const GlobalIndex n = layout.n_global();
  const auto A = matrix_from_rows<TypeParam>(layout, layout, [&](GlobalIndex i, auto&& emit) {
    emit((i + 3) % n, static_cast<TypeParam>(i + 1));
  });
  EXPECT_EQ(A.on().nnz(), 0);
  EXPECT_EQ(A.off().nnz(), 3);
  expect_invariants(A);
  const auto B = multiply(A, transpose(A));  // diagonal of squares
  expect_invariants(B);
  EXPECT_EQ(B.off().nnz(), 0);
  const auto d = diagonal(B);
  for (LocalIndex i = 0; i < B.n_local(); ++i) {
    const auto root = static_cast<TypeParam>(layout.to_global(i) + 1);
    EXPECT_EQ(d[static_cast<std::size_t>(i)], root * root);
  }
  EXPECT_EQ(diagonal(A), Array<TypeParam>(3, TypeParam{0}));
  const TestVector<TypeParam> x(layout, 2);
  std::vector<TypeParam> y(3);
  multiply(A, x.span(), std::span<TypeParam>(y));
  for (LocalIndex i = 0; i < 3; ++i) {
    const GlobalIndex row = layout.to_global(i);
    EXPECT_EQ(y[static_cast<std::size_t>(i)],
              static_cast<TypeParam>(row + 1) * x.whole[(row + 3) % n]);
  }
}

TYPED_TEST(Operations, ShapesThatDoNotFitFailOnAllRanks) {
  const auto comm = test_comm();
  const Layout nine = Layout::uniform(comm, 9);
  const Layout eight = Layout::uniform(comm, 8);
  const RandomMatrix<TypeParam> A(nine, eight, 0.3, 1);
  const RandomMatrix<TypeParam> B(eight, nine, 0.3, 2);
  const auto mismatch = [&](auto&& work) {
    expect_same_error(*comm, ErrorCode::dimension_mismatch, work);
  };
  mismatch([&] { multiply(A.dist, A.dist); });
  mismatch([&] { add(TypeParam{1}, A.dist, TypeParam{1}, B.dist); });
  mismatch([&] { galerkin_product(A.dist, B.dist); });
  if (comm->size() > 1) {  // as many columns as rows, but split otherwise
    const RandomMatrix<TypeParam> C(layouts_of(comm, 8)[1], nine, 0.3, 3);
    mismatch([&] { multiply(A.dist, C.dist); });
  }
}

TYPED_TEST(Operations, ConvertKeepsPlacesAndRoundsValues) {
  using Other = std::conditional_t<std::is_same_v<TypeParam, double>, float, double>;
  const auto comm = test_comm();
  const RandomMatrix<TypeParam> A(test::random_layout(comm, 30, 3),
                                  test::random_layout(comm, 25, 4), 0.3, 7);
  const DistMatrix<Other> B = convert<Other>(A.dist);
  expect_equal<Other>(B, {A.whole.values.template map<Other>(
                              [](TypeParam value) { return static_cast<Other>(value); }),
                          A.whole.pattern});
  const auto third = matrix_from_rows<double>(
      A.dist.rows(), A.dist.cols(),
      [&](GlobalIndex, auto&& emit) { emit(A.dist.cols().first(), 1.0 / 3); });
  test::for_each_entry(convert<float>(third), [](GlobalIndex, GlobalIndex, float value) {
    EXPECT_EQ(value, static_cast<float>(1.0 / 3));
  });
}

// Rows without a diagonal entry: nothing is there to be found, and nothing is written for it.
TYPED_TEST(Operations, DiagonalWithMissingEntries) {
  for (const Layout& layout : layouts_of(test_comm(), 16)) {
    const auto A = matrix_from_rows<TypeParam>(layout, layout, [](GlobalIndex i, auto&& emit) {
      emit((i + 1) % 16, 5);
      if (i % 3 == 0) emit(i, static_cast<TypeParam>(i + 1));
      if (i % 5 == 0) emit((i + 15) % 16, 5);
    });
    const auto d = diagonal(A);
    ASSERT_EQ(d.size(), static_cast<std::size_t>(layout.n_local()));
    for (LocalIndex k = 0; k < layout.n_local(); ++k) {
      const GlobalIndex i = layout.to_global(k);
      EXPECT_EQ(d[static_cast<std::size_t>(k)], static_cast<TypeParam>(i % 3 == 0 ? i + 1 : 0));
    }
  }
}

// The whole matrix without one diagonal entry and without one row, through every operation.
TYPED_TEST(Operations, MissingDiagonalAndEmptyRowsEverywhere) {
  using T = TypeParam;
  for (const Layout& layout : layouts_of(test_comm(), 12)) {
    Whole<T> whole{test::Dense<T>(12, 12), test::Dense<int>(12, 12)};
    for (int i = 0; i < 12; ++i) {
      if (i % 4 == 1) continue;
      for (int j : {i - 1, i + 1, (i + 6) % 12}) {
        if (j < 0 || j > 11) continue;
        whole.values(i, j) = static_cast<T>(i + j);
        whole.pattern(i, j) = 1;
      }
    }
    const auto A = matrix_from_rows<T>(layout, layout, [&](GlobalIndex i, auto&& emit) {
      for (int j = 0; j < 12; ++j) {
        if (whole.pattern(i, j) == 1) emit(j, whole.values(i, j));
      }
    });
    expect_equal(A, whole);
    EXPECT_EQ(diagonal(A), Array<T>(static_cast<std::size_t>(layout.n_local()), T{0}));
    expect_equal(transpose(A), test::transposed(whole));
    expect_equal(multiply(A, A), test::product(whole, whole));
    expect_equal(galerkin_product(A, A),
                 test::product(test::transposed(whole), test::product(whole, whole)));
  }
}

TEST(DistMatrix, RefusesRowsThatDoNotFitTheLayout) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 2 * comm->size());
  const bool wrong = comm->rank() == comm->size() - 1;
  expect_same_error(*comm, ErrorCode::dimension_mismatch, [&] {
    DistMatrix<double>(layout, layout, RowBlock<double>{Csr<double>(wrong ? 3 : 2, 2), 2, {}});
  });
  expect_same_error(*comm, ErrorCode::dimension_mismatch, [&] {
    DistMatrix<double>(layout, layout, RowBlock<double>{Csr<double>(2, 2), wrong ? 1 : 2, {}});
  });
}

TEST(DistMatrix, RefusesGhostsThatDoNotFitTheColumns) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 2 * comm->size());
  const bool wrong = comm->rank() == comm->size() - 1;
  expect_same_error(*comm, ErrorCode::dimension_mismatch, [&] {
    SplitRows<double> split{Csr<double>(2, 2), Csr<double>(2, wrong ? 1 : 0), {}};
    DistMatrix<double>(layout, layout, std::move(split));
  });
}

// Counts of nonzeros beyond 32 bits: the row pointers alone are enough to be counted.
TEST(DistMatrix, CountsNonzerosIn64Bits) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, comm->size());
  constexpr Offset many = 3'000'000'000;
  SplitRows<float> split{Csr<float>(1, 1), Csr<float>(1, 0), {}};
  split.on.row_ptr = {0, many};
  const DistMatrix<float> A(layout, layout, std::move(split));
  EXPECT_EQ(A.nnz_local(), many);
  EXPECT_EQ(A.nnz_global(), many * comm->size());
  EXPECT_GE(A.memory_bytes(), static_cast<std::size_t>(8 * many));
}

// Ghosts in any order, repeated, unused, and one that is owned after all.
TEST(DistMatrix, SortsOutTheGhostsOfABlock) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 3 * comm->size());
  const GlobalIndex mine = layout.begin();
  const GlobalIndex n = layout.n_global();
  RowBlock<double> block;
  block.n_owned_cols = 3;
  block.ghosts = {(mine + 5) % n, (mine + 3) % n, mine + 1,
                  (mine + 5) % n, (mine + 4) % n, mine + 2};
  block.rows =
      test::from_rows<double>({{{3, 1}, {6, 2}, {0, 4}}, {{4, 8}, {5, 16}, {1, 32}}, {}}, 9);
  const DistMatrix<double> A(layout, layout, std::move(block));
  expect_invariants(A);
  Whole<double> whole{test::Dense<double>(n, n), test::Dense<int>(n, n)};
  const auto put = [&](GlobalIndex i, GlobalIndex j, double value) {
    whole.values(i, j) += value;
    whole.pattern(i, j) = 1;
  };
  for (GlobalIndex i = 0; i < n; i += 3) {
    put(i, (i + 5) % n, 3);
    put(i, i, 4);
    put(i + 1, (i + 3) % n, 8);
    put(i + 1, i + 1, 48);
  }
  expect_equal(A, whole);
  EXPECT_EQ(A.n_ghosts(), comm->size() > 1 ? 2 : 0);
}

}  // namespace matrix_operations_test
}  // namespace nodewise::matrix
