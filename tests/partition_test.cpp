// Which rank gets which row.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/comm/points.hpp"
#include "nodewise/comm/row_move.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/line_reader.hpp"
#include "nodewise/io/owner_file.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/partition/dist_graph.hpp"
#include "nodewise/partition/metis.hpp"
#include "nodewise/partition/part_order.hpp"
#include "nodewise/partition/point_graph.hpp"
#include "nodewise/solver/options.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "io_support.hpp"
#include "mpi_counter.hpp"
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

Partition node_aware(const char* serial_points) {
  solver::Options options;
  options.set("partition", "node_aware");
  options.set("serial_points", serial_points);
  return options.method.partition;
}

bool is_last() {
  return test_comm()->rank() + 1 == test_comm()->size();
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

// METIS would leave parts empty, and complain of it on standard output.
TEST(Partition, FewPointsAreSharedOutInTheirOrder) {
  if (!has_metis()) GTEST_SKIP() << "without METIS";
  const auto self = test::self_comm();
  const DistMatrix<double> A = io::generate<double>(self, {.problem = "laplace5", .n = 3});
  const PointGraph nine = point_graph(A.on(), 1);
  const LocalIndex three[] = {0, 1, 2};
  testing::internal::CaptureStdout();
  EXPECT_EQ(parts_by_metis(nine, std::vector{1, 3, 1, 1, 2, 1, 1}),
            (std::vector{0, 1, 1, 2, 3, 4, 4, 5, 6}));
  EXPECT_EQ(parts_by_metis(part_of(nine, three), std::vector{1, 1, 2, 2, 2}),
            (std::vector{2, 3, 4}));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
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
  for (const char* serial_points : {"1000", "0"}) {  // METIS on one rank, PT-Scotch on all
    SCOPED_TRACE(serial_points);
    for (const std::vector<int>& map : {std::vector<int>{0, 0, 0, 0, 0, 1}, {0, 1, 0, 2, 2, 2}}) {
      const mpi::Topology topology(map);
      std::vector<int> rows(6, 0);
      for (const int owner : owners_of_all(node_aware(serial_points), {A, topology, 1})) {
        ++rows[static_cast<std::size_t>(owner)];
      }
      for (const int n : rows) EXPECT_NEAR(n, 150, 30);
    }
  }
}

// Its nodes are divided by one of their ranks each, or one after the other where they are virtual.
TEST(Partition, NodesAreDividedByOneRankEach) {
  if (!is_here(PartitionMethod::family().find("metis"))) GTEST_SKIP() << "without METIS";
  const io::GalleryOptions gallery = {.problem = "beam", .n = 2};
  const DistMatrix<double> whole = io::generate<double>(test::self_comm(), gallery);
  const DistMatrix<double> A = io::generate<double>(test_comm(), gallery);
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const mpi::Topology topology(map.node_of_rank);
    EXPECT_EQ(owners_of_all("node_aware", {A, topology, 3}),
              owners_of_all("node_aware", {whole, topology, 3}));
  }
}

TEST(Partition, ByAllRanksCrossesLittle) {
  if (!is_here(PartitionMethod::family().find("ptscotch"))) GTEST_SKIP() << "without PT-Scotch";
  const io::GalleryOptions gallery = {.problem = "laplace7", .n = 16};
  const DistMatrix<double> A = io::generate<double>(test_comm(), gallery);
  const PointGraph graph = point_graph(io::generate<double>(test::self_comm(), gallery).on(), 1);
  std::vector<int> map(32);
  for (std::size_t r = 0; r < map.size(); ++r) map[r] = static_cast<int>(r / 8);
  const mpi::Topology topology(map);
  for (const Partition& partition : {Partition("ptscotch"), node_aware("0")}) {
    SCOPED_TRACE(partition.name());
    if (!is_here(*partition)) continue;
    const std::vector<int> owners = owners_of_all(partition, {A, topology, 1});
    EXPECT_LE(values_between_nodes(graph, owners), 1.15 * 32 * 6 * 64 * 2 / 3);
    std::vector<int> rows(32, 0);
    for (const int owner : owners) ++rows[static_cast<std::size_t>(owner)];
    EXPECT_LE(*std::max_element(rows.begin(), rows.end()), 128 * 1.2);
    const std::int64_t natural = 6 * 16 * 16;
    if (partition.name() == "node_aware") {
      EXPECT_LE(values_between_nodes(graph, nodes_of(owners, topology)), natural * 1.1);
    }
  }
}

// MPI is initialised for one thread that calls it.
TEST(Partition, OfAllRanksCallsMpiFromOneThread) {
  if (!is_here(PartitionMethod::family().find("ptscotch"))) GTEST_SKIP() << "without PT-Scotch";
  const DistMatrix<double> A = io::generate<double>(test_comm(), {.problem = "laplace7", .n = 16});
  const std::vector<int> map(32, 0);
  const test::MpiCounter counter(
      std::vector<int>(static_cast<std::size_t>(test_comm()->size()), 0));
  owners(Partition("ptscotch"), {A, mpi::Topology(map), 1});
  EXPECT_EQ(counter.calls_of_other_threads(), 0);
}

