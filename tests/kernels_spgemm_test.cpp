// Products of two and three local matrices, against plain dense references.
#include <algorithm>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "nodewise/kernels/direct_columns.hpp"
#include "nodewise/kernels/known_product.hpp"
#include "nodewise/kernels/point_product.hpp"
#include "nodewise/kernels/spgemm.hpp"

#include "local_matrix.hpp"

namespace nodewise::kernels {
namespace kernels_spgemm_test {

using test::Dense;
using test::expect_same_bits;
using test::expect_sorted_rows;
using test::expect_well_formed;
using test::from_rows;
using test::random_csr;
using test::small_value;
using test::to_dense;

template <class T>
class Spgemm : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Spgemm, Values);

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

TYPED_TEST(Spgemm, EmptyMatrices) {
  for (const LocalIndex rows : {0, 4}) {
    for (const LocalIndex cols : {0, 3}) {
      const Csr<TypeParam> C = product(Csr<TypeParam>(rows, cols), Csr<TypeParam>(cols, rows));
      EXPECT_EQ(C.n_rows, rows);
      EXPECT_EQ(C.n_cols, rows);
      EXPECT_EQ(C.nnz(), 0);
      expect_well_formed(C);
    }
  }
}

TYPED_TEST(Spgemm, ProductOfRandomMatrices) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto n = static_cast<LocalIndex>(1 + hash64(seed, 1) % 90);
    const auto m = static_cast<LocalIndex>(1 + hash64(seed, 2) % 90);
    const auto k = static_cast<LocalIndex>(1 + hash64(seed, 3) % 90);
    const Csr<TypeParam> A = random_csr<TypeParam>(n, m, 0.04 * static_cast<double>(seed), seed);
    const Csr<TypeParam> B = random_csr<TypeParam>(m, k, 0.1, seed + 100);
    const Csr<TypeParam> C = product(A, B);
    expect_well_formed(C);
    expect_sorted_rows(C);
    EXPECT_EQ(C.n_cols, k);
    EXPECT_EQ(to_dense(C), to_dense(A) * to_dense(B));
  }
}

// The first operand split in on- and off-process columns, the second in on, off and ghost rows.
template <class T>
struct Pieces {
  Csr<T> A_on = random_csr<T>(30, 12, 0.3, 1);
  Csr<T> A_off = random_csr<T>(30, 9, 0.2, 2);
  Csr<T> B_on = random_csr<T>(12, 14, 0.3, 3);
  Csr<T> B_off = random_csr<T>(12, 5, 0.3, 4);
  Csr<T> B_ghost = random_csr<T>(9, 25, 0.3, 5);  // numbers columns 19 .. 24

  ExtendedRows<T> A() const {
    return {.on = &A_on, .off = &A_off, .ghost = nullptr, .off_shift = 12, .n_cols = 21};
  }
  ExtendedRows<T> B() const {
    return {.on = &B_on, .off = &B_off, .ghost = &B_ghost, .off_shift = 14, .n_cols = 25};
  }
  Dense<T> dense_A() const {
    Dense<T> left(30, 21);
    left.put(0, 0, to_dense(A_on));
    left.put(0, 12, to_dense(A_off));
    return left;
  }
  Dense<T> dense_B() const {
    Dense<T> right(21, 25);
    right.put(0, 0, to_dense(B_on));
    right.put(0, 14, to_dense(B_off));
    right.put(12, 0, to_dense(B_ghost));
    return right;
  }
};

TYPED_TEST(Spgemm, ProductOfMatricesInPieces) {
  const Pieces<TypeParam> p;
  const Csr<TypeParam> C = spgemm(p.A(), 30, p.B());
  expect_well_formed(C);
  expect_sorted_rows(C);
  EXPECT_EQ(to_dense(C), p.dense_A() * p.dense_B());
}

