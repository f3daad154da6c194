// The Galerkin product P^T A P against a dense reference, for the shapes that break codes.
#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/recompute.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_galerkin_test {

using test::expect_equal;
using test::layouts_of;
using test::product;
using test::RandomMatrix;
using test::test_comm;
using test::Whole;

template <class T>
class Galerkin : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Galerkin, Values);

template <class T>
Whole<T> reference(const Whole<T>& A, const Whole<T>& P) {
  return product(test::transposed(P), product(A, P));
}

TYPED_TEST(Galerkin, RandomOnAllPairsOfLayouts) {
  std::uint64_t seed = 0;
  for (const Layout& fine : layouts_of(test_comm(), 24)) {
    for (const Layout& coarse : layouts_of(test_comm(), 11)) {
      ++seed;
      const RandomMatrix<TypeParam> A(fine, fine, 0.15, seed);
      // The sparser half leaves rows and columns of P empty.
      const RandomMatrix<TypeParam> P(fine, coarse, seed % 2 == 0 ? 0.3 : 0.05, seed + 100);
      const auto coarse_A = galerkin_product(A.dist, P.dist);
      expect_equal(coarse_A, reference(A.whole, P.whole));
      EXPECT_TRUE(coarse_A.rows() == coarse);
      EXPECT_TRUE(coarse_A.cols() == coarse);
    }
  }
}

TYPED_TEST(Galerkin, IdentityGivesTheMatrixBack) {
  for (const Layout& fine : layouts_of(test_comm(), 21)) {
    const RandomMatrix<TypeParam> A(fine, fine, 0.2, 9);
    const auto I = matrix_from_rows<TypeParam>(
        fine, fine, [](GlobalIndex i, auto&& emit) { emit(i, TypeParam{1}); });
    expect_equal(galerkin_product(A.dist, I), A.whole);
  }
}

// The identity between two layouts: every row of the result lives elsewhere.
TYPED_TEST(Galerkin, IdentityBetweenLayoutsMovesTheMatrix) {
  const auto layouts = layouts_of(test_comm(), 21);
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    const Layout& from = layouts[k];
    const Layout& to = layouts[(k + 2) % layouts.size()];
    const RandomMatrix<TypeParam> A(from, from, 0.2, 9);
    const auto I = matrix_from_rows<TypeParam>(
        from, to, [](GlobalIndex i, auto&& emit) { emit(i, TypeParam{1}); });
    expect_equal(galerkin_product(A.dist, I), A.whole);
  }
}

TYPED_TEST(Galerkin, CoarseSpaceOfSizeZero) {
  const Layout none = Layout::uniform(test_comm(), 0);
  for (const Layout& fine : layouts_of(test_comm(), 14)) {
    const RandomMatrix<TypeParam> A(fine, fine, 0.3, 2);
    const RandomMatrix<TypeParam> P(fine, none, 0.3, 3);
    const auto coarse = galerkin_product(A.dist, P.dist);
    EXPECT_EQ(coarse.nnz_global(), 0);
    expect_equal(coarse, reference(A.whole, P.whole));
  }
}

TYPED_TEST(Galerkin, EverythingEmpty) {
  const Layout none = Layout::uniform(test_comm(), 0);
  const RandomMatrix<TypeParam> nothing(none, none, 0.5, 2);
  expect_equal(galerkin_product(nothing.dist, nothing.dist), nothing.whole);
}

TYPED_TEST(Galerkin, ProlongationWithoutEntries) {
  const Layout fine = Layout::uniform(test_comm(), 14);
  const Layout coarse = Layout::uniform(test_comm(), 5);
  const RandomMatrix<TypeParam> A(fine, fine, 0.3, 2);
  const RandomMatrix<TypeParam> P(fine, coarse, 0.0, 3);
  expect_equal(galerkin_product(A.dist, P.dist), reference(A.whole, P.whole));
}

// One coarse point, on the last rank or wherever the layout puts it, fed by all ranks.
TYPED_TEST(Galerkin, OneCoarsePoint) {
  for (const Layout& one : layouts_of(test_comm(), 1)) {
    const Layout fine = Layout::uniform(test_comm(), 14);
    const RandomMatrix<TypeParam> A(fine, fine, 0.3, 2);
    const RandomMatrix<TypeParam> P(fine, one, 0.9, 3);
    expect_equal(galerkin_product(A.dist, P.dist), reference(A.whole, P.whole));
  }
}

/// The rows of points laid out like `points`.
Layout rows_of(const Layout& points, int unknowns) {
  std::vector<GlobalIndex> starts(points.starts().begin(), points.starts().end());
  for (GlobalIndex& start : starts) start *= unknowns;
  return {points.shared_comm(), starts};
}

// Coarse columns in points, as aggregates have them: the same as by rows, to the last bit, for new
// values, too.
TYPED_TEST(Galerkin, CoarsePoints) {
  constexpr int unknowns = 3;
  std::uint64_t seed = 0;
  for (const Layout& points : layouts_of(test_comm(), 5)) {
    ++seed;
    const Layout fine = test::random_layout(test_comm(), 24, seed);
    const Layout coarse = rows_of(points, unknowns);
    const RandomMatrix<TypeParam> random(fine, fine, 0.15, seed);
    const auto scaled = [&](double factor) {
      return random.dist.template with_type<double>().template with_type<TypeParam>(factor);
    };
    const auto P = matrix_from_rows<TypeParam>(fine, coarse, [&](GlobalIndex i, auto&& emit) {
      for (GlobalIndex j = 0; j < coarse.n_global(); ++j) {
        if (test::has_entry(i, j / unknowns, 0.3, seed)) {
          emit(j, test::small_value<TypeParam>(i, j, seed) / TypeParam{7});
        }
      }
    });
    const auto A = scaled(0.1);
    const auto C = galerkin_product(A, P, GalerkinForm::fused, unknowns);
    test::expect_same_bits(C, galerkin_product(A, P));
    GalerkinProduct<TypeParam> product(A, P, C, unknowns);
    test::expect_same_bits(product.recompute(A), C);
    const auto B = scaled(0.3);
    test::expect_same_bits(product.recompute(B), galerkin_product(B, P));
  }
}

