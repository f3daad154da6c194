// Products block by block, against plain dense references. Entries are small integers, so that
// every order of the additions gives the same.
#include <gtest/gtest.h>

#include "nodewise/kernels/block_product.hpp"
#include "nodewise/kernels/csr_ops.hpp"

#include "local_matrix.hpp"

namespace nodewise::kernels {
namespace kernels_block_product_test {

using test::Dense;
using test::expect_same_bits;
using test::random_csr;
using test::small_value;
using test::to_dense;

constexpr std::pair<int, int> sizes[] = {{2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {2, 3}, {3, 6}};

/// Every entry of a pattern as a dense block.
template <class T>
Csr<T> full_blocks(const Csr<T>& pattern, LocalIndex rows, LocalIndex cols) {
  Csr<T> A(pattern.n_rows * rows, pattern.n_cols * cols);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    for (Offset k = pattern.begin(i / rows); k < pattern.end(i / rows); ++k) {
      for (LocalIndex c = 0; c < cols; ++c) {
        const LocalIndex j = pattern.cols[static_cast<std::size_t>(k)] * cols + c;
        A.cols.push_back(j);
        A.vals.push_back(small_value<T>(i, j, 5));
      }
    }
    A.row_ptr[static_cast<std::size_t>(i) + 1] = std::ssize(A.vals);
  }
  return A;
}

/// The matrices of a rank that has 12 points and 9 ghost points, in blocks of B rows, and of P of K
/// columns. Blocks of A have one to B B entries.
template <class T>
struct Pieces {
  Pieces(LocalIndex B, LocalIndex K)
      : on(random_csr<T>(12 * B, 12 * B, 0.1, 2)),
        off(random_csr<T>(12 * B, 9 * B, 0.05, 3)),
        on_blocks(to_bsr(on, B)),
        off_blocks(to_bsr(off, B)),
        P_on(full_blocks(random_csr<T>(12, 8, 0.3, 4), B, K)),
        P_off(full_blocks(random_csr<T>(12, 5, 0.3, 5), B, K)),
        P_ghost(full_blocks(random_csr<T>(9, 16, 0.3, 6), B, K)) {}

  BlockRows<T> A() const { return {.on = &on_blocks, .off = &off_blocks, .off_shift = 12}; }
  ExtendedRows<T> P() const {
    return {.on = &P_on,
            .off = &P_off,
            .ghost = &P_ghost,
            .off_shift = P_on.n_cols,
            .n_cols = P_ghost.n_cols};
  }
  Dense<T> own_P() const {
    Dense<T> P(on.n_rows, P_ghost.n_cols);
    P.put(0, 0, to_dense(P_on));
    P.put(0, P_on.n_cols, to_dense(P_off));
    return P;
  }
  Dense<T> AP() const {
    Dense<T> A(on.n_rows, on.n_cols + off.n_cols), P(A.cols(), P_ghost.n_cols);
    A.put(0, 0, to_dense(on));
    A.put(0, on.n_cols, to_dense(off));
    P.put(0, 0, own_P());
    P.put(on.n_rows, 0, to_dense(P_ghost));
    return A * P;
  }