// Space is reserved by looking at every 64th row: here those are the shortest, then the longest.
TYPED_TEST(Spgemm, ProductWhoseSampledRowsMislead) {
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
    expect_sorted_rows(C);
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
TYPED_TEST(Spgemm, ProductWithOneVeryLongLastRow) {
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
  expect_sorted_rows(C);
  EXPECT_EQ(C.row_ptr, (SharedArray<Offset>{0, 0, 0, n}));
  EXPECT_EQ(C.vals, Array<TypeParam>(n, TypeParam{5}));
}

// Not a number survives: 0 * NaN must not be skipped.
TYPED_TEST(Spgemm, ProductKeepsNotANumber) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto A = from_rows<TypeParam>({{{0, TypeParam{0}}}}, 1);
  const auto B = from_rows<TypeParam>({{{0, nan}}}, 1);
  const auto C = product(A, B);
  ASSERT_EQ(C.nnz(), 1);
  EXPECT_TRUE(std::isnan(C.vals[0]));
}

// Rows of every length around the switches of the sorting algorithm.
TYPED_TEST(Spgemm, SortsRowsOfEveryLength) {
  constexpr LocalIndex n_cols = 500;
  for (LocalIndex length = 0; length < 140; ++length) {
    std::vector<std::vector<std::pair<LocalIndex, TypeParam>>> rows(1);
    for (LocalIndex k = 0; k < length; ++k) {
      // 499 is prime: the columns are distinct and in no order.
      rows[0].emplace_back((37 * k + 11 * length) % 499, static_cast<TypeParam>(k + 1));
    }
    const Csr<TypeParam> B = from_rows<TypeParam>(rows, n_cols);
    const Csr<TypeParam> C = product(from_rows<TypeParam>({{{0, TypeParam{2}}}}, 1), B);
    ASSERT_EQ(C.nnz(), length);
    expect_well_formed(C);
    expect_sorted_rows(C);
    Dense<TypeParam> twice = to_dense(B);
    EXPECT_EQ(to_dense(C), to_dense(from_rows<TypeParam>({{{0, TypeParam{2}}}}, 1)) * twice);
  }
}

TYPED_TEST(Spgemm, TripleProductOfRandomMatrices) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto n = static_cast<LocalIndex>(1 + hash64(seed, 1) % 90);
    const auto m = static_cast<LocalIndex>(1 + hash64(seed, 2) % 90);
    const auto density = 0.03 * static_cast<double>(seed);
    const Csr<TypeParam> L = random_csr<TypeParam>(n, m, 0.1, seed);
    const Csr<TypeParam> A = random_csr<TypeParam>(m, m, density, seed + 100);
    const Csr<TypeParam> B = random_csr<TypeParam>(m, n, 0.1, seed + 200);
    const Csr<TypeParam> none(m, 0);
    const Csr<TypeParam> C = triple_product(L, whole(A, none), whole(B, none));
    expect_well_formed(C);
    expect_sorted_rows(C);
    EXPECT_EQ(C.n_rows, n);
    EXPECT_EQ(C.n_cols, n);
    EXPECT_EQ(to_dense(C), to_dense(L) * (to_dense(A) * to_dense(B)));
  }
}

TYPED_TEST(Spgemm, TripleProductOfMatricesInPieces) {
  const Csr<TypeParam> L = random_csr<TypeParam>(17, 30, 0.2, 6);
  const Pieces<TypeParam> p;
  const Csr<TypeParam> C = triple_product(L, p.A(), p.B());
  expect_well_formed(C);
  expect_sorted_rows(C);
  EXPECT_EQ(to_dense(C), to_dense(L) * (p.dense_A() * p.dense_B()));
}

TYPED_TEST(Spgemm, TripleProductOfEmptyMatrices) {
  const Csr<TypeParam> none(0, 0);
  for (const LocalIndex n : {0, 5}) {
    for (const LocalIndex m : {0, 3}) {
      const Csr<TypeParam> L(n, m), A(m, m), B(m, n);
      const Csr<TypeParam> C = triple_product(L, {.on = &A, .n_cols = m}, {.on = &B, .n_cols = n});
      EXPECT_EQ(C.n_rows, n);
      EXPECT_EQ(C.n_cols, n);
      EXPECT_EQ(C.nnz(), 0);
      expect_well_formed(C);
    }
  }
}

