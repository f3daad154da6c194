// Distributed matrices in dense blocks do what they do by rows: exactly, since the values are small
// integers.
#include <gtest/gtest.h>

#include "nodewise/comm/points.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/operations.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::matrix {
namespace matrix_blocks_test {

using comm::Route;
using test::expect_same_error;
using test::RandomMatrix;
using test::test_comm;
using test::TestVector;

/// The rows of points laid out like `points`, from `first` on.
Layout rows_of(const Layout& points, int block, GlobalIndex first) {
  std::vector<GlobalIndex> starts;
  for (const GlobalIndex start : points.starts()) {
    starts.push_back(first + (start - points.first()) * block);
  }
  return {points.shared_comm(), starts};
}

template <class T>
void expect_same_products(const DistMatrix<T>& A, const DistMatrix<T>& blocks) {
  const TestVector<T> x(A.cols(), 1);
  const TestVector<T> b(A.rows(), 2);
  std::vector<T> expected(b.local.size()), got(b.local.size(), T{7});
  multiply<T>(A, x.span(), expected);
  multiply<T>(blocks, x.span(), got);
  EXPECT_EQ(got, expected);
  residual<T>(A, x.span(), b.span(), expected);
  residual<T>(blocks, x.span(), b.span(), got);
  EXPECT_EQ(got, expected);
  constexpr int width = 3;
  std::vector<T> X, Y(3 * b.local.size()), Z(Y.size(), T{7});
  for (const T value : x.local) X.insert(X.end(), {value, T{1} - value, T{2} * value});
  multiply<T>(A, X, std::span<T>(Y), width);
  multiply<T>(blocks, X, std::span<T>(Z), width);
  EXPECT_EQ(Z, Y);
  // Several vectors at once, column by column.
  std::vector<T> R(Y.size()), S(Y), Rhs(Y.size()), t(x.local.size());
  for (std::size_t k = 0; k < Rhs.size(); ++k) Rhs[k] = static_cast<T>(k % 5);
  residual<T>(blocks, X, Rhs, R, width);
  multiply_add<T>(A, X, S, width);
  for (std::size_t k = 0; k < Y.size(); ++k) {
    EXPECT_EQ(R[k], Rhs[k] - Y[k]);
    EXPECT_EQ(S[k], Y[k] + Y[k]);
  }
  std::vector<T> U(3 * x.local.size(), T{7});
  multiply_transposed<T>(A, Rhs, U, width);
  for (std::size_t c = 0; c < width; ++c) {
    std::vector<T> column(b.local.size());
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = Rhs[i * width + c];
    multiply_transposed<T>(A, column, t);
    for (std::size_t j = 0; j < t.size(); ++j) EXPECT_EQ(U[j * width + c], t[j]);
  }
}

TEST(MatrixBlocks, ProductsAreThoseByRows) {
  for (const int block : {2, 3, 6}) {
    for (const Layout& points : test::layouts_of(test_comm(), 11)) {
      const Layout rows = rows_of(points, block, 100);
      const Layout cols = rows_of(test::random_layout(test_comm(), 7, 9), block, 13);
      for (const double density : {0.05, 0.5}) {
        const auto A = RandomMatrix<double>(rows, cols, density, 3).dist;
        expect_same_products(A, A.with_blocks(block));
        expect_same_products(A.with_type<float>(), A.with_blocks(block).with_type<float>());
      }
    }
  }
}

TEST(MatrixBlocks, TakeEveryRoute) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const comm::Route route : comm::RouteMethod::family()) {
      const Layout rows = rows_of(test::random_layout(comm, 20, 5), 3, 0);
      const auto A = RandomMatrix<double>(rows, rows, 0.2, 6).dist.with_route(route);
      const auto blocks = A.with_blocks(3);
      EXPECT_EQ(blocks.route(), route);
      expect_same_products(A, blocks);
    }
  }
}