// Patterns that are not symmetric, and ranks without rows.
TEST(DistGraph, IsThatOfOneRank) {
  const comm::Layout layout =
      comm::Layout::from_local_size(test_comm(), is_last() ? 24 : test_comm()->rank() * 12);
  const test::RandomMatrix<double> A(layout, layout, 0.05, 3);
  for (const int unknowns : {1, 3}) {
    const DistGraph part = dist_point_graph(A.dist, unknowns);
    Array<double> on(A.dist.on().vals.size(), 1.0), off(A.dist.off().vals.size(), 1.0);
    const auto ones = A.dist.with_values(std::move(on), std::move(off));  // no zeros
    const PointGraph whole = point_graph(test::serial(test::gathered(ones)).on(), unknowns);
    ASSERT_EQ(part.points.n_global(), whole.n_points());
    for (LocalIndex k = 0; k < part.points.n_local(); ++k) {
      const auto of_part = std::span(part.neighbours)
                               .subspan(static_cast<std::size_t>(part.begins[std::size_t(k)]),
                                        static_cast<std::size_t>(part.begins[std::size_t(k) + 1] -
                                                                 part.begins[std::size_t(k)]));
      const auto point = static_cast<std::size_t>(part.points.to_global(k));
      const std::vector<GlobalIndex> wanted(whole.neighbours.begin() + whole.begins[point],
                                            whole.neighbours.begin() + whole.begins[point + 1]);
      EXPECT_EQ(std::vector<GlobalIndex>(of_part.begin(), of_part.end()), wanted);
      EXPECT_EQ(part.weights[static_cast<std::size_t>(k)], whole.weights[point]);
    }
  }
}

TEST(Partition, DoesNotDependOnWhereTheRowsWere) {
  const io::GalleryOptions gallery = {.problem = "rotated_fe", .n = 12};
  const DistMatrix<double> spread = io::generate<double>(test_comm(), gallery);
  const DistMatrix<double> whole = io::generate<double>(test::self_comm(), gallery);
  const mpi::Topology topology(std::vector<int>{0, 0, 1, 1});
  for (const PartitionMethod& method : PartitionMethod::family()) {
    // PT-Scotch's parts are by what each rank begins with.
    if (!is_here(method) || *method.name == "none" || *method.name == "ptscotch") continue;
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

TEST(PartitionFile, IsReadAsItWasWritten) {
  const test::TempFolder folder;
  for (const auto& rows : {comm::Layout::uniform(test_comm(), 40),
                           comm::Layout::from_local_size(test_comm(), is_last() ? 40 : 0)}) {
    std::vector<int> owners;
    for (GlobalIndex i = rows.begin(); i < rows.end(); ++i) {
      owners.push_back(static_cast<int>(i * 3 % 5));
    }
    for (const char* name : {"owners.part", "owners.part.gz"}) {
      io::write_owners(folder.path(name), rows, owners);
      EXPECT_EQ(io::read_owners(rows, folder.path(name), 5), owners);
    }
  }
}

TEST(PartitionFile, IsRefusedOnEveryRank) {
  const test::TempFolder folder;
  const comm::Layout rows = comm::Layout::uniform(test_comm(), 6);
  const auto message = [&](const std::string& text, int n_ranks) {
    const std::string path = folder.file("owners.part", text);
    const std::string error = test::expect_same_error(
        *test_comm(), ErrorCode::file_format, [&] { io::read_owners(rows, path, n_ranks); });
    return error.substr(std::min(path.size(), error.size()));
  };
  EXPECT_EQ(message("0\n1\n", 2), ": 2 owners, but the matrix has 6 rows");
  EXPECT_EQ(message("0\n1\n0\n1\n0\n2\n", 2),
            ", line 6: the owner 2 is none of the 2 ranks, which are numbered from 0 on");
  EXPECT_EQ(message("0\n1\n0\n1\n0\n1 1\n", 2), ", line 6: '1 1' is not the number of a rank");
  EXPECT_EQ(message("0\n3\n0\n3\n0\n3\n", 4),
            ": no row is for rank 1, nor for 1 other; it is not a partition for 4 ranks");
  EXPECT_EQ(message("0\n1\n0\n1\n0\n1\n", 9), ": 6 rows cannot be divided among 9 ranks");
  EXPECT_EQ(message(std::string(io::max_line_bytes + 1, '0'), 2).substr(0, 8), ", line 1");
}

TEST(PartOrder, ByHand) {
  const PartOrder order = order_of_parts(std::vector<int>{2, 0, 2, 0}, 4);
  EXPECT_EQ(order.starts, (std::vector<GlobalIndex>{0, 2, 2, 4, 4}));
  EXPECT_EQ(order.rows, (std::vector<LocalIndex>{1, 3, 0, 2}));
  const std::vector<int> pairs = {10, 11, 20, 21, 30, 31, 40, 41};
  EXPECT_EQ(order.in_order<int>(pairs, 2), (std::vector<int>{20, 21, 40, 41, 10, 11, 30, 31}));
}

// One rank's order is that of many.
TEST(PartOrder, IsThatOfRowsThatMove) {
  const DistMatrix<double> A = io::generate<double>(test_comm(), {.problem = "rotated_fe", .n = 9});
  const DistMatrix<double> whole =
      io::generate<double>(test::self_comm(), {.problem = "rotated_fe", .n = 9});
  std::vector<int> all;
  for (GlobalIndex i = 0; i < A.rows().n_global(); ++i) {
    all.push_back(static_cast<int>(i * i % 11 % test_comm()->size()));
  }
  const PartOrder order = order_of_parts(all, test_comm()->size());
  const auto mine = std::span(all).subspan(static_cast<std::size_t>(A.rows().begin()),
                                           static_cast<std::size_t>(A.n_local()));
  const DistMatrix<double> moved =
      matrix::redistribute(A, comm::RowMove::to_owners(A.rows(), mine));
  EXPECT_EQ(std::vector(moved.rows().starts().begin(), moved.rows().starts().end()), order.starts);
  EXPECT_EQ(test::gathered(moved), test::gathered(in_order(whole, order)));
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