/// The first `most` entries of every row.
template <class T>
Csr<T> first_entries(const Csr<T>& A, Offset most) {
  Csr<T> B(A.n_rows, A.n_cols);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    for (Offset k = A.begin(i); k < std::min(A.end(i), A.begin(i) + most); ++k) {
      B.cols.push_back(A.cols[static_cast<std::size_t>(k)]);
      B.vals.push_back(A.vals[static_cast<std::size_t>(k)]);
    }
    B.row_ptr[static_cast<std::size_t>(i) + 1] = std::ssize(B.vals);
  }
  return B;
}

/// The values of L A B = C again, with and without known places of terms, are those of C.
template <class T>
void expect_same_values(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                        const Csr<T>& C, std::span<const LocalIndex> direct = {},
                        const ShortRows<T>* short_rows = nullptr) {
  const TermPlaces terms(L, A, KnownRows<T>{.on = &C}, direct, B.n_cols);
  EXPECT_FALSE(terms.is_empty());
  for (const TermPlaces* known : {static_cast<const TermPlaces*>(nullptr), &terms}) {
    Array<T> values(C.vals.size(), T{7});
    triple_product_values<T>(L, A, B, {.on = &C}, values.data(), nullptr, 1,
                             {direct, known, short_rows});
    expect_same_bits(values, C.vals);
  }
}

// Rows of B of up to four entries, all of them in one piece or two each in two, and longer ones.
TYPED_TEST(Spgemm, ValuesOfATripleProductWithShortRowsHaveItsBits) {
  const Csr<TypeParam> L = random_csr<TypeParam>(17, 30, 0.2, 6);
  for (const Offset most : {0, 1, 2, 3}) {
    Pieces<TypeParam> p;
    p.B_on = first_entries(p.B_on, most);
    p.B_off = first_entries(p.B_off, most);
    p.B_ghost = first_entries(p.B_ghost, 2 * most);
    // Values that are rounded, zeros of both signs, and what no zero makes zero.
    for (auto piece : {&Pieces<TypeParam>::A_on, &Pieces<TypeParam>::B_on}) {
      for (TypeParam& value : (p.*piece).vals) value /= TypeParam{3};
    }
    if (!p.B_ghost.vals.empty()) p.B_ghost.vals[0] = std::numeric_limits<TypeParam>::infinity();
    const Csr<TypeParam> C = triple_product(L, p.A(), p.B());
    const ShortRows<TypeParam> short_rows(p.B());
    EXPECT_EQ(short_rows.is_empty(), most == 3);
    expect_same_values<TypeParam>(L, p.A(), p.B(), C, {}, &short_rows);
  }
}

// The values of a triple product in pieces, with and without known places of terms.
TYPED_TEST(Spgemm, ValuesOfATripleProductHaveItsBits) {
  const Csr<TypeParam> L = random_csr<TypeParam>(17, 30, 0.2, 6);
  Pieces<TypeParam> p;
  for (auto piece : {&Pieces<TypeParam>::A_on, &Pieces<TypeParam>::A_off, &Pieces<TypeParam>::B_on,
                     &Pieces<TypeParam>::B_off, &Pieces<TypeParam>::B_ghost}) {
    for (TypeParam& value : (p.*piece).vals) value /= TypeParam{3};
  }
  const Csr<TypeParam> C = triple_product(L, p.A(), p.B());
  expect_same_values<TypeParam>(L, p.A(), p.B(), C);
}