// The same messages, each entry of which names a point: a product takes no more of them, and where
// the blocks are full it sends the same bytes.
TEST(MatrixBlocks, SendTheSameMessagesByPoints) {
  constexpr int block = 4;
  for (const Layout& points : test::layouts_of(test_comm(), 13)) {
    const Layout rows = rows_of(points, block, 0);
    const auto A = matrix_from_rows<double>(rows, rows, [](GlobalIndex i, auto&& emit) {
      for (GlobalIndex p = 0; p < 13; ++p) {
        if (!test::has_entry(i / block, p, 0.3, 2)) continue;
        for (GlobalIndex c = 0; c < block; ++c) emit(block * p + c, 1.0);
      }
    });
    const auto B = A.with_blocks(block);
    EXPECT_EQ(B.blocks()->fill(), 1);
    EXPECT_EQ(B.blocks()->exchange().plan().n_ghosts * block, A.n_ghosts());
    const TestVector<double> x(rows, 1);
    std::vector<double> y(x.local.size());
    const std::vector<int> one_node(static_cast<std::size_t>(test_comm()->size()), 0);
    const auto calls = [&](const DistMatrix<double>& M) {
      return test::counted(one_node, [&] { multiply<double>(M, x.span(), y); });
    };
    EXPECT_EQ(calls(B), calls(A));
  }
}

TEST(MatrixBlocks, NewValuesTakeThePlacesAndTheExchange) {
  const Layout rows = rows_of(test::random_layout(test_comm(), 15, 4), 3, 7);
  const auto A = RandomMatrix<double>(rows, rows, 0.3, 8).dist;
  const auto blocks = A.with_blocks(3);
  Array<double> on = A.on().vals;
  Array<double> off = A.off().vals;
  for (double& v : on) v = 3 - v;
  for (double& v : off) v = 5 * v;
  const auto B = blocks.with_values(on, off);
  EXPECT_EQ(B.blocks(), nullptr);
  const auto C = B.with_blocks_of(blocks);
  ASSERT_NE(C.blocks(), nullptr);
  EXPECT_EQ(&C.blocks()->exchange(), &blocks.blocks()->exchange());
  expect_same_products(B, C);
  EXPECT_EQ(B.with_blocks_of(A).blocks(), nullptr);
}

TEST(MatrixBlocks, AreTakenWhereTheyAreFull) {
  const Layout rows = rows_of(test::random_layout(test_comm(), 15, 4), 3, 0);
  const auto with_density = [&](double density) {
    return std::make_shared<const DistMatrix<double>>(
        RandomMatrix<double>(rows, rows, density, 3).dist);
  };
  const auto full = with_density(0.95);
  const auto sparse = with_density(0.3);
  const auto blocks = with_blocks_where_full<double>(full, 3);
  ASSERT_NE(blocks->blocks(), nullptr);
  EXPECT_EQ(with_blocks_where_full<double>(blocks, 3), blocks);
  EXPECT_EQ(with_blocks_where_full<double>(sparse, 3), sparse);
  for (const int unknowns : {1, 7}) {  // no blocks for those; 2: not whole points
    EXPECT_EQ(with_blocks_where_full<double>(full, unknowns), full) << unknowns;
  }
}

TEST(MatrixBlocks, RefuseHalfPointsAndLargeOnes) {
  const auto refused = [](const Layout& rows, int block, ErrorCode code) {
    const auto A = RandomMatrix<double>(rows, rows, 0.3, 3).dist;
    return expect_same_error(*test_comm(), code, [&] { A.with_blocks(block); });
  };
  const auto comm = test_comm();
  const Layout odd = Layout::uniform(comm, 35);
  EXPECT_NE(refused(odd, 3, ErrorCode::invalid_argument).find("35 rows"), std::string::npos);
  EXPECT_NE(refused(odd, 7, ErrorCode::unsupported).find("blocks of 7"), std::string::npos);
  if (comm->size() == 1) return;
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm->size()) + 1, 36);
  starts.front() = 0;
  starts[1] = 7;
  const Layout torn(comm, starts);
  EXPECT_FALSE(comm::has_whole_points(torn, 3));
  EXPECT_NE(refused(torn, 3, ErrorCode::invalid_argument).find("row 8"), std::string::npos);
}

}  // namespace matrix_blocks_test
}  // namespace nodewise::matrix
