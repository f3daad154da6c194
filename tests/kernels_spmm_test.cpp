// Products with several vectors at once, against those with one.
#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/kernels/spmm.hpp"
#include "nodewise/kernels/spmv.hpp"
#include "nodewise/solve/block_ops.hpp"

#include "threads_support.hpp"

namespace nodewise::kernels {
namespace kernels_spmm_test {

/// Rows of all lengths from nothing on, with hashed entries.
template <class T>
Csr<T> hashed_matrix(LocalIndex rows, LocalIndex cols) {
  Csr<T> A(rows, cols);
  for (LocalIndex i = 0; i < rows; ++i) {
    for (LocalIndex j = 0; j < cols; ++j) {
      const auto key = static_cast<std::uint64_t>(i * cols + j);
      if (hash_uniform(key, 1) > 0.3 + 0.1 * (i % 7)) continue;
      A.cols.push_back(j);
      A.vals.push_back(static_cast<T>(hash_uniform(key, 2) - 0.5));
    }
    A.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(A.cols.size());
  }
  return A;
}

template <class T>
std::vector<T> hashed_vector(std::size_t n, std::uint64_t seed) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(hash_uniform(i, seed) - 0.5);
  return x;
}

template <class T>
class Spmm : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(Spmm, Types);

TYPED_TEST(Spmm, IsTheProductOfEveryColumn) {
  using T = TypeParam;
  const Csr<T> A = hashed_matrix<T>(19, 13);
  const double tolerance = 20 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const std::vector<LocalIndex> some_rows = {0, 3, 18};
  for (const std::size_t width : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 16U, 23U}) {
    const std::vector<T> X = hashed_vector<T>(13 * width, width);
    std::vector<T> Y(19 * width, T{7});
    spmm<T>(A, X, Y, static_cast<int>(width));
    std::vector<T> added = hashed_vector<T>(19 * width, 99);
    const std::vector<T> before = added;
    spmm_add_rows<T>(A, some_rows, X, added, static_cast<int>(width));
    for (std::size_t c = 0; c < width; ++c) {
      std::vector<T> x(13), y(19);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] = X[j * width + c];
      spmv<T>(A, x, y);
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(Y[i * width + c], y[i], tolerance);
        const bool is_added = i == 0 || i == 3 || i == 18;
        const T expected = before[i * width + c] + (is_added ? y[i] : T{});
        EXPECT_NEAR(added[i * width + c], expected, tolerance);
      }
    }
  }
}

TYPED_TEST(Spmm, AddsTheTransposedProductOfEveryColumn) {
  using T = TypeParam;
  const Csr<T> A = hashed_matrix<T>(19, 13);
  const double tolerance = 20 * static_cast<double>(std::numeric_limits<T>::epsilon());
  std::vector<LocalIndex> all_rows, some_rows = {0, 3, 18};
  for (LocalIndex i = 0; i < 19; ++i) all_rows.push_back(i);
  for (const std::size_t width : {1U, 3U, 8U}) {
    const std::vector<T> X = hashed_vector<T>(19 * width, width);
    const std::vector<T> before = hashed_vector<T>(13 * width, 98);
    std::vector<T> all = before, some = before;
    spmm_transposed_add<T>(A, X, all, static_cast<int>(width));
    spmm_transposed_add_rows<T>(A, some_rows, X, some, static_cast<int>(width));
    for (std::size_t c = 0; c < width; ++c) {
      std::vector<T> x(19), of_all(13), of_some(13);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = X[i * width + c];
      for (std::size_t j = 0; j < of_all.size(); ++j) of_all[j] = before[j * width + c];
      of_some = of_all;
      spmv_transposed_add_rows<T>(A, all_rows, x, of_all);
      spmv_transposed_add_rows<T>(A, some_rows, x, of_some);
      for (std::size_t j = 0; j < of_all.size(); ++j) {
        EXPECT_NEAR(all[j * width + c], of_all[j], tolerance);
        EXPECT_NEAR(some[j * width + c], of_some[j], tolerance);
      }
    }
  }
}

/// What products, and sums over the rows of blocks, come to.
template <class T>
std::vector<std::vector<T>> results(const Csr<T>& A, int width) {
  const auto w = static_cast<std::size_t>(width);
  const auto n = static_cast<std::size_t>(A.n_rows);
  const auto m = static_cast<std::size_t>(A.n_cols);
  std::vector<LocalIndex> even;
  for (LocalIndex i = 0; i < A.n_rows; i += 2) even.push_back(i);
  const std::vector<T> X = hashed_vector<T>(m * w, 1);
  const std::vector<T> Z = hashed_vector<T>(n * w, 2);
  std::vector<T> Y(n * w), added = Z, some = Z, all_back = X, some_back = X;
  spmm<T>(A, X, Y, width);
  spmm_add<T>(A, X, added, width);
  spmm_add_rows<T>(A, even, X, some, width);
  spmm_transposed_add<T>(A, Z, all_back, width);
  spmm_transposed_add_rows<T>(A, even, Z, some_back, width);
  std::vector<double> sums(3 * w), gram(w * w);
  solve::dot_columns<T>(Z, Y, std::span(sums).first(w));
  std::vector<T> updated = Z, directions = Y;
  solve::update_columns<T>(std::span(sums).first(w), Y, updated, std::span(sums).subspan(w, w));
  solve::xpby_columns<T>(Z, std::span(sums).first(w), directions);
  solve::gram<T>(Y, Z, w, gram);
  std::vector<T> total(n);
  sums[2 * w] = solve::sum_columns<T>(Z, w, total);
  std::vector<T> numbers;
  for (const double value : sums) numbers.push_back(static_cast<T>(value));
  for (const double value : gram) numbers.push_back(static_cast<T>(value));
  return {Y, added, some, all_back, some_back, updated, directions, total, numbers};
}

TYPED_TEST(Spmm, IsTheSameOnAnyNumberOfThreads) {
  using T = TypeParam;
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const Csr<T> A = hashed_matrix<T>(2100, 130);
  for (const int width : {3, 8}) {
    const auto on_one = results(A, width);
    for (const int threads : {2, 5}) {
      const test::Threads several(threads);
      EXPECT_EQ(results(A, width), on_one) << threads << " threads";
    }
  }
}

}  // namespace kernels_spmm_test
}  // namespace nodewise::kernels