/// B in pieces of which most rows have a one and nothing else, several of them in one column.
template <class T>
Pieces<T> with_direct_rows() {
  Pieces<T> p;
  const auto make_direct = [](Csr<T>& B, LocalIndex i, LocalIndex column) {
    std::vector<std::vector<std::pair<LocalIndex, T>>> rows(static_cast<std::size_t>(B.n_rows));
    for (LocalIndex r = 0; r < B.n_rows; ++r) {
      auto& row = rows[static_cast<std::size_t>(r)];
      for (Offset k = B.begin(r); k < B.end(r) && r != i; ++k) {
        row.emplace_back(B.cols[static_cast<std::size_t>(k)], B.vals[static_cast<std::size_t>(k)]);
      }
      if (r == i && column >= 0) row.emplace_back(column, T{1});
    }
    B = from_rows<T>(rows, B.n_cols);
  };
  for (const LocalIndex i : {1, 2, 4, 7, 9}) {  // in columns of their own
    make_direct(p.B_on, i, i + 2);
    make_direct(p.B_off, i, -1);
  }
  for (const LocalIndex i : {3, 8}) {  // in one column of the other piece
    make_direct(p.B_on, i, -1);
    make_direct(p.B_off, i, 2);
  }
  for (const LocalIndex i : {0, 6}) make_direct(p.B_ghost, i, 9);  // in the column of a row above
  for (const LocalIndex i : {2, 5}) make_direct(p.B_ghost, i, 19 + i);
  make_direct(p.B_ghost, 3, -1);  // nothing at all
  return p;
}

TYPED_TEST(Spgemm, RowsOfTheIdentityAreFound) {
  const auto p = with_direct_rows<TypeParam>();
  const LocalIndex none = p.B().n_cols;
  std::vector<LocalIndex> expected(21, none);
  for (const std::size_t i : {1, 2, 4, 7, 9}) expected[i] = static_cast<LocalIndex>(i) + 2;
  expected[3] = 14 + 2;  // and not 8: the first one only
  expected[12 + 2] = 21;
  expected[12 + 5] = 24;
  const Array<LocalIndex> direct = direct_columns(p.B());
  EXPECT_EQ(std::vector<LocalIndex>(direct.begin(), direct.end()), expected);
  const auto others = from_rows<TypeParam>(
      {{{1, TypeParam{2}}}, {{0, TypeParam{1}}, {1, TypeParam{1}}}, {}, {{0, TypeParam{1}}}}, 2);
  EXPECT_EQ(direct_columns<TypeParam>({.on = &others, .n_cols = 2}),
            (Array<LocalIndex>{2, 2, 2, 0}));
}

TYPED_TEST(Spgemm, TripleProductWithRowsOfTheIdentity) {
  const Csr<TypeParam> L = random_csr<TypeParam>(17, 30, 0.2, 6);
  auto p = with_direct_rows<TypeParam>();
  const Array<LocalIndex> direct = direct_columns(p.B());
  const Csr<TypeParam> C = triple_product(L, p.A(), p.B(), 1, direct);
  expect_well_formed(C);
  expect_sorted_rows(C);
  EXPECT_EQ(to_dense(C), to_dense(L) * (p.dense_A() * p.dense_B()));
  for (auto piece : {&Pieces<TypeParam>::A_on, &Pieces<TypeParam>::A_off}) {
    for (TypeParam& value : (p.*piece).vals) value /= TypeParam{3};
  }
  const Csr<TypeParam> rounded = triple_product(L, p.A(), p.B(), 1, direct);
  expect_same_values<TypeParam>(L, p.A(), p.B(), rounded, direct);
}

