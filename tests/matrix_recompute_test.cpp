// Products computed again for new values: bit for bit what a new product gives, with the values
// alone on the way.
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/recompute.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/matrix/same_pattern.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_recompute_test {

using comm::Route;
using test::counted;
using test::expect_same_bits;
using test::expect_same_error;
using test::MpiCalls;
using test::RandomMatrix;
using test::test_comm;

/// Values that are rounded in every product, and some negative zeros.
template <class T>
Array<T> hashed_values(std::size_t n, std::uint64_t seed) {
  Array<T> values(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double u = hash_uniform(k, seed);
    values[k] = static_cast<T>(u < 0.1 ? -0.0 : 3 * u - 1.7);
  }
  return values;
}

/// Collective. Other values at the same places.
template <class T>
DistMatrix<T> with_hashed_values(const DistMatrix<T>& A, std::uint64_t seed) {
  const auto own = seed + 1000 * static_cast<std::uint64_t>(A.comm().rank());
  return A.with_values(hashed_values<T>(A.on().vals.size(), own),
                       hashed_values<T>(A.off().vals.size(), own + 500));
}

/// A (m x k) with a route, B (k x n) and D (m x n), all random.
template <class T>
struct Operands {
  Operands(const std::shared_ptr<const mpi::Comm>& comm, Route route, std::uint64_t seed)
      : m(test::random_layout(comm, 22, seed)),
        k(test::random_layout(comm, 17, seed + 1)),
        n(Layout::uniform(comm, 13)),
        A(with_hashed_values(make(m, k, 0.25, seed).with_route(route), 1)),
        B(with_hashed_values(make(k, n, 0.25, seed + 1), 2)),
        D(with_hashed_values(make(m, n, seed % 2 == 0 ? 0.05 : 0.3, seed + 2), 3)),
        S(with_hashed_values(make(m, m, 0.15, seed + 3).with_route(route), 4)) {}

  static DistMatrix<T> make(const Layout& rows, const Layout& cols, double density,
                            std::uint64_t seed) {
    return RandomMatrix<T>(rows, cols, density, seed).dist;
  }

  Layout m, k, n;
  DistMatrix<T> A, B, D, S;
};

/// Calls f(comm, node of every rank, route) for every placement of the ranks and every route.
template <class F>
void for_each_route(const F& f) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    mpi::CommSettings settings;
    settings.allreduce = "mpi";  // so that agreements send nothing themselves
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, settings);
    for (const comm::Route route : comm::RouteMethod::family()) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      f(comm, map.node_of_rank, route);
    }
  }
}

template <class T>
class Recompute : public testing::Test {};
using Values = testing::Types<double, float>;
TYPED_TEST_SUITE(Recompute, Values);

TYPED_TEST(Recompute, EqualsANewProduct) {
  for_each_route([](const auto& comm, const auto&, Route route) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const Operands<TypeParam> x(comm, route, seed);
      Product<TypeParam> product(x.A, x.B, multiply(x.A, x.B));
      TransposedProduct<TypeParam> outer(x.A, x.D, multiply_transposed(x.A, x.D));
      GalerkinProduct<TypeParam> galerkin(x.S, x.A, galerkin_product(x.S, x.A));
      for (std::uint64_t step = 0; step < 2; ++step) {
        const auto next = [&](const auto& A) { return with_hashed_values(A, 17 * step + seed); };
        const auto A = next(x.A), B = next(x.B), D = next(x.D), S = next(x.S);
        expect_same_bits(product.recompute(A, B), multiply(A, B));
        expect_same_bits(outer.recompute(A, D), multiply_transposed(A, D));
        const auto coarse = galerkin.recompute(S, A);
        expect_same_bits(coarse, galerkin_product(S, A));
        test::expect_invariants(coarse);
        expect_same_bits(galerkin.recompute(x.S), galerkin_product(x.S, A));
      }
    }
  });
}

// Four entries a row at most, as truncated interpolations have, some rows empty.
TYPED_TEST(Recompute, GalerkinProductWithShortRows) {
  for_each_route([](const auto& comm, const auto&, Route route) {
    const Operands<TypeParam> x(comm, route, 3);
    const auto P =
        matrix_from_rows<TypeParam>(x.S.rows(), x.A.cols(), [&](GlobalIndex i, auto&& emit) {
          const GlobalIndex row = i - x.S.rows().first(), n = x.A.cols().n_global();
          for (GlobalIndex q = 0; q < std::min(row % 5, n); ++q) {
            emit(x.A.cols().first() + (row + 3 * q) % n, TypeParam{1});
          }
        });
    GalerkinProduct<TypeParam> galerkin(x.S, P, galerkin_product(x.S, P));
    for (std::uint64_t step = 0; step < 2; ++step) {
      const auto S = with_hashed_values(x.S, step), Q = with_hashed_values(P, 7 + step);
      expect_same_bits(galerkin.recompute(S, Q), galerkin_product(S, Q));
      expect_same_bits(galerkin.recompute(x.S), galerkin_product(x.S, Q));
    }
  });
}

