// Which rank gets which row.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/comm/points.hpp"
#include "nodewise/comm/row_move.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/partition/point_graph.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "partition_support.hpp"
#include "support.hpp"

namespace nodewise::partition {
namespace partition_test {

using matrix::DistMatrix;
using test::is_here;
using test::test_comm;

/// Collective. The owners of all rows, on every rank.
std::vector<int> owners_of_all(const Partition& partition, const PartitionTask& task) {
  const std::vector<int> mine = owners(partition, task);
  EXPECT_EQ(mine.size(), static_cast<std::size_t>(task.A.n_local()));
  const std::vector<std::int32_t> part(mine.begin(), mine.end());
  const auto all = mpi::concatenate_all<std::int32_t>(task.A.comm(), part);
  return {all.begin(), all.end()};
}

std::vector<int> nodes_of(const std::vector<int>& owners, const mpi::Topology& topology) {
  std::vector<int> nodes;
  for (const int owner : owners) nodes.push_back(topology.node(owner));
  return nodes;
}

TEST(Partition, HasAnOwnerForEveryRow) {
  const DistMatrix<double> A = io::generate<double>(test_comm(), {.problem = "beam", .n = 2});
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const mpi::Topology topology(map.node_of_rank);
    for (const PartitionMethod& method : PartitionMethod::family()) {
      if (!is_here(method)) continue;
      SCOPED_TRACE(map.name + ", " + *method.name);
      const std::vector<int> all = owners_of_all(method, {A, topology, 3});
      for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(all[i] >= 0 && all[i] < topology.n_ranks());
        EXPECT_EQ(all[i], all[i - i % 3]) << "a point is divided";
      }
    }
  }
}

TEST(Partition, ByNumbersByHand) {
  const DistMatrix<double> A = io::generate<double>(test_comm(), {.problem = "laplace5", .n = 4});
  const mpi::Topology three(std::vector<int>{0, 0, 1});
  EXPECT_EQ(owners_of_all("strided", {A, three, 1}),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}));
  // Rows have 3, 4, 4, 3, then 4, 5, 5, 4 twice, then 3, 4, 4, 3 nonzeros: 23, 18 and 23 of 64.
  EXPECT_EQ(owners_of_all("contiguous", {A, three, 1}),
            (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}));
}

TEST(Partition, OfMoreRanksThanRows) {
  const DistMatrix<double> A = io::generate<double>(test_comm(), {.problem = "laplace5", .n = 2});
  const mpi::Topology many(std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 2});
  for (const PartitionMethod& method : PartitionMethod::family()) {
    if (!is_here(method)) continue;
    SCOPED_TRACE(*method.name);
    const std::vector<int> all = owners_of_all(method, {A, many, 1});
    EXPECT_EQ(all.size(), 4U);
    for (const int owner : all) EXPECT_TRUE(owner >= 0 && owner < 10);
  }
}

TEST(Partition, OfTheGraphCrossesLess) {
  const auto self = test::self_comm();
  const DistMatrix<double> A = io::generate<double>(self, {.problem = "laplace7", .n = 16});
  std::vector<int> map(32);
  for (std::size_t r = 0; r < map.size(); ++r) map[r] = static_cast<int>(r / 8);
  const mpi::Topology topology(map);
  const PointGraph graph = point_graph(A.on(), 1);
  const auto crossing = [&](const Partition& partition) {
    return values_between_nodes(graph,
                                nodes_of(owners_of_all(partition, {A, topology, 1}), topology));
  };
  const std::int64_t natural = crossing("contiguous");
  EXPECT_EQ(natural, 6 * 16 * 16);  // planes of 16 x 16, both ways between four slabs
  EXPECT_EQ(crossing("strided"), 3 * natural);
  if (!is_here(PartitionMethod::family().find("metis"))) return;
  EXPECT_LE(crossing("node_aware"), crossing("metis"));
  EXPECT_LE(crossing("node_aware"), natural);
  std::vector<int> rows(32, 0);
  for (const int owner : owners_of_all("node_aware", {A, topology, 1})) {
    ++rows[static_cast<std::size_t>(owner)];
  }
  EXPECT_LE(*std::max_element(rows.begin(), rows.end()), 128 * 1.15);
}

TEST(Partition, UnevenNodesGetUnevenParts) {
  if (!is_here(PartitionMethod::family().find("metis"))) GTEST_SKIP() << "without METIS";
  const DistMatrix<double> A = io::generate<double>(test_comm(), {.problem = "laplace9", .n = 30});
  const mpi::Topology topology(std::vector<int>{0, 0, 0, 0, 0, 1});
  std::vector<int> rows(6, 0);
  for (const int owner : owners_of_all("node_aware", {A, topology, 1})) {
    ++rows[static_cast<std::size_t>(owner)];
  }
  for (const int n : rows) EXPECT_NEAR(n, 150, 30);
}

TEST(Partition, DoesNotDependOnWhereTheRowsWere) {
  const io::GalleryOptions gallery = {.problem = "rotated_fe", .n = 12};
  const DistMatrix<double> spread = io::generate<double>(test_comm(), gallery);
  const DistMatrix<double> whole = io::generate<double>(test::self_comm(), gallery);
  const mpi::Topology topology(std::vector<int>{0, 0, 1, 1});
  for (const PartitionMethod& method : PartitionMethod::family()) {
    if (!is_here(method) || *method.name == "none") continue;
    SCOPED_TRACE(*method.name);
    EXPECT_EQ(owners_of_all(method, {spread, topology, 1}),
              owners_of_all(method, {whole, topology, 1}));
  }
}

TEST(Partition, IsRefusedOnEveryRank) {
  const comm::Layout rows = comm::Layout::uniform(test_comm(), 10);
  const comm::Layout cols = comm::Layout::uniform(test_comm(), 11);
  const test::RandomMatrix<double> A(rows, cols, 0.3, 1);
  test::expect_same_error(*test_comm(), ErrorCode::dimension_mismatch, [&] {
    owners("strided", {A.dist, test_comm()->topology(), 1});
  });
  const test::RandomMatrix<double> square(rows, rows, 0.3, 1);
  test::expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
    owners("strided", {square.dist, test_comm()->topology(), 3});
  });
}

TEST(PointGraph, ByHand) {
  // Points 0 and 1 of two rows each; (0, 1) is coupled one way, 1 and 2 both ways.
  const comm::Layout rows = comm::Layout::uniform(test::self_comm(), 6);
  const auto A = matrix::matrix_from_rows<double>(rows, rows, [](GlobalIndex i, auto&& emit) {
    emit(i, 2.0);
    if (i == 1) emit(2, -1.0);
    if (i == 3) emit(4, -1.0);
    if (i == 4) emit(2, -1.0);
  });
  const PointGraph graph = point_graph(A.on(), 2);
  EXPECT_EQ(graph.begins, (std::vector<std::int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(graph.neighbours, (std::vector<LocalIndex>{1, 0, 2, 1}));
  EXPECT_EQ(graph.weights, (std::vector<std::int64_t>{3, 3, 3}));
  EXPECT_EQ(values_between_nodes(graph, std::vector<int>{0, 0, 1}), 2);
  EXPECT_EQ(values_between_nodes(graph, std::vector<int>{0, 1, 2}), 4);
  const PointGraph part = part_of(graph, std::vector<LocalIndex>{2, 1});
  EXPECT_EQ(part.neighbours, (std::vector<LocalIndex>{1, 0}));
}

}  // namespace partition_test
}  // namespace nodewise::partition