// The places of terms have 16 bits, and five are taken by a row of the product with one entry and
// what fills up short rows: the longest row for which they are enough, and one more.
TYPED_TEST(Spgemm, ValuesOfATripleProductWithVeryLongRows) {
  for (const LocalIndex n : {65531, 65532}) {
    std::vector<std::vector<std::pair<LocalIndex, TypeParam>>> row(1), column;
    for (LocalIndex j = 0; j < n; ++j) {
      row[0].emplace_back(j, TypeParam{1});
      column.push_back({{0, TypeParam{2}}});
    }
    const Csr<TypeParam> L = from_rows<TypeParam>({{{0, TypeParam{1}}}}, 1);
    const Csr<TypeParam> A = from_rows<TypeParam>(row, n), B = from_rows<TypeParam>(column, 1);
    const ExtendedRows<TypeParam> middle{.on = &A, .n_cols = n}, right{.on = &B, .n_cols = 1};
    const Csr<TypeParam> C = triple_product(L, middle, right);
    const TermPlaces terms(L, middle, KnownRows<TypeParam>{.on = &C}, {}, 1);
    EXPECT_EQ(terms.is_empty(), n == 65532);
    TypeParam value{};
    triple_product_values<TypeParam>(L, middle, right, {.on = &C}, &value, nullptr, 1,
                                     {.terms = &terms});
    EXPECT_EQ(value, static_cast<TypeParam>(2 * n));
  }
}

TYPED_TEST(Spgemm, MissingPlacesAreFound) {
  const Csr<TypeParam> L = random_csr<TypeParam>(17, 30, 0.2, 6);
  const Pieces<TypeParam> p;
  Csr<TypeParam> product = spgemm(p.A(), 30, p.B());
  Csr<TypeParam> triple = triple_product(L, p.A(), p.B());
  EXPECT_TRUE(has_places_for<TypeParam>({.on = &product}, p.A(), p.B()));
  EXPECT_TRUE(has_places_for<TypeParam>({.on = &triple}, L, p.A(), p.B()));
  for (Csr<TypeParam>* C : {&product, &triple}) {  // without its last entry
    ASSERT_GT(C->end(C->n_rows - 1), C->begin(C->n_rows - 1));
    C->row_ptr[static_cast<std::size_t>(C->n_rows)] -= 1;
  }
  EXPECT_FALSE(has_places_for<TypeParam>({.on = &product}, p.A(), p.B()));
  EXPECT_FALSE(has_places_for<TypeParam>({.on = &triple}, L, p.A(), p.B()));
}

// Every entry of a pattern as a dense block, of values that are rounded in products or of small
// integers.
template <class T>
Csr<T> in_blocks(const Csr<T>& pattern, LocalIndex rows, LocalIndex cols, bool rounded) {
  Csr<T> A(pattern.n_rows * rows, pattern.n_cols * cols);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    for (Offset k = pattern.begin(i / rows); k < pattern.end(i / rows); ++k) {
      for (LocalIndex c = 0; c < cols; ++c) {
        const LocalIndex j = pattern.cols[static_cast<std::size_t>(k)] * cols + c;
        const T value = small_value<T>(i, j, 5);
        A.cols.push_back(j);
        A.vals.push_back(rounded ? value / T{3} : value);
      }
    }
    A.row_ptr[static_cast<std::size_t>(i) + 1] = std::ssize(A.vals);
  }
  return A;
}

// L, A and B as the pieces of a distributed matrix are, coarse rows and columns in points.
template <class T>
struct PointPieces {
  PointPieces(LocalIndex K, bool rounded)
      : L(in_blocks(random_csr<T>(7, 30, 0.2, 1), K, 1, rounded)),
        A_on(in_blocks(random_csr<T>(30, 12, 0.3, 2), 1, 1, rounded)),
        A_off(in_blocks(random_csr<T>(30, 9, 0.2, 3), 1, 1, rounded)),
        B_on(in_blocks(random_csr<T>(12, 8, 0.3, 4), 1, K, rounded)),
        B_off(in_blocks(random_csr<T>(12, 5, 0.3, 5), 1, K, rounded)),
        B_ghost(in_blocks(random_csr<T>(9, 16, 0.3, 6), 1, K, rounded)) {}

