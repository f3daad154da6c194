// The three forms of the sparse matrix product against dense references, over every route. All
// values are small integers, so that every result is exact.
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/matrix/row_exchange.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_products_test {

using comm::Route;
using test::expect_equal;
using test::expect_same_error;
using test::layouts_of;
using test::product;
using test::RandomMatrix;
using test::test_comm;
using test::transposed;

template <class T>
class Products : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Products, Values);

/// Collective. All forms of the product of A (m x n) with B (n x k), over a route.
template <class T>
void expect_all_forms(const RandomMatrix<T>& A, const RandomMatrix<T>& B, Route route) {
  const auto expected = product(A.whole, B.whole);
  const DistMatrix<T> A_rows = A.dist.with_route(route);
  const ColumnMatrix<T> A_cols{transpose(A.dist).with_route(route)};
  const ColumnMatrix<T> B_cols{transpose(B.dist).with_route(route)};
  expect_equal(multiply(A_rows, B.dist), expected);
  const ColumnMatrix<T> by_columns = multiply(A_cols, B_cols);
  EXPECT_TRUE(by_columns.transposed.rows() == B.dist.cols());
  expect_equal(by_columns.transposed, transposed(expected));
  const DistMatrix<T> outer = multiply(A_cols, B.dist);
  EXPECT_TRUE(outer.rows() == A.dist.rows());
  expect_equal(outer, expected);
}

TYPED_TEST(Products, AllFormsOnAllLayouts) {
  const auto rows = layouts_of(test_comm(), 15);
  const auto inner = layouts_of(test_comm(), 22);
  const auto cols = layouts_of(test_comm(), 13);
  for (std::size_t k = 0; k < 25; ++k) {
    // The sparser ones leave rows, columns and whole ranks empty.
    const double density = k % 3 == 0 ? 0.04 : 0.25;
    const RandomMatrix<TypeParam> A(rows[k % 5], inner[k / 5], density, k);
    const RandomMatrix<TypeParam> B(inner[k / 5], cols[(2 * k + 1) % 5], 0.25, k + 100);
    expect_all_forms(A, B, "direct");
  }
}

/// Calls f(comm, route) for every placement of the ranks and every route.
template <class F>
void for_each_route(const F& f) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const comm::Route route : comm::RouteMethod::family()) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      f(comm, route);
    }
  }
}

TEST(ProductsByRoute, AllForms) {
  for_each_route([](const auto& comm, Route route) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const RandomMatrix<double> A(test::random_layout(comm, 18, seed + 1),
                                   test::random_layout(comm, 25, seed + 2), 0.2, seed + 3);
      const RandomMatrix<double> B(test::random_layout(comm, 25, seed + 2),
                                   test::random_layout(comm, 9, seed + 4), 0.3, seed + 5);
      expect_all_forms(A, B, route);
    }
  });
}

TEST(ProductsByRoute, NormalEquations) {
  for_each_route([](const auto& comm, Route route) {
    const RandomMatrix<double> A(Layout::uniform(comm, 30), test::random_layout(comm, 17, 6), 0.2,
                                 8);
    const DistMatrix<double> routed = A.dist.with_route(route);
    const auto expected = product(transposed(A.whole), A.whole);
    expect_equal(multiply_transposed(routed, routed), expected);
    // A is its own transpose held by columns.
    expect_equal(multiply(ColumnMatrix<double>{routed}, A.dist), expected);
    const ColumnMatrix<double> by_columns = multiply(
        ColumnMatrix<double>{A.dist}, ColumnMatrix<double>{transpose(A.dist).with_route(route)});
    expect_equal(by_columns.transposed, expected);  // symmetric
  });
}

TEST(ProductsByRoute, BothFormsOfTheGalerkinProduct) {
  for_each_route([](const auto& comm, Route route) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Layout fine = test::random_layout(comm, 24, seed);
      const Layout coarse = test::random_layout(comm, 11, seed + 1);
      const RandomMatrix<double> A(fine, fine, 0.2, seed + 2);
      const RandomMatrix<double> P(fine, coarse, 0.2, seed + 3);
      const auto expected = product(transposed(P.whole), product(A.whole, P.whole));
      for (const GalerkinForm form : {GalerkinForm::fused, GalerkinForm::unfused}) {
        expect_equal(galerkin_product(A.dist.with_route(route), P.dist.with_route(route), form),
                     expected);
      }
    }
  });
}