  Csr<T> on, off;
  Bsr<T> on_blocks, off_blocks;
  Csr<T> P_on, P_off, P_ghost;
};

/// A rank by itself, whose P has no other columns than its own.
template <class T>
ExtendedRows<T> alone(const Csr<T>& P) {
  return {.on = &P, .n_cols = P.n_cols};
}

template <class T>
class BlockProduct : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(BlockProduct, Types);

TYPED_TEST(BlockProduct, TripleProductIsThatOfTheReference) {
  for (const auto& [B, K] : sizes) {
    const Pieces<TypeParam> p(B, K);
    ASSERT_TRUE(comes_in_blocks(K, p.A(), p.P()));
    for (const Csr<TypeParam>* part : {&p.P_on, &p.P_off}) {
      ASSERT_TRUE(comes_in_blocks(K, B, *part));
      const Csr<TypeParam> C = block_triple_product(K, *part, p.A(), p.P());
      test::expect_well_formed(C);
      test::expect_sorted_rows(C);
      EXPECT_EQ(to_dense(C), to_dense(*part).transpose() * p.AP());
      const ExtendedRows<TypeParam> A = {
          .on = &p.on, .off = &p.off, .off_shift = p.on.n_cols, .n_cols = 21 * B};
      const Csr<TypeParam> by_rows = triple_product(transpose(*part), A, p.P());
      EXPECT_EQ(C.row_ptr, by_rows.row_ptr);
      EXPECT_EQ(C.cols, by_rows.cols);
    }
  }
}

TYPED_TEST(BlockProduct, ValuesHaveTheBitsOfTheProduct) {
  for (const auto& [B, K] : sizes) {
    Pieces<TypeParam> p(B, K);
    for (Bsr<TypeParam>* A : {&p.on_blocks, &p.off_blocks}) {
      for (TypeParam& a : A->vals) a /= TypeParam{3};  // so that sums are rounded
    }
    const Csr<TypeParam> C = block_triple_product(K, p.P_on, p.A(), p.P());
    Array<TypeParam> values(C.vals.size(), TypeParam{7});
    block_triple_product_values<TypeParam>(K, p.P_on, p.A(), p.P(), {.on = &C}, values.data(),
                                           nullptr);
    expect_same_bits(values, C.vals);
  }
}

TYPED_TEST(BlockProduct, SmoothedRowsAreThoseOfTheReference) {
  for (const auto& [B, K] : sizes) {
    const Pieces<TypeParam> p(B, K);
    std::vector<TypeParam> factors;
    for (LocalIndex i = 0; i < p.on.n_rows; ++i) {
      factors.push_back(small_value<TypeParam>(i, 0, 8));
    }
    const Csr<TypeParam> S =
        block_smoothed_rows(K, p.A(), std::span<const TypeParam>(factors), p.P());
    test::expect_well_formed(S);
    test::expect_sorted_rows(S);
    EXPECT_TRUE(comes_in_blocks(K, B, S));
    Dense<TypeParam> expected = p.AP();
    const Dense<TypeParam> own = p.own_P();
    for (GlobalIndex i = 0; i < expected.rows(); ++i) {
      for (GlobalIndex j = 0; j < expected.cols(); ++j) {
        expected(i, j) = own(i, j) + factors[static_cast<std::size_t>(i)] * expected(i, j);
      }
    }
    EXPECT_EQ(to_dense(S), expected);
  }
}

TYPED_TEST(BlockProduct, MatricesWithoutRowsOrEntries) {
  const Csr<TypeParam> none(0, 0), nothing(6, 6), P(6, 12);
  const Bsr<TypeParam> no_blocks = to_bsr(none, 3), empty = to_bsr(nothing, 3);
  const Csr<TypeParam> no_P(0, 12);
  EXPECT_TRUE(comes_in_blocks(6, {.on = &no_blocks}, alone(no_P)));
  EXPECT_EQ(block_triple_product(6, no_P, {.on = &no_blocks}, alone(no_P)).n_rows, 12);
  EXPECT_TRUE(comes_in_blocks(6, {.on = &empty}, alone(P)));
  EXPECT_EQ(block_triple_product(6, P, {.on = &empty}, alone(P)).nnz(), 0);
  const std::vector<TypeParam> factors(6, TypeParam{1});
  EXPECT_EQ(block_smoothed_rows<TypeParam>(6, {.on = &empty}, std::span(factors), alone(P)).nnz(),
            0);
}

TYPED_TEST(BlockProduct, WhatComesInBlocksIsFoundOut) {
  using T = TypeParam;
  const Pieces<T> p(3, 6);
  EXPECT_TRUE(comes_in_blocks(6, p.A(), p.P()));
  for (const int unknowns : {0, 1, 2, 4, 5, 7, 12}) {
    EXPECT_FALSE(comes_in_blocks(unknowns, p.A(), p.P())) << unknowns;
    EXPECT_FALSE(comes_in_blocks(unknowns, 3, p.P_on)) << unknowns;
  }
  for (auto piece : {&Pieces<T>::P_on, &Pieces<T>::P_off, &Pieces<T>::P_ghost}) {
    Pieces<T> shifted(3, 6);
    for (LocalIndex& col : (shifted.*piece).cols) ++col;
    EXPECT_FALSE(comes_in_blocks(6, shifted.A(), shifted.P()));
    EXPECT_FALSE(comes_in_blocks(6, 3, shifted.*piece));
    Pieces<T> of_one_row(3, 6);
    Csr<T>& part = of_one_row.*piece;
    for (LocalIndex row = 0; row < part.n_rows; row += 3) {  // its first row has other columns
      if (part.begin(row) == part.end(row)) continue;
      for (Offset k = part.begin(row); k < part.begin(row) + 6; ++k) {
        LocalIndex& col = part.cols[static_cast<std::size_t>(k)];
        col += col < 6 ? 6 : -6;
      }
      break;
    }
    EXPECT_FALSE(comes_in_blocks(6, of_one_row.A(), of_one_row.P()));
    EXPECT_FALSE(comes_in_blocks(6, 3, part));
  }
  Pieces<T> lacks_ghosts(3, 6);  // of the last ghost point
  lacks_ghosts.P_ghost = full_blocks(random_csr<T>(8, 16, 0.3, 6), 3, 6);
  EXPECT_FALSE(comes_in_blocks(6, lacks_ghosts.A(), lacks_ghosts.P()));
}

}  // namespace kernels_block_product_test
}  // namespace nodewise::kernels