// Every second row a one and nothing else, as coarse points have, and then, with other values of P,
// no row or some: what goes straight to the product is found out again.
TYPED_TEST(Recompute, GalerkinProductWithRowsOfTheIdentity) {
  for_each_route([](const auto& comm, const auto&, Route route) {
    const Operands<TypeParam> x(comm, route, 3);
    const GlobalIndex n = x.S.rows().n_global();
    const auto P = matrix_from_rows<TypeParam>(x.S.rows(), Layout::uniform(comm, n / 2 + 1),
                                               [&](GlobalIndex i, auto&& emit) {
                                                 const GlobalIndex row = i - x.S.rows().first();
                                                 emit(row / 2, TypeParam{1});
                                                 if (row % 2 == 1)
                                                   emit(row / 2 + 1, static_cast<TypeParam>(0.3));
                                               });
    GalerkinProduct<TypeParam> galerkin(x.S, P, galerkin_product(x.S, P));
    for (std::uint64_t step = 0; step < 2; ++step) {
      const auto S = with_hashed_values(x.S, step), Q = with_hashed_values(P, 7 + step);
      expect_same_bits(galerkin.recompute(S), galerkin_product(S, P));
      expect_same_bits(galerkin.recompute(S, Q), galerkin_product(S, Q));
      expect_same_bits(galerkin.recompute(x.S), galerkin_product(x.S, Q));
      expect_same_bits(galerkin.recompute(S, P), galerkin_product(S, P));
    }
  });
}

TYPED_TEST(Recompute, UnfusedGalerkinProduct) {
  for_each_route([](const auto& comm, const auto&, Route route) {
    const Operands<TypeParam> x(comm, route, 5);
    const auto SA = multiply(x.S, x.A);
    Product<TypeParam> row_wise(x.S, x.A, SA);
    TransposedProduct<TypeParam> outer(x.A, SA, multiply_transposed(x.A, SA));
    const auto S = with_hashed_values(x.S, 9);
    expect_same_bits(outer.recompute(x.A, row_wise.recompute(S, x.A)),
                     galerkin_product(S, x.A, GalerkinForm::unfused));
  });
}

TEST(Recomputed, SharesTheExchangeOfTheProduct) {
  const Operands<double> x(test_comm(), "direct", 3);
  const auto C = multiply(x.A, x.B);
  Product<double> product(x.A, x.B, C);
  EXPECT_EQ(&product.recompute(x.A, x.B).exchange(), &C.exchange());
}

MpiCalls sum(const mpi::Comm& comm, const MpiCalls& calls) {
  return {.messages_off_node = mpi::sum(comm, calls.messages_off_node),
          .bytes_off_node = mpi::sum(comm, calls.bytes_off_node),
          .synchronous = mpi::sum(comm, calls.synchronous)};
}

/// The columns of every local row, gathered: global row and column of every entry.
std::vector<std::pair<GlobalIndex, GlobalIndex>> all_entries(const DistMatrix<double>& A) {
  std::vector<GlobalIndex> mine;
  test::for_each_entry(A, [&](GlobalIndex row, GlobalIndex col, double) {
    mine.push_back(row);
    mine.push_back(col);
  });
  const auto all = mpi::concatenate_all(A.comm(), std::span<const GlobalIndex>(mine));
  std::vector<std::pair<GlobalIndex, GlobalIndex>> entries;
  for (std::size_t k = 0; k < all.size(); k += 2) entries.emplace_back(all[k], all[k + 1]);
  return entries;
}

/// What has to cross between nodes for A B row-wise and A^T D by outer products: rows of B, and
/// entries of partial rows, each with the node it is for or from; the rank where the route is
/// direct.
struct Crossings {
  Crossings(const DistMatrix<double>& A, const DistMatrix<double>& B, const DistMatrix<double>& D,
            Route route) {
    const mpi::Topology& topology = A.comm().topology();
    // In the order in which they travel: the columns that the row's owner has come first.
    std::map<GlobalIndex, std::set<std::pair<bool, GlobalIndex>>> rows_of_B;
    for (const auto& [row, col] : all_entries(B)) {
      rows_of_B[row].emplace(B.rows().owner(row) != B.cols().owner(col), col);
    }
    const auto words_of_B = [&](GlobalIndex row) {
      std::int64_t words = 0;
      GlobalIndex last = -2;
      for (const auto& entry : rows_of_B[row]) {
        words += entry.second == last + 1 ? 1 : 2;
        last = entry.second;
      }
      return words;
    };
    std::multimap<GlobalIndex, GlobalIndex> columns_of_D;
    for (const auto& entry : all_entries(D)) columns_of_D.emplace(entry.first, entry.second);
    for (const auto& entry : all_entries(A)) {
      const int rank = A.rows().owner(entry.first);
      if (topology.same_node(rank, A.cols().owner(entry.second))) continue;
      const int place = route == "direct" ? rank : topology.node(rank);
      if (rows.insert({entry.second, place}).second) {
        row_entries += std::ssize(rows_of_B[entry.second]);
        row_words += words_of_B(entry.second);
      }
      const auto range = columns_of_D.equal_range(entry.first);
      for (auto at = range.first; at != range.second; ++at) {
        sums.insert({entry.second, at->second, place});
      }
    }
    for (const auto& [row, col, place] : sums) {
      sum_words += sums.count({row, col - 1, place}) > 0 ? 1 : 2;
    }
  }

