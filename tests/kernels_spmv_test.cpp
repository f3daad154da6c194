// Local products with vectors against dense references.
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/kernels/row_product.hpp"
#include "nodewise/kernels/spmv.hpp"

#include "local_matrix.hpp"

namespace nodewise::kernels {
namespace kernels_spmv_test {

template <class T>
using Vector = test::Dense<T>;

template <class T>
Vector<T> vector_of(LocalIndex n, std::uint64_t seed) {
  Vector<T> x(n);
  for (LocalIndex i = 0; i < n; ++i) x[i] = test::small_value<T>(i, 0, seed);
  return x;
}

template <class T>
std::span<T> span_of(Vector<T>& x) {
  return {x.data(), x.size()};
}

template <class T>
std::span<const T> span_of(const Vector<T>& x) {
  return {x.data(), x.size()};
}

template <class T>
class Spmv : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Spmv, Values);

// Densities from no entry to full rows: every remainder of the unrolled loop occurs.
TYPED_TEST(Spmv, AllProductsOfRandomMatrices) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 11; ++seed) {
    const auto n = static_cast<LocalIndex>(1 + hash64(seed, 1) % 40);
    const auto m = static_cast<LocalIndex>(1 + hash64(seed, 2) % 40);
    const Csr<T> A = test::random_csr<T>(n, m, 0.1 * static_cast<double>(seed), seed);
    const test::Dense<T> dense = test::to_dense(A);
    const Vector<T> x = vector_of<T>(m, 1);
    const Vector<T> b = vector_of<T>(n, 2);
    Vector<T> y(n);
    spmv(A, span_of(x), span_of(y));
    EXPECT_EQ(y, dense * x);
    residual(A, span_of(x), span_of(b), span_of(y));
    EXPECT_EQ(y, b - dense * x);
    y = b;  // b and r are one array
    residual(A, span_of(x), std::span<const T>(span_of(y)), span_of(y));
    EXPECT_EQ(y, b - dense * x);

    Vector<T> z = vector_of<T>(m, 3);
    spmv_transposed_add(A, span_of(b), span_of(z));
    EXPECT_EQ(z, vector_of<T>(m, 3) + dense.transpose() * b);
  }
}

TYPED_TEST(Spmv, ProductsOverSomeRowsLeaveTheOthers) {
  using T = TypeParam;
  const Csr<T> A = test::random_csr<T>(20, 15, 0.4, 5);
  const std::vector<LocalIndex> rows = {0, 3, 4, 19};
  test::Dense<T> some(20, 15);
  for (const LocalIndex i : rows) some.put(i, 0, test::to_dense(A).rows_from(i, 1));
  const Vector<T> x = vector_of<T>(15, 1);
  const Vector<T> b = vector_of<T>(20, 2);
  Vector<T> y = b;
  spmv_add_rows(T{-3}, A, std::span(rows), span_of(x), span_of(y));
  EXPECT_EQ(y, b - T{3} * (some * x));
  Vector<T> z = x;
  spmv_transposed_add_rows(A, std::span(rows), span_of(b), span_of(z));
  EXPECT_EQ(z, x + some.transpose() * b);
}

// Entries that are no integers: the order of the additions shows.
TYPED_TEST(Spmv, BothFormsOfTheRowProductAreTheSameToTheLastBit) {
  using T = TypeParam;
  constexpr std::size_t n = 60;
  Array<LocalIndex> cols;
  Array<T> vals, x;
  for (std::size_t k = 0; k < n; ++k) {
    cols.push_back(static_cast<LocalIndex>(hash64(k, 1) % n));
    vals.push_back(static_cast<T>(hash_uniform(k, 2) - 0.5));
    x.push_back(static_cast<T>(hash_uniform(k, 3) - 0.5));
  }
  for (Offset begin = 0; begin <= 20; ++begin) {
    for (Offset end = begin; end <= static_cast<Offset>(n); ++end) {
      const T guessed = row_product(cols.data(), vals.data(), begin, end, x.data());
      ASSERT_EQ(guessed, row_product_unguessed(cols.data(), vals.data(), begin, end, x.data()));
      T plain{};
      for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
        plain += vals[k] * x[static_cast<std::size_t>(cols[k])];
      }
      ASSERT_NEAR(guessed, plain, 40 * std::numeric_limits<T>::epsilon());
    }
  }
}

