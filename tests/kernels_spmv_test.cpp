// Local products with vectors against dense references.
#include <gtest/gtest.h>

#include "nodewise/kernels/spmv.hpp"

#include "local_matrix.hpp"

namespace nodewise::kernels {
namespace {

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

}  // namespace
}  // namespace nodewise::kernels