  std::set<std::pair<GlobalIndex, int>> rows;
  std::int64_t row_entries = 0, row_words = 0, sum_words = 0;
  std::set<std::tuple<GlobalIndex, GlobalIndex, int>> sums;
};

// Every row, and every sum of contributions, crosses once to or from each node over the routes that
// know nodes, in runs of columns after its length, in a product; as values alone in its repetition.
TEST(Recomputed, CrossesNodesOnce) {
  for_each_route([](const auto& comm, const auto& nodes, Route route) {
    const Operands<double> x(comm, route, 4);
    const Crossings expected(x.A, x.B, x.D, route);
    const auto n_rows = static_cast<std::int64_t>(expected.rows.size());
    const auto n_sums = static_cast<std::int64_t>(expected.sums.size());
    const auto of = [&](const auto& work) { return sum(*comm, counted(nodes, work)); };

    const MpiCalls fetching = of([&] { fetch_rows(x.A.exchange(), x.B); });
    EXPECT_EQ(fetching.bytes_off_node, 8 * n_rows + 8 * expected.row_words);
    GhostNumbering columns(x.D.cols(), x.D.ghosts());
    const Csr<double> At = kernels::transpose(x.A.off());
    const auto partial = to_records(
        kernels::spgemm({.on = &At, .n_cols = At.n_cols}, At.n_rows, extended_rows(x.D)), columns);
    const MpiCalls returning = of([&] {
      std::optional<Error> failure;
      return_rows<double>(
          x.A.exchange(), [&] { return partial; }, [] {}, failure);
      mpi::agree(*comm, failure);
    });
    EXPECT_EQ(returning.bytes_off_node, 8 * n_rows + 8 * expected.sum_words);

    Product<double> product(x.A, x.B, multiply(x.A, x.B));
    const MpiCalls again = of([&] { product.recompute(x.A, x.B); });
    EXPECT_EQ(again.bytes_off_node, 8 * expected.row_entries);
    EXPECT_LE(again.messages_off_node, fetching.messages_off_node);
    EXPECT_EQ(again.synchronous, 0);
    TransposedProduct<double> outer(x.A, x.D, multiply_transposed(x.A, x.D));
    const MpiCalls outer_again = of([&] { outer.recompute(x.A, x.D); });
    EXPECT_EQ(outer_again.bytes_off_node, 8 * n_sums);
    EXPECT_LE(outer_again.messages_off_node, returning.messages_off_node);
    EXPECT_EQ(outer_again.synchronous, 0);
  });
}

TEST(Recomputed, PlanningDiscoversNothing) {
  for_each_route([](const auto& comm, const auto& nodes, Route route) {
    const Operands<double> x(comm, route, 4);
    const auto C = multiply(x.A, x.B), E = multiply_transposed(x.A, x.D);
    const auto G = galerkin_product(x.S, x.A);
    const MpiCalls calls = counted(nodes, [&] {
      const Product<double> product(x.A, x.B, C);
      const TransposedProduct<double> outer(x.A, x.D, E);
      const GalerkinProduct<double> galerkin(x.S, x.A, G);
    });
    EXPECT_EQ(calls.synchronous, 0);
  });
}

TEST(Recomputed, EmptyMatrices) {
  const auto comm = test_comm();
  const Layout some = Layout::uniform(comm, 9), none = Layout::uniform(comm, 0);
  for (const Layout& rows : {some, none}) {
    for (const Layout& cols : {some, none}) {
      const RandomMatrix<double> A(rows, cols, 0.0, 1), S(rows, rows, 0.4, 2),
          D(rows, rows, 0.4, 3);
      Product<double> product(S.dist, A.dist, multiply(S.dist, A.dist));
      expect_same_bits(product.recompute(S.dist, A.dist), multiply(S.dist, A.dist));
      TransposedProduct<double> outer(A.dist, D.dist, multiply_transposed(A.dist, D.dist));
      expect_same_bits(outer.recompute(A.dist, D.dist), multiply_transposed(A.dist, D.dist));
      GalerkinProduct<double> galerkin(S.dist, A.dist, galerkin_product(S.dist, A.dist));
      expect_same_bits(galerkin.recompute(S.dist, A.dist), galerkin_product(S.dist, A.dist));
    }
  }
}

