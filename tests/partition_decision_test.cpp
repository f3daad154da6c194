// Whether a partition pays.
#include "nodewise/partition/partition_decision.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/partition/division.hpp"
#include "nodewise/partition/metis.hpp"
#include "nodewise/partition/ptscotch.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "support.hpp"

namespace nodewise::partition {
namespace partition_decision_test {

using test::test_comm;

/// Latencies 1 us and 10 us between nodes, 1 GB/s everywhere.
model::Machine round_numbers() {
  model::Machine machine;
  machine.name = "round";
  const auto eager = static_cast<std::size_t>(model::Protocol::eager);
  machine.path(model::Locality::same_node)[eager] = model::MessageParameters{1e-6, 1e9};
  machine.path(model::Locality::other_node)[eager] = model::MessageParameters{1e-5, 1e9};
  return machine;
}

TEST(PartitionDecision, CompactPartsByHand) {
  const model::Machine machine = round_numbers();
  // Cubes of 10 x 10 x 10 points with 26 neighbours each, one on each node: 12^3 - 10^3 = 728
  // points around, in 7 of 8 parts. Then 64 of them, 14 of which touch one.
  EXPECT_NEAR(compact_parts_s({8000, 27 * 8000.0, 1}, 8, 8, machine, false), 7e-5 + 728 * 8e-9,
              1e-12);
  EXPECT_NEAR(compact_parts_s({64000, 27 * 64000.0, 1}, 64, 64, machine, false), 14e-5 + 728 * 8e-9,
              1e-12);
  // All on one node, and of points with three rows.
  EXPECT_NEAR(compact_parts_s({8000, 27 * 9 * 8000.0, 3}, 8, 1, machine, false), 7e-6 + 728 * 24e-9,
              1e-12);
  // Nodes of 8 parts: 1.5 / 2 of what a part needs comes from other nodes, at an eighth of a node's
  // rate each for bytes.
  const double bytes = 728 * 8e-9;
  EXPECT_NEAR(compact_parts_s({64000, 27 * 64000.0, 1}, 64, 8, machine, false),
              0.75 * (14e-5 + bytes) + 0.25 * (14e-6 + bytes), 1e-12);
  // Through the nodes: each rank sends to one of 7 nodes an eighth of 22^3 - 20^3 points, which are
  // gathered from 7 ranks and spread to as many.
  const double share = (22 * 22 * 22 - 8000) / 8.0 * 8e-9;
  EXPECT_NEAR(compact_parts_s({64000, 27 * 64000.0, 1}, 64, 8, machine, true),
              1e-5 + share + 2 * (7e-6 + share), 1e-12);
  EXPECT_EQ(compact_parts_s({8000, 27 * 8000.0, 1}, 1, 1, machine, false), 0);
}

TEST(PartitionDecision, WeighsCostsAgainstProducts) {
  PartitionDecision costs;
  costs.chosen = "node_aware";
  costs.now_s = 3e-4;
  costs.then_s = 1e-4;
  costs.cost_s = 0.0999;
  costs.products = 500;  // as many as it takes
  PartitionDecision decision = cheaper(costs);
  EXPECT_EQ(decision.chosen, "none");
  EXPECT_EQ(decision.pays_after, 500);
  EXPECT_EQ(decision.reason,
            "predicted 100 us for the messages of a product against 300 us, and 99.9 ms to get "
            "there: it pays after 500 products, and 500 are expected");
  costs.products = 501;
  EXPECT_EQ(cheaper(costs).chosen, "node_aware");
  costs.then_s = 2.8e-4;  // an estimate is not that good
  costs.products = 1e9;
  decision = cheaper(costs);
  EXPECT_EQ(decision.chosen, "none");
  EXPECT_EQ(decision.pays_after, 0);
}

Division automatic(const matrix::DistMatrix<double>& A, const mpi::Topology& topology,
                   const model::Machine* machine, double products) {
  DivisionOptions options;
  options.partition = "automatic";
  options.machine = machine;
  options.products = products;
  options.is_virtual = A.comm().size() == 1;
  return divide(options, {A, topology, 1});
}

/// A grid in an order that has nothing to do with it, so that every part needs all others.
matrix::DistMatrix<double> badly_ordered(const std::shared_ptr<const mpi::Comm>& comm) {
  constexpr int side = 40, n = side * side;
  const comm::Layout rows = comm::Layout::uniform(comm, n);
  // 637 is a unit modulo 1600: both directions are inverse to each other.
  const auto place = [](int i) { return i * 637 % n; };
  std::vector<int> point(n);
  for (int i = 0; i < n; ++i) point[static_cast<std::size_t>(place(i))] = i;
  return matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, auto&& emit) {
    const int at = point[static_cast<std::size_t>(i - rows.first())];
    emit(i, 4.0);
    for (const auto& [x, y] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
      const int column = at % side + x, line = at / side + y;
      if (column < 0 || column >= side || line < 0 || line >= side) continue;
      emit(rows.first() + place(line * side + column), -1.0);
    }
  });
}

TEST(PartitionDecision, IsTheSameEverywhere) {
  if (!has_metis()) GTEST_SKIP() << "without METIS";
  model::Machine machine = round_numbers();
  const matrix::DistMatrix<double> A = badly_ordered(test_comm());
  std::vector<int> nodes(static_cast<std::size_t>(test_comm()->size()));
  for (std::size_t r = 0; r < nodes.size(); ++r) nodes[r] = static_cast<int>(r);
  if (test_comm()->size() == 1) nodes = {0, 0, 1, 1, 2, 2};
  const mpi::Topology topology(nodes);
  machine.path(model::Locality::other_node)[1]->rate_bytes_per_s = 1e6;  // values are dear
  const Division few = automatic(A, topology, &machine, 1);
  ASSERT_TRUE(few.decision.has_value());
  EXPECT_EQ(few.decision->chosen, "none");
  EXPECT_FALSE(few.moves_rows);
  EXPECT_EQ(few.decision->now_s, mpi::broadcast(*test_comm(), few.decision->now_s, 0));
  EXPECT_GT(few.decision->now_s, few.decision->then_s);
  const Division many = automatic(A, topology, &machine, 1e9);
  EXPECT_EQ(many.decision->chosen, "node_aware");
  EXPECT_TRUE(many.moves_rows);
  EXPECT_EQ(many.owners, owners("node_aware", {A, topology, 1}));
  EXPECT_GE(many.decision->pays_after, 1);
}

TEST(PartitionDecision, NeedsANetworkAndItsCosts) {
  const matrix::DistMatrix<double> A = badly_ordered(test_comm());
  const mpi::Topology one_node(std::vector<int>(static_cast<std::size_t>(test_comm()->size()), 0));
  const Division here = automatic(A, one_node, nullptr, 1e9);
  EXPECT_EQ(here.decision->chosen, "none");
  EXPECT_EQ(here.decision->reason, "all ranks are on one node");
  if (!has_metis() && !has_ptscotch()) return;
  std::vector<int> nodes(static_cast<std::size_t>(test_comm()->size()));
  for (std::size_t r = 0; r < nodes.size(); ++r) nodes[r] = static_cast<int>(r);
  if (test_comm()->size() == 1) nodes = {0, 1};
  test::expect_same_error(*test_comm(), ErrorCode::unsupported,
                          [&] { automatic(A, mpi::Topology(nodes), nullptr, 1); });
}

}  // namespace partition_decision_test
}  // namespace nodewise::partition