  ExtendedRows<T> A() const {
    return {.on = &A_on, .off = &A_off, .ghost = nullptr, .off_shift = 12, .n_cols = 21};
  }
  ExtendedRows<T> B() const {
    const LocalIndex n_cols = B_ghost.n_cols;
    return {
        .on = &B_on, .off = &B_off, .ghost = &B_ghost, .off_shift = B_on.n_cols, .n_cols = n_cols};
  }
  Dense<T> product() const {
    Dense<T> left(30, 21), right(21, B_ghost.n_cols);
    left.put(0, 0, to_dense(A_on));
    left.put(0, 12, to_dense(A_off));
    right.put(0, 0, to_dense(B_on));
    right.put(0, B_on.n_cols, to_dense(B_off));
    right.put(12, 0, to_dense(B_ghost));
    return to_dense(L) * (left * right);
  }

  Csr<T> L, A_on, A_off, B_on, B_off, B_ghost;
};

TYPED_TEST(Spgemm, TripleProductByPointsHasTheBitsOfThatByRows) {
  for (int K = 2; K <= 6; ++K) {
    for (const bool rounded : {false, true}) {
      const PointPieces<TypeParam> p(K, rounded);
      ASSERT_TRUE(comes_in_points(K, p.L, p.B()));
      const Csr<TypeParam> by_rows = triple_product(p.L, p.A(), p.B());
      const Csr<TypeParam> C = triple_product(p.L, p.A(), p.B(), K);
      expect_well_formed(C);
      expect_sorted_rows(C);
      EXPECT_EQ(C.row_ptr, by_rows.row_ptr);
      EXPECT_EQ(C.cols, by_rows.cols);
      expect_same_bits(C.vals, by_rows.vals);
      if (!rounded) {
        EXPECT_EQ(to_dense(C), p.product());
      }
      Array<TypeParam> values(C.vals.size(), TypeParam{7});
      ASSERT_TRUE(comes_in_points(K, KnownRows<TypeParam>{.on = &C}));
      triple_product_values<TypeParam>(p.L, p.A(), p.B(), {.on = &C}, values.data(), nullptr, K);
      expect_same_bits(values, by_rows.vals);
    }
  }
}

TYPED_TEST(Spgemm, WhatComesInPointsIsFoundOut) {
  const PointPieces<TypeParam> p(3, false);
  const auto come = [&](const Csr<TypeParam>& L, const ExtendedRows<TypeParam>& B) {
    return comes_in_points(3, L, B);
  };
  EXPECT_TRUE(come(p.L, p.B()));
  for (const int unknowns : {0, 1, 2, 4, 6, 7, 9}) {
    EXPECT_FALSE(comes_in_points(unknowns, p.L, p.B()));
    expect_same_bits(triple_product(p.L, p.A(), p.B(), unknowns).vals,
                     triple_product(p.L, p.A(), p.B()).vals);
  }
  PointPieces<TypeParam> other(3, false);
  other.L.cols[static_cast<std::size_t>(other.L.end(1)) - 1] += 1;  // in one row of a point
  EXPECT_FALSE(come(other.L, p.B()));
  for (auto piece : {&PointPieces<TypeParam>::B_on, &PointPieces<TypeParam>::B_off,
                     &PointPieces<TypeParam>::B_ghost}) {
    PointPieces<TypeParam> shifted(3, false);
    for (LocalIndex& col : (shifted.*piece).cols) ++col;
    EXPECT_FALSE(come(p.L, shifted.B()));
    PointPieces<TypeParam> permuted(3, false);
    std::swap((permuted.*piece).cols[0], (permuted.*piece).cols[1]);
    EXPECT_FALSE(come(p.L, permuted.B()));
  }
  EXPECT_FALSE(come(random_csr<TypeParam>(7, 30, 0.2, 1), p.B()));  // seven rows
  EXPECT_TRUE(come(Csr<TypeParam>(6, 30), p.B()));
}

}  // namespace kernels_spgemm_test
}  // namespace nodewise::kernels