/// The tridiagonal matrix of n rows, whose row `without` lacks its diagonal entry.
DistMatrix<double> chain(const Layout& layout, GlobalIndex without = -1) {
  return matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&& emit) {
    if (i > 0) emit(i - 1, -1.0);
    if (i != without) emit(i, 2.0);
    if (i + 1 < layout.n_global()) emit(i + 1, -1.0);
  });
}

TEST(RecomputeErrors, AnotherPattern) {
  const auto comm = test_comm();
  const Layout layout = Layout::uniform(comm, 12);
  const auto A = chain(layout);
  Product<double> product(A, A, multiply(A, A));
  TransposedProduct<double> outer(A, A, multiply_transposed(A, A));
  GalerkinProduct<double> galerkin(A, A, galerkin_product(A, A));
  for (const GlobalIndex row : {0, 5, 11}) {
    const auto other = chain(layout, row);
    const auto expect_refused = [&](const auto& work) {
      const std::string text = expect_same_error(*comm, ErrorCode::unsuitable_matrix, work);
      EXPECT_NE(text.find("row " + std::to_string(row) + ","), std::string::npos) << text;
    };
    expect_refused([&] { product.recompute(other, A); });
    expect_refused([&] { product.recompute(A, other); });
    expect_refused([&] { outer.recompute(other, A); });
    expect_refused([&] { outer.recompute(A, other); });
    expect_refused([&] { galerkin.recompute(other); });
    expect_refused([&] { galerkin.recompute(A, other); });
  }
  const auto longer = chain(Layout::uniform(comm, 13));
  expect_same_error(*comm, ErrorCode::dimension_mismatch, [&] { product.recompute(longer, A); });
  expect_same_error(*comm, ErrorCode::dimension_mismatch, [&] { galerkin.recompute(longer); });
  // What was refused has changed nothing.
  const auto B = with_hashed_values(A, 3);
  expect_same_bits(product.recompute(B, B), multiply(B, B));
  expect_same_bits(outer.recompute(B, B), multiply_transposed(B, B));
  expect_same_bits(galerkin.recompute(B, B), galerkin_product(B, B));
}

TEST(RecomputeErrors, WhatIsNotTheProduct) {
  const auto comm = test_comm();
  const auto A = chain(Layout::uniform(comm, 12));
  const auto longer = chain(Layout::uniform(comm, 13));
  const auto refused = [&](ErrorCode code, const auto& work) {
    expect_same_error(*comm, code, work);
  };
  refused(ErrorCode::unsuitable_matrix, [&] { Product<double>(A, A, A); });
  refused(ErrorCode::unsuitable_matrix, [&] { TransposedProduct<double>(A, A, A); });
  refused(ErrorCode::unsuitable_matrix, [&] { GalerkinProduct<double>(A, A, A); });
  refused(ErrorCode::dimension_mismatch, [&] { Product<double>(A, A, longer); });
  refused(ErrorCode::dimension_mismatch, [&] { TransposedProduct<double>(A, A, longer); });
  refused(ErrorCode::dimension_mismatch, [&] { GalerkinProduct<double>(A, A, longer); });
}

TEST(WithValues, KeepsAllButTheValues) {
  const auto comm = test_comm();
  const auto A = chain(Layout::uniform(comm, 12));
  const std::vector<int> one_node(static_cast<std::size_t>(comm->size()), 0);
  std::optional<DistMatrix<double>> B;
  const MpiCalls calls = counted(one_node, [&] {
    B = A.with_values(Array<double>(A.on().vals.size(), 3.0),
                      Array<double>(A.off().vals.size(), 4.0));
  });
  EXPECT_EQ(calls.messages(), 0);
  EXPECT_EQ(&B->exchange(), &A.exchange());
  test::expect_invariants(*B);
  require_same_pattern(A, *B, "test");
  EXPECT_EQ(B->on().vals, Array<double>(A.on().vals.size(), 3.0));
  EXPECT_EQ(B->off().vals, Array<double>(A.off().vals.size(), 4.0));
}

TEST(WithValues, RefusesAWrongNumberOnEveryRank) {
  const auto comm = test_comm();
  const auto A = chain(Layout::uniform(comm, 12));
  const std::size_t more = comm->rank() == comm->size() - 1 ? 1 : 0;
  expect_same_error(*comm, ErrorCode::dimension_mismatch, [&] {
    A.with_values(Array<double>(A.on().vals.size() + more), Array<double>(A.off().vals.size()));
  });
}

}  // namespace matrix_recompute_test
}  // namespace nodewise::matrix
