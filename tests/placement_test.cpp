// Which rank has which part of a partition.
#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/contention.hpp"
#include "nodewise/partition/division.hpp"
#include "nodewise/partition/placement_method.hpp"
#include "nodewise/partition/quotient_graph.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "partition_support.hpp"
#include "support.hpp"

namespace nodewise::partition {
namespace placement_test {

using matrix::DistMatrix;
using test::test_comm;
using Edge = QuotientGraph::Edge;

std::vector<int> ranks_of(const Placement& placement, const PlacementTask& task) {
  return (*placement->ranks)(task);
}

void expect_each_once(const std::vector<int>& ranks, int n) {
  std::vector<int> sorted = ranks, numbers(static_cast<std::size_t>(n));
  std::sort(sorted.begin(), sorted.end());
  std::iota(numbers.begin(), numbers.end(), 0);
  EXPECT_EQ(sorted, numbers);
}

/// Parts p and p + 1 of a chain exchange `values`, both ways; `numbers` are those of the parts.
QuotientGraph chain(const std::vector<int>& numbers, std::int64_t values) {
  QuotientGraph graph = {static_cast<int>(numbers.size()), {}};
  for (std::size_t k = 0; k + 1 < numbers.size(); ++k) {
    graph.edges.push_back({numbers[k], numbers[k + 1], values});
    graph.edges.push_back({numbers[k + 1], numbers[k], values});
  }
  return graph;
}

/// 0 .. n - 1 in an order that has nothing to do with them; n is no multiple of 7.
std::vector<int> scrambled(int n) {
  std::vector<int> numbers;
  for (int k = 0; k < n; ++k) numbers.push_back(k * 7 % n);
  return numbers;
}

mpi::Topology blocks(int n_ranks, int per_node) {
  std::vector<int> nodes;
  for (int r = 0; r < n_ranks; ++r) nodes.push_back(r / per_node);
  return mpi::Topology(nodes);
}

TEST(QuotientGraph, CountsWhatAProductNeeds) {
  for (const auto& rows :
       {comm::Layout::uniform(test_comm(), 60),
        comm::Layout::from_local_size(test_comm(),
                                      test_comm()->rank() == test_comm()->size() - 1 ? 60 : 0)}) {
    const test::RandomMatrix<double> A(rows, rows, 0.06, 5);
    Array<double> on(A.dist.on().vals.size(), 1.0), off(A.dist.off().vals.size(), 1.0);
    const test::DenseMatrix whole =
        test::gathered(A.dist.with_values(std::move(on), std::move(off)));  // no zeros
    const auto part = [](GlobalIndex row) { return static_cast<int>(row * row % 11 % 7); };
    std::vector<std::set<GlobalIndex>> needs(49);
    for (GlobalIndex i = 0; i < 60; ++i) {
      for (GlobalIndex j = 0; j < 60; ++j) {
        if (whole(i, j) == 0 || part(i) == part(j)) continue;
        needs[static_cast<std::size_t>(part(j) * 7 + part(i))].insert(j);
      }
    }
    std::vector<Edge> wanted;
    for (int k = 0; k < 49; ++k) {
      const auto n = static_cast<std::int64_t>(needs[static_cast<std::size_t>(k)].size());
      if (n > 0) wanted.push_back({k / 7, k % 7, n});
    }
    std::vector<int> owners;
    for (LocalIndex i = 0; i < rows.n_local(); ++i) {
      owners.push_back(part(rows.to_global(i) - rows.first()));
    }
    const auto graph = quotient_graph(A.dist, owners, 7);
    ASSERT_TRUE(graph.has_value());
    EXPECT_EQ(graph->n_parts, 7);
    EXPECT_EQ(graph->edges, wanted);
  }
}

TEST(Placement, HasEachRankOnce) {
  for (const int n : {1, 2, 5, 8}) {
    const QuotientGraph graph = chain(scrambled(n), 3);
    for (const auto& map : test::node_maps(n)) {
      const mpi::Topology topology(map.node_of_rank);
      for (const PlacementMethod& method : PlacementMethod::family()) {
        SCOPED_TRACE(*method.name + ", " + map.name);
        expect_each_once(ranks_of(method, {&graph, topology}), n);
        expect_each_once(ranks_of(method, {nullptr, topology}), n);
      }
    }
  }
}

TEST(Placement, ByNumbersByHand) {
  const mpi::Topology topology(std::vector<int>{0, 1, 0, 2, 0});
  EXPECT_EQ(ranks_of("none", {nullptr, topology}), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(ranks_of("block", {nullptr, topology}), (std::vector<int>{0, 2, 4, 1, 3}));
  EXPECT_EQ(ranks_of("round_robin", {nullptr, topology}), (std::vector<int>{0, 1, 3, 2, 4}));
  const mpi::Topology halves =
      mpi::Topology(std::vector<int>(4, 0)).with_domains(std::vector<int>{0, 1, 0, 1});
  EXPECT_EQ(ranks_of("block", {nullptr, halves}), (std::vector<int>{0, 2, 1, 3}));
}

TEST(PairExchange, PutsAChainInOrder) {
  const QuotientGraph graph = chain(scrambled(16), 100);
  const model::Machine machine = io::find_machine("blue-waters");
  for (const mpi::Topology& topology :
       {blocks(16, 4),
        mpi::Topology(std::vector<int>{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}),
        mpi::Topology(std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 3, 3, 3, 3, 3})}) {
    for (const model::Machine* costs : {static_cast<const model::Machine*>(nullptr), &machine}) {
      const PlacementTask task = {&graph, topology, costs};
      const std::vector<int> ranks = ranks_of("pair_exchange", task);
      const PlacementGain gain = gain_of(ranks, task);
      EXPECT_TRUE(gain.is_known);
      EXPECT_EQ(gain.values_after, 3 * 2 * 100);  // four nodes: three links between them
      EXPECT_LT(gain.values_after, gain.values_before);
      EXPECT_EQ(gain.seconds_after.has_value(), costs != nullptr);
      EXPECT_LE(gain.seconds_after.value_or(0), gain.seconds_before.value_or(0));
      EXPECT_EQ(ranks, ranks_of("pair_exchange", task)) << "not the same twice";
    }
  }
}

// The sides of a ring of nodes that exchange most are to be next to each other.
TEST(PairExchange, KnowsTheNetworksDistances) {
  model::Machine machine = io::find_machine("blue-waters");
  machine.network = model::Torus{{8}, 1};
  machine.contention_s_per_byte_per_link = 0;
  machine.hop_latency_s = 1e-6;
  const std::vector<int> order = {0, 3, 6, 1, 4, 7, 2, 5};
  const QuotientGraph graph = chain(order, 1000);
  const mpi::Topology topology = blocks(8, 1);
  const std::vector<int> ranks = ranks_of("pair_exchange", {&graph, topology, &machine});
  const auto hops = [&](const std::vector<int>& places) {
    int sum = 0;
    for (std::size_t k = 0; k + 1 < order.size(); ++k) {
      const auto place = [&](std::size_t i) { return places[static_cast<std::size_t>(order[i])]; };
      sum += model::contention_hops(machine.network, 8, place(k), place(k + 1));
    }
    return sum;
  };
  const std::vector<int> numbers = ranks_as_numbered({&graph, topology, &machine});
  EXPECT_LE(hops(ranks), 0.7 * hops(numbers));
}

TEST(PairExchange, LeavesAGoodPlacementAlone) {
  std::vector<int> numbers(16);
  std::iota(numbers.begin(), numbers.end(), 0);
  const QuotientGraph graph = chain(numbers, 10), empty = {16, {}};
  const mpi::Topology topology = blocks(16, 4);
  EXPECT_EQ(ranks_of("pair_exchange", {&graph, topology}), numbers);
  EXPECT_EQ(ranks_of("pair_exchange", {&empty, topology}), numbers);
}

TEST(Division, IsThatOfOneRank) {
  const io::GalleryOptions gallery = {.problem = "rotated_fe", .n = 12};
  const DistMatrix<double> spread = io::generate<double>(test_comm(), gallery);
  const DistMatrix<double> whole = io::generate<double>(test::self_comm(), gallery);
  const mpi::Topology topology(std::vector<int>{0, 1, 0, 2, 2, 1, 1});
  for (const PlacementMethod& method : PlacementMethod::family()) {
    SCOPED_TRACE(*method.name);
    DivisionOptions options;
    options.partition = "strided";
    options.placement = Placement(method);
    const Division one = divide(options, {whole, topology, 1});
    const Division many = divide(options, {spread, topology, 1});
    const auto begin = static_cast<std::size_t>(spread.rows().begin());
    const auto mine = std::span(one.owners).subspan(begin, many.owners.size());
    EXPECT_EQ(many.owners, std::vector<int>(mine.begin(), mine.end()));
    EXPECT_EQ(many.placement.has_value(), method.moves_parts);
    if (!many.placement) continue;
    EXPECT_EQ(many.placement->values_before, one.placement->values_before);
    EXPECT_EQ(many.placement->values_after, one.placement->values_after);
  }
}

TEST(Division, OfEmptyPartsAndUnevenNodes) {
  const DistMatrix<double> A = io::generate<double>(test_comm(), {.problem = "laplace5", .n = 2});
  const mpi::Topology topology(std::vector<int>{0, 1, 1, 2, 0, 0, 0});
  for (const PartitionMethod& method : PartitionMethod::family()) {
    if (!test::is_here(method) || !method.moves_rows) continue;
    DivisionOptions options;
    options.partition = Partition(method);
    options.placement = "pair_exchange";
    const Division division = divide(options, {A, topology, 1});
    for (const int owner : division.owners) EXPECT_TRUE(owner >= 0 && owner < 7);
    EXPECT_LE(division.placement->values_after, division.placement->values_before);
  }
}

TEST(Division, OfVirtualRanksWithoutAPartition) {
  const DistMatrix<double> A =
      io::generate<double>(test::self_comm(), {.problem = "laplace5", .n = 8});
  const mpi::Topology topology(std::vector<int>{0, 1, 0, 1});
  DivisionOptions options;
  options.is_virtual = true;
  options.placement = "round_robin";
  EXPECT_TRUE(options.is_plain());
  options.placement = "pair_exchange";
  EXPECT_FALSE(options.is_plain());
  const Division division = divide(options, {A, topology, 1});
  ASSERT_TRUE(division.placement.has_value());
  EXPECT_EQ(division.placement->values_before, 6 * 8);
  EXPECT_EQ(division.placement->values_after, 2 * 8);
  EXPECT_EQ(division.placement->moved_parts, 2);
}

}  // namespace placement_test
}  // namespace nodewise::partition