// Indices beyond 32 and 40 bits in rows that travel both ways.
TEST(ProductsByRoute, LargeGlobalIndices) {
  for_each_route([](const auto& comm, Route route) {
    for (const GlobalIndex first : {(GlobalIndex{1} << 32) - 7, (GlobalIndex{1} << 41) + 3}) {
      const Layout rows = test::random_layout(comm, 20, 1, first);
      const Layout cols = test::random_layout(comm, 14, 2, 2 * first);
      const RandomMatrix<double> A(rows, cols, 0.3, 3);
      const DistMatrix<double> routed = A.dist.with_route(route);
      expect_equal(multiply_transposed(routed, A.dist), product(transposed(A.whole), A.whole));
      expect_equal(multiply(routed, transpose(A.dist)), product(A.whole, transposed(A.whole)));
    }
  });
}

TYPED_TEST(Products, TransposedProductsWithEmptyFactors) {
  const auto comm = test_comm();
  const Layout rows = Layout::uniform(comm, 9);
  const Layout none = Layout::uniform(comm, 0);
  const RandomMatrix<TypeParam> thin(rows, none, 0.5, 1);
  const RandomMatrix<TypeParam> flat(none, rows, 0.5, 2);
  const RandomMatrix<TypeParam> zero(rows, rows, 0.0, 3);
  const RandomMatrix<TypeParam> full(rows, rows, 1.1, 4);
  const auto expect_product = [](const auto& A, const auto& B) {
    expect_equal(multiply_transposed(A.dist, B.dist), product(transposed(A.whole), B.whole));
  };
  expect_product(thin, thin);
  expect_product(flat, flat);
  expect_product(thin, full);
  expect_product(full, thin);
  expect_product(zero, full);
  expect_product(full, zero);
  expect_product(full, full);
}

TEST(ProductErrors, ShapesThatDoNotFit) {
  const auto comm = test_comm();
  const RandomMatrix<double> A(Layout::uniform(comm, 9), Layout::uniform(comm, 7), 0.5, 1);
  const RandomMatrix<double> B(Layout::uniform(comm, 8), Layout::uniform(comm, 7), 0.5, 2);
  const auto refused = [&](const auto& work) {
    return expect_same_error(*comm, ErrorCode::dimension_mismatch, work);
  };
  EXPECT_NE(refused([&] { multiply_transposed(A.dist, B.dist); }).find("9 x 7"), std::string::npos);
  refused([&] { multiply(A.dist, B.dist); });
  refused([&] { multiply(ColumnMatrix<double>{A.dist}, B.dist); });
  refused([&] { multiply(ColumnMatrix<double>{A.dist}, ColumnMatrix<double>{B.dist}); });
  for (const GalerkinForm form : {GalerkinForm::fused, GalerkinForm::unfused}) {
    refused([&] { galerkin_product(A.dist, B.dist, form); });
  }
}

template <class T>
class Runs : public testing::Test {};
TYPED_TEST_SUITE(Runs, Values);

template <class T>
using Row = std::vector<std::pair<GlobalIndex, T>>;

template <class T>
std::vector<RowWord<T>> written(const std::vector<Row<T>>& rows) {
  std::vector<RowWord<T>> words;
  RunWriter<T> writer(words);
  for (const Row<T>& row : rows) {
    for (const auto& [col, value] : row) writer.push(col, value);
    writer.end_row();
  }
  return words;
}

template <class T>
Row<T> read(std::span<const RowWord<T>> words) {
  Row<T> row;
  for_each_entry_of_runs(words, [&](GlobalIndex col, T value) { row.emplace_back(col, value); });
  return row;
}

/// A row with the value k + 1 in its k-th column.
template <class T>
Row<T> row_of(const std::vector<GlobalIndex>& columns) {
  Row<T> row;
  for (const GlobalIndex col : columns) row.emplace_back(col, static_cast<T>(row.size() + 1));
  return row;
}

