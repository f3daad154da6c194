// A matrix whose data takes another route is the same matrix: everything that exchanges gives the
// same, exactly, since the values are small integers.
#include <gtest/gtest.h>

#include "nodewise/matrix/operations.hpp"

#include "dist_matrix_support.hpp"
#include "domain_support.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_route_test {

using comm::Route;
using test::expect_equal;
using test::product;
using test::RandomMatrix;

/// Calls f(comm, route) for every placement of the ranks and every route, and with domains for the
/// routes that use them.
template <class F>
void for_each_route(const F& f) {
  const int p = test::test_comm()->size();
  std::vector<test::DomainMap> maps = test::domain_maps(p);
  for (const auto& map : test::node_maps(p)) {
    maps.push_back({map.name, mpi::Topology(map.node_of_rank)});
  }
  for (const auto& map : maps) {
    const bool divided = map.topology.has_domains();
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.topology);
    for (const comm::Route route : comm::RouteMethod::family()) {
      if (divided && route == "direct") continue;
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      f(comm, route);
    }
  }
}

TEST(MatrixRoute, SharesTheEntriesAndKeepsTheOriginal) {
  for_each_route([](const auto& comm, Route route) {
    const Layout rows = Layout::uniform(comm, 31);
    const RandomMatrix<double> A(rows, rows, 0.3, 1);
    const DistMatrix<double> B = A.dist.with_route(route);
    EXPECT_EQ(B.route(), route);
    EXPECT_EQ(A.dist.route(), "direct");
    EXPECT_EQ(B.on().vals.data(), A.dist.on().vals.data());
    EXPECT_EQ(B.nnz_global(), A.dist.nnz_global());
    const bool same_exchange = &B.exchange() == &A.dist.exchange();
    EXPECT_EQ(same_exchange, route == "direct" || comm->topology().domains().n_nodes() == 1);
    expect_equal(B, A.whole);
    // And back again.
    EXPECT_EQ(B.with_route("direct").exchange().plan().stages.size(), 1U);
  });
}

TEST(MatrixRoute, KnowsTheGhostsOfItsNode) {
  for_each_route([](const auto& comm, Route route) {
    const Layout layout = test::random_layout(comm, 40, 3);
    const RandomMatrix<double> A(layout, layout, 0.1, 5);
    const DistMatrix<double> B = A.dist.with_route(route);
    std::vector<char> expected;
    for (const GlobalIndex ghost : B.ghosts()) {
      expected.push_back(comm->topology().same_node(comm->rank(), layout.owner(ghost)) ? 1 : 0);
    }
    EXPECT_EQ(B.n_ghosts_on_node(), std::count(expected.begin(), expected.end(), 1));
    const bool mixed = B.n_ghosts_on_node() > 0 && B.n_ghosts_on_node() < B.n_ghosts();
    if (!mixed) expected.clear();
    EXPECT_EQ(std::vector<char>(B.ghosts_on_node().begin(), B.ghosts_on_node().end()), expected);
  });
}

TEST(MatrixRoute, ProductsWithVectors) {
  for_each_route([](const auto& comm, Route route) {
    const Layout rows = test::random_layout(comm, 40, 3);
    const Layout cols = test::random_layout(comm, 33, 4);
    const RandomMatrix<double> A(rows, cols, 0.3, 2);
    const DistMatrix<double> B = A.dist.with_route(route);
    const auto vector_of = [](const Layout& layout) {
      std::vector<double> x;
      for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
        x.push_back(static_cast<double>(hash64(static_cast<std::uint64_t>(i), 8) % 17));
      }
      return x;
    };
    const std::vector<double> x = vector_of(cols), y = vector_of(rows);
    std::vector<double> expected(y.size()), got(y.size());
    multiply<double>(A.dist, x, expected);
    multiply<double>(B, x, got);
    EXPECT_EQ(got, expected);
    expected.resize(x.size());
    got.resize(x.size());
    multiply_transposed<double>(A.dist, y, expected);
    multiply_transposed<double>(B, y, got);
    EXPECT_EQ(got, expected);
  });
}

TEST(MatrixRoute, TransposeAndProductsOfMatrices) {
  for_each_route([](const auto& comm, Route route) {
    const Layout fine = test::random_layout(comm, 24, 5);
    const Layout coarse = test::random_layout(comm, 11, 6);
    const RandomMatrix<double> A(fine, fine, 0.2, 7);
    const RandomMatrix<double> P(fine, coarse, 0.2, 8);
    const DistMatrix<double> A_routed = A.dist.with_route(route);
    const DistMatrix<double> P_routed = P.dist.with_route(route);
    expect_equal(transpose(P_routed), test::transposed(P.whole));
    expect_equal(multiply(A_routed, P_routed), product(A.whole, P.whole));
    expect_equal(galerkin_product(A_routed, P_routed),
                 product(test::transposed(P.whole), product(A.whole, P.whole)));
  });
}

}  // namespace matrix_route_test
}  // namespace nodewise::matrix
