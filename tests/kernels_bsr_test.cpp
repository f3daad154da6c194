// Matrices of dense blocks, against the same matrix by rows. Entries are small integers, so that
// every order of the additions gives the same.
#include <gtest/gtest.h>

#include "nodewise/kernels/bsr.hpp"
#include "nodewise/kernels/spmm.hpp"
#include "nodewise/kernels/spmv.hpp"

#include "collective_error.hpp"
#include "local_matrix.hpp"

namespace nodewise::kernels {
namespace kernels_bsr_test {

/// Rows of all lengths, some of them empty, whose entries fill the blocks in part.
template <class T>
Csr<T> small_matrix(LocalIndex rows, LocalIndex cols, std::uint64_t seed) {
  Csr<T> A(rows, cols);
  for (LocalIndex i = 0; i < rows; ++i) {
    for (LocalIndex j = 0; j < cols && i % 7 != 3; ++j) {
      if (!test::has_entry(i, j, 0.1 + 0.1 * (i % 5), seed)) continue;
      A.cols.push_back(j);
      A.vals.push_back(test::small_value<T>(i, j, seed));
    }
    A.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(A.cols.size());
  }
  return A;
}

template <class T>
std::vector<T> small_vector(LocalIndex n, std::uint64_t seed) {
  std::vector<T> x;
  for (LocalIndex i = 0; i < n; ++i) x.push_back(test::small_value<T>(i, -1, seed));
  return x;
}

/// Calls f(block, block rows, block columns) for all sizes of blocks and some shapes.
template <class F>
void for_each_shape(F&& f) {
  for (int block = min_block; block <= max_block; ++block) {
    f(block, 5, 4);
    f(block, 7, 1);
    f(block, 1, 9);
    f(block, 3, 0);
    f(block, 0, 2);
  }
}

template <class T>
class BsrOf : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(BsrOf, Types);

TYPED_TEST(BsrOf, HoldsEveryEntryOnceAndZerosBeside) {
  using T = TypeParam;
  for_each_shape([](int b, LocalIndex n, LocalIndex m) {
    const Csr<T> A = small_matrix<T>(n * b, m * b, 1);
    const Bsr<T> blocks = to_bsr(A, b);
    EXPECT_EQ(blocks.n_rows, n);
    EXPECT_EQ(blocks.n_cols, m);
    ASSERT_EQ(blocks.vals.size(), blocks.cols.size() * blocks.block_entries());
    std::vector<T> expected(static_cast<std::size_t>(n * m * b * b)), got(expected.size());
    std::vector<char> is_there(static_cast<std::size_t>(n * m));
    for (LocalIndex i = 0; i < n * b; ++i) {
      for (Offset k = A.begin(i); k < A.end(i); ++k) {
        const LocalIndex j = A.cols[static_cast<std::size_t>(k)];
        expected[static_cast<std::size_t>(i * m * b + j)] = A.vals[static_cast<std::size_t>(k)];
        is_there[static_cast<std::size_t>(i / b * m + j / b)] = 1;
      }
    }
    Offset n_blocks = 0;
    for (const char there : is_there) n_blocks += there;
    EXPECT_EQ(blocks.n_blocks(), n_blocks);
    for (LocalIndex i = 0; i < n; ++i) {
      for (Offset k = blocks.begin(i); k < blocks.end(i); ++k) {
        const LocalIndex j = blocks.cols[static_cast<std::size_t>(k)];
        if (k > blocks.begin(i)) {
          EXPECT_LT(blocks.cols[static_cast<std::size_t>(k) - 1], j);
        }
        for (LocalIndex e = 0; e < b * b; ++e) {
          got[static_cast<std::size_t>((i * b + e / b) * m * b + j * b + e % b)] =
              blocks.vals[static_cast<std::size_t>(k) * blocks.block_entries() +
                          static_cast<std::size_t>(e)];
        }
      }
    }
    EXPECT_EQ(got, expected);
  });
}

TYPED_TEST(BsrOf, ProductsAreThoseByRows) {
  using T = TypeParam;
  for_each_shape([](int b, LocalIndex n, LocalIndex m) {
    const Csr<T> A = small_matrix<T>(n * b, m * b, 2);
    const Bsr<T> blocks = to_bsr(A, b);
    const std::vector<T> x = small_vector<T>(m * b, 3);
    const std::vector<T> rhs = small_vector<T>(n * b, 4);
    std::vector<T> expected(rhs.size()), got(rhs.size(), T{99});
    spmv<T>(A, x, expected);
    bsr_multiply<T>(blocks, x, got);
    EXPECT_EQ(got, expected);
    residual<T>(A, x, rhs, expected);
    bsr_residual<T>(blocks, x, rhs, got);
    EXPECT_EQ(got, expected);
    got = rhs;
    bsr_residual<T>(blocks, x, got, got);
    EXPECT_EQ(got, expected);
    std::vector<LocalIndex> some, rows;  // of the blocks, and their rows
    for (LocalIndex i = 0; i < n; i += 2) some.push_back(i);
    for (const LocalIndex i : some) {
      for (LocalIndex r = 0; r < b; ++r) rows.push_back(i * b + r);
    }
    got = expected = rhs;
    spmv_add_rows<T>(T{-2}, A, rows, x, expected);
    bsr_add_rows<T>(T{-2}, blocks, some, x, got);
    EXPECT_EQ(got, expected);
  });
}

TYPED_TEST(BsrOf, ProductsWithSeveralVectorsAreThoseByRows) {
  using T = TypeParam;
  for_each_shape([](int b, LocalIndex n, LocalIndex m) {
    const Csr<T> A = small_matrix<T>(n * b, m * b, 5);
    const Bsr<T> blocks = to_bsr(A, b);
    std::vector<LocalIndex> last, rows;
    if (n > 0) last.push_back(n - 1);
    for (LocalIndex r = (n - 1) * b; r < n * b && n > 0; ++r) rows.push_back(r);
    for (const int width : {1, 2, 3, 4, 7, 8}) {
      const std::vector<T> X = small_vector<T>(m * b * width, 6);
      std::vector<T> expected(static_cast<std::size_t>(n * b * width)), got(expected.size(), T{9});
      spmm<T>(A, X, expected, width);
      bsr_multiply<T>(blocks, X, got, width);
      EXPECT_EQ(got, expected) << b << " " << width;
      spmm_add_rows<T>(A, rows, X, expected, width);
      bsr_add_rows<T>(T{1}, blocks, last, X, got, width);
      EXPECT_EQ(got, expected) << b << " " << width;
    }
  });
}

TYPED_TEST(BsrOf, TakesNewValuesInTheSamePlaces) {
  using T = TypeParam;
  Csr<T> A = small_matrix<T>(12, 18, 7);
  const Bsr<T> before = to_bsr(A, 3);
  for (T& v : A.vals) v = 2 * v + 1;
  const Bsr<T> after = with_values_of(before, A);
  const Bsr<T> expected = to_bsr(A, 3);
  EXPECT_EQ(after.cols, expected.cols);
  EXPECT_EQ(after.vals, expected.vals);
}

TEST(Bsr, RefusesWhatDoesNotComeInBlocks) {
  const Csr<double> A = small_matrix<double>(12, 18, 8);
  for (const int block : {0, 1, 4, 5, 7, 12}) EXPECT_THROW(to_bsr(A, block), Error) << block;
}

}  // namespace kernels_bsr_test
}  // namespace nodewise::kernels