std::vector<Offset> rows_of_lengths(LocalIndex n, const std::function<Offset(LocalIndex)>& length) {
  std::vector<Offset> row_ptr = {0};
  for (LocalIndex i = 0; i < n; ++i) row_ptr.push_back(row_ptr.back() + length(i));
  return row_ptr;
}

TEST(RowProduct, OnlyLengthsWithoutAPatternAreUnpredictable) {
  const auto unpredictable = [](LocalIndex n, const std::function<Offset(LocalIndex)>& length) {
    return ends_are_unpredictable(rows_of_lengths(n, length), 0, n);
  };
  const auto hashed = [](LocalIndex i) {
    return static_cast<Offset>(2 + hash64(static_cast<std::uint64_t>(i), 4) % 9);
  };
  EXPECT_TRUE(unpredictable(4000, hashed));
  EXPECT_FALSE(unpredictable(1000, hashed));  // few enough to be remembered
  EXPECT_FALSE(unpredictable(4000, [](LocalIndex) { return 7; }));
  EXPECT_FALSE(unpredictable(4000, [](LocalIndex i) { return 3 + i % 5; }));
  EXPECT_FALSE(unpredictable(4000, [&](LocalIndex i) { return 20 + hashed(i); }));
  EXPECT_FALSE(unpredictable(0, hashed));
  // Of a part of the rows, only that is looked at.
  const auto half = rows_of_lengths(8000, [&](LocalIndex i) { return i < 4000 ? 7 : hashed(i); });
  EXPECT_FALSE(ends_are_unpredictable(half, 0, 4000));
  EXPECT_TRUE(ends_are_unpredictable(half, 4000, 8000));
}

// One that fits into a cache and one that does not, whose rows are visited in blocks.
TYPED_TEST(Spmv, BlocksOfRowsAreAllRowsInTheirOrder) {
  using T = TypeParam;
  for (const LocalIndex n : {LocalIndex{10}, LocalIndex{300001}}) {
    Csr<T> A(n, 1);
    Array<Offset> row_ptr(static_cast<std::size_t>(n) + 1);
    for (std::size_t i = 0; i < row_ptr.size(); ++i) row_ptr[i] = 5 * static_cast<Offset>(i);
    A.row_ptr = SharedArray<Offset>(std::move(row_ptr));
    A.cols.resize(static_cast<std::size_t>(A.nnz()));
    A.vals.resize(static_cast<std::size_t>(A.nnz()));
    const LocalIndex first = 3, last = n - 2;
    const RowBlocks<T> blocks(A, first, last);
    LocalIndex next = first;
    int calls = 0;
    blocks.upwards(first, last, [&](LocalIndex begin, LocalIndex end) {
      EXPECT_EQ(begin, next);
      next = end;
      ++calls;
    });
    EXPECT_EQ(next, last);
    blocks.downwards(first, last, [&](LocalIndex begin, LocalIndex end) {
      EXPECT_EQ(end, next);
      next = begin;
    });
    EXPECT_EQ(next, first);
    EXPECT_EQ(calls > 1, n > 10);
  }
}

TYPED_TEST(Spmv, EmptyMatricesReadAndWriteNothing) {
  using T = TypeParam;
  const std::span<const T> none;
  spmv(Csr<T>(), none, std::span<T>());
  residual(Csr<T>(), none, none, std::span<T>());
  spmv_transposed_add(Csr<T>(), none, std::span<T>());
  Vector<T> y = vector_of<T>(3, 1);
  spmv(Csr<T>(3, 0), none, span_of(y));
  EXPECT_EQ(y, Vector<T>(3));
  Vector<T> z = vector_of<T>(4, 2);
  spmv_transposed_add(Csr<T>(0, 4), none, span_of(z));
  EXPECT_EQ(z, (vector_of<T>(4, 2)));
}

}  // namespace kernels_spmv_test
}  // namespace nodewise::kernels