// For a symmetric matrix of real numbers the result is symmetric to round-off.
/// Small integers in a part of the places of random blocks of `block` rows and columns.
template <class T>
DistMatrix<T> matrix_of_points(const Layout& rows, int block, std::uint64_t seed) {
  return matrix_from_rows<T>(rows, rows, [&](GlobalIndex i, auto&& emit) {
    for (GlobalIndex j = 0; j < rows.n_global(); ++j) {
      const bool in_block = test::has_entry(i / block, j / block, 0.2, seed);
      if (i == j || (in_block && test::has_entry(i, j, 0.8, seed))) {
        emit(j, test::small_value<T>(i, j, seed));
      }
    }
  });
}

struct BlockSizes {
  int block, unknowns;
};

/// Random blocks of the sizes; where they are not `full`, rows of a point in the first half differ.
template <class T>
DistMatrix<T> prolongation_of_points(const Layout& fine, const Layout& coarse, BlockSizes sizes,
                                     bool full, std::uint64_t seed) {
  return matrix_from_rows<T>(fine, coarse, [&](GlobalIndex i, auto&& emit) {
    const GlobalIndex of = full || i > fine.n_global() / 2 ? i / sizes.block : i;
    for (GlobalIndex j = 0; j < coarse.n_global(); ++j) {
      if (!test::has_entry(of, j / sizes.unknowns, 0.4, seed)) continue;
      emit(j, test::small_value<T>(i, j, seed));
    }
  });
}

/// Expects of a Galerkin product with A in blocks what the one by rows gives. Sums of small
/// integers are the same in any order.
template <class T>
void expect_product_of_rows(const DistMatrix<T>& A, const DistMatrix<T>& P, BlockSizes sizes) {
  const auto in_blocks = A.with_blocks(sizes.block);
  const auto C = galerkin_product(in_blocks, P, GalerkinForm::fused, sizes.unknowns);
  const auto by_rows = galerkin_product(A, P);
  test::expect_invariants(C);
  EXPECT_EQ(C.on().cols, by_rows.on().cols);
  EXPECT_EQ(C.off().cols, by_rows.off().cols);
  EXPECT_EQ(C.on().vals, by_rows.on().vals);
  EXPECT_EQ(C.off().vals, by_rows.off().vals);
  GalerkinProduct<T> product(in_blocks, P, C, sizes.unknowns);
  test::expect_same_bits(product.recompute(in_blocks), C);
  const DistMatrix<T> third =  // sums are rounded
      A.template with_type<double>().template with_type<T>(1 / 3.0);
  const auto B = third.with_blocks(sizes.block);
  test::expect_same_bits(product.recompute(B),
                         galerkin_product(B, P, GalerkinForm::fused, sizes.unknowns));
}

TYPED_TEST(Galerkin, Blocks) {
  std::uint64_t seed = 0;
  for (const BlockSizes sizes : {BlockSizes{3, 6}, {2, 3}, {2, 2}, {3, 4}}) {
    for (const Layout& points : layouts_of(test_comm(), 9)) {
      const Layout coarse_points = test::random_layout(test_comm(), 4, ++seed);
      const Layout fine = rows_of(points, sizes.block);
      const Layout coarse = rows_of(coarse_points, sizes.unknowns);
      const auto A = matrix_of_points<TypeParam>(fine, sizes.block, seed);
      for (const bool full : {true, false}) {
        expect_product_of_rows(
            A, prolongation_of_points<TypeParam>(fine, coarse, sizes, full, seed), sizes);
      }
    }
  }
}

TEST(GalerkinSymmetry, SymmetricStaysSymmetric) {
  const auto comm = test_comm();
  const Layout fine = test::random_layout(comm, 200, 3);
  const Layout coarse = test::random_layout(comm, 60, 4);
  const auto A = matrix_from_rows<double>(fine, fine, [](GlobalIndex i, auto&& emit) {
    for (GlobalIndex j = 0; j < 200; ++j) {
      const auto low = static_cast<std::uint64_t>(std::min(i, j));
      const auto high = static_cast<std::uint64_t>(std::max(i, j));
      const double value = hash_uniform(low, high);
      if (value < 0.05 || i == j) emit(j, std::sqrt(value) * 1e3);
    }
  });
  const auto P = matrix_from_rows<double>(fine, coarse, [](GlobalIndex i, auto&& emit) {
    for (std::uint64_t k = 0; k < 4; ++k) {
      const std::uint64_t h = hash64(static_cast<std::uint64_t>(i), k);
      emit(static_cast<GlobalIndex>(h % 60), hash_uniform(h));
    }
  });
  EXPECT_TRUE(is_symmetric(A));
  EXPECT_TRUE(is_symmetric(galerkin_product(A, P)));
}

}  // namespace matrix_galerkin_test
}  // namespace nodewise::matrix