TYPED_TEST(Runs, AreReadAsTheyWereWritten) {
  using T = TypeParam;
  const GlobalIndex far = GlobalIndex{1} << 32, last = max_run_columns - 1;
  std::vector<GlobalIndex> longer(2 * longest_run + 1);
  std::iota(longer.begin(), longer.end(), far - 3);
  const std::size_t pair = values_per_word<T> == 2 ? 1 : 2;  // words of two values
  const std::vector<std::pair<std::vector<GlobalIndex>, std::size_t>> rows = {
      {{}, 0},
      {{7}, 2},
      {{1, 3, 5}, 6},
      {{4, 5, 6}, pair == 1 ? 3 : 4},
      {{far - 1, far, 5 * far, 5 * far + 1, 0}, 2 * (1 + pair) + 2},
      {{last - 1, last}, 1 + pair},
      {{6, 5, 5, 6}, 2 + 2 + 1 + pair},  // in any order, and repeated
      {longer, 2 * (1 + longest_run / values_per_word<T>)+2}};
  for (const auto& [columns, n_words] : rows) {
    const Row<T> row = row_of<T>(columns);
    const std::vector<RowWord<T>> words = written<T>({row});
    EXPECT_EQ(words.size(), n_words);
    EXPECT_EQ(words_of<T>(columns), std::ssize(words));
    EXPECT_EQ(entries_of(std::span<const RowWord<T>>(words)), columns.size());
    EXPECT_EQ(read(std::span<const RowWord<T>>(words)), row);
  }
  EXPECT_EQ(written<T>({row_of<T>({1}), row_of<T>({2})}).size(), 4U);  // a row begins a run
  for (const GlobalIndex col : {GlobalIndex{-1}, max_run_columns}) {
    EXPECT_THROW(written<T>({row_of<T>({col})}), Error);
  }
}

TYPED_TEST(Runs, AreAddedUpOnTheWay) {
  using T = TypeParam;
  std::vector<GlobalIndex> first(longest_run), second(longest_run);
  std::iota(first.begin(), first.end(), 100);
  std::iota(second.begin(), second.end(), 101);
  second.push_back(3);
  std::vector<RowWord<T>> words = written<T>({row_of<T>(first), {}, row_of<T>(second)});
  const std::size_t n = RunCombiner<T>()(words);
  ASSERT_LE(n, words.size());
  Row<T> expected = {{3, static_cast<T>(longest_run + 1)}, {100, T{1}}};
  for (std::size_t k = 1; k <= longest_run; ++k) {
    const T sum = static_cast<T>(k == longest_run ? k : 2 * k + 1);
    expected.emplace_back(100 + static_cast<GlobalIndex>(k), sum);
  }
  EXPECT_EQ(read(std::span<const RowWord<T>>(words).first(n)), expected);
  EXPECT_EQ(RunCombiner<T>()(std::span<RowWord<T>>()), 0U);
}

// Rows of blocks of three columns: a header for three values.
TYPED_TEST(Runs, BlockRowsTakeAHeaderABlock) {
  using T = TypeParam;
  const auto comm = test_comm();
  const GlobalIndex n_ranks = comm->size();
  const Layout layout = Layout::uniform(comm, 6 * n_ranks);
  // Points couple to the next one but one, so that no blocks meet.
  const auto A = matrix_from_rows<T>(layout, layout, [&](GlobalIndex i, auto&& emit) {
    const GlobalIndex point = i / 3;
    for (const GlobalIndex p : {point, (point + 2) % (2 * n_ranks)}) {
      for (GlobalIndex k = 0; k < 3; ++k) emit(3 * p + k, static_cast<T>(i + k));
    }
  });
  std::optional<Error> failure;
  const auto records = fetch_records(A.exchange(), A, failure);
  ASSERT_FALSE(failure);
  const std::size_t words_of_block = values_per_word<T> == 2 ? 3 : 4;
  for (std::size_t g = 0; g < records.size(); ++g) {
    EXPECT_EQ(records[g].size(), 2 * words_of_block);
    EXPECT_EQ(entries_of(records[g]), 6U);
  }
  EXPECT_EQ(std::ssize(A.ghosts()), n_ranks == 1 ? 0 : 6);
}

}  // namespace matrix_products_test
}  // namespace nodewise::matrix
