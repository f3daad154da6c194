// Global indices beyond 2^32 and 2^40, without the memory: small matrices whose rows and columns
// begin at a large number must behave as the same matrices at zero.
#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"

#include "dist_matrix_support.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_shifted_test {

using test::expect_equal;
using test::layouts_of;
using test::part_of;
using test::product;
using test::RandomMatrix;
using test::test_comm;
using test::TestVector;

class Shifted : public testing::TestWithParam<GlobalIndex> {};

INSTANTIATE_TEST_SUITE_P(, Shifted,
                         testing::Values(GlobalIndex{10'000'000'000}, (GlobalIndex{1} << 40) + 5,
                                         (GlobalIndex{1} << 32) - 9, GlobalIndex{1} << 61));

TEST_P(Shifted, ProductsTransposesAndSums) {
  const auto comm = test_comm();
  for (std::size_t k = 0; k < 5; ++k) {
    const Layout rows = layouts_of(comm, 18, GetParam())[k];
    const Layout cols = layouts_of(comm, 22, GetParam() / 2 + 3)[(k + 2) % 5];
    const RandomMatrix<double> A(rows, cols, 0.3, k);
    const RandomMatrix<double> B(rows, cols, 0.2, k + 10);
    expect_equal(A.dist, A.whole);
    expect_equal(transpose(A.dist), test::transposed(A.whole));
    expect_equal<double>(
        add(1.0, A.dist, 2.0, B.dist),
        {A.whole.values + 2.0 * B.whole.values, test::either(A.whole.pattern, B.whole.pattern)});
    const TestVector<double> x(cols, 1);
    const TestVector<double> b(rows, 2);
    std::vector<double> y(b.local.size());
    multiply(A.dist, x.span(), std::span<double>(y));
    EXPECT_EQ(y, part_of<double>(rows, A.whole.values * x.whole));
    residual(A.dist, x.span(), b.span(), std::span<double>(y));
    EXPECT_EQ(y, part_of<double>(rows, b.whole - A.whole.values * x.whole));
    std::vector<double> z(x.local.size());
    multiply_transposed(A.dist, b.span(), std::span<double>(z));
    EXPECT_EQ(z, part_of<double>(cols, A.whole.values.transpose() * b.whole));
  }
}

TEST_P(Shifted, MatrixAndGalerkinProducts) {
  const auto comm = test_comm();
  for (std::size_t k = 0; k < 5; ++k) {
    const Layout fine = layouts_of(comm, 18, GetParam())[k];
    const Layout coarse = layouts_of(comm, 7, GetParam() / 4 + 1)[(k + 3) % 5];
    const RandomMatrix<float> A(fine, fine, 0.2, k);
    const RandomMatrix<float> P(fine, coarse, 0.3, k + 10);
    const auto AP = product(A.whole, P.whole);
    expect_equal(multiply(A.dist, P.dist), AP);
    expect_equal(galerkin_product(A.dist, P.dist), product(test::transposed(P.whole), AP));
  }
}

TEST_P(Shifted, SymmetryAndDiagonal) {
  const auto comm = test_comm();
  for (const Layout& layout : layouts_of(comm, 20, GetParam())) {
    for (const bool symmetric : {true, false}) {
      const auto A = matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&& emit) {
        emit(i, static_cast<double>(i - layout.first()) + 0.5);
        if (i > layout.first()) emit(i - 1, symmetric ? -1.0 : -1.0000001);
        if (i + 1 < layout.last()) emit(i + 1, -1.0);
      });
      EXPECT_EQ(is_symmetric(A), symmetric);
      const auto d = diagonal(A);
      for (LocalIndex i = 0; i < A.n_local(); ++i) {
        EXPECT_EQ(d[static_cast<std::size_t>(i)],
                  static_cast<double>(layout.to_global(i) - layout.first()) + 0.5);
      }
    }
  }
}

TEST_P(Shifted, AssemblyFromAnyRank) {
  const auto comm = test_comm();
  for (const Layout& rows : layouts_of(comm, 6, GetParam())) {
    const Layout cols = test::random_layout(comm, 8, 3, 2 * (GetParam() / 2) + 11);
    Assembler<double> assembler(rows, cols);
    test::Whole<double> whole{test::Dense<double>(6, 8), test::Dense<int>(6, 8)};
    for (GlobalIndex i = 0; i < 6; ++i) {
      const GlobalIndex j = (3 * i + 1) % 8;
      assembler.add(rows.first() + i, cols.first() + j, static_cast<double>(i));
      if (comm->is_root()) assembler.set(rows.first() + i, cols.first() + j, 100.0);
      whole.values(i, j) = 100.0 + static_cast<double>(i * comm->size());
      whole.pattern(i, j) = 1;
    }
    expect_equal(assembler.finish(), whole);
  }
}

// The whole range in one layout: a billion rows a rank, of which nobody holds more than a few.
TEST(WideLayout, GhostsFarApart) {
  const auto comm = test_comm();
  const int p = comm->size();
  // Rows are few; columns spread over 10^9 for each rank, as long as 31 bits last.
  const Layout rows = Layout::uniform(comm, 2 * p);
  const Layout cols = Layout::uniform(comm, GlobalIndex{1'000'000'000} * p);
  const GlobalIndex stride = 999'999'937;
  Assembler<double> assembler(rows, cols);
  for (GlobalIndex i = 0; i < 2 * p; ++i) {
    assembler.add(i, i * stride % cols.n_global(), 1.0);
    assembler.add(i, cols.last() - 1 - i, 2.0);
  }
  const auto A = assembler.finish();
  test::expect_invariants(A);
  EXPECT_EQ(A.nnz_global(), 4 * p);
  test::for_each_entry(A, [&](GlobalIndex i, GlobalIndex j, double value) {
    EXPECT_EQ(value, j == cols.last() - 1 - i ? 2.0 * p : 1.0 * p);
  });
}

}  // namespace matrix_shifted_test
}  // namespace nodewise::matrix
