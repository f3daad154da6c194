// The way of data between GPUs that a model chooses, alone and by all ranks together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/gpu_exchange.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/routing/gpu_transport_choice.hpp"

#include "support.hpp"
#include "virtual_exchange.hpp"

namespace nodewise::routing {
namespace routing_gpu_transport_test {

using model::GpuTransport;
using testing::HasSubstr;

const GpuTransport& way(const char* name) {
  return GpuTransport::family().find(name);
}

TEST(GpuTransportChoice, IsOfTheLeastTimeAndSaysWhy) {
  const GpuTransportDecision fewer =
      quickest_way({{"direct", 60e-6}, {"one_core", 50e-6}, {"many_cores", 41e-6}});
  EXPECT_EQ(fewer.chosen, "many_cores");
  EXPECT_EQ(fewer.reason, "predicted 41 us against 50 us one_core");
  const GpuTransportDecision stays = quickest_way({{"direct", 50e-6}, {"one_core", 50e-6}});
  EXPECT_EQ(stays.chosen, "one_core");
  EXPECT_EQ(stays.reason, "predicted 50 us against 50 us direct");
  EXPECT_EQ(quickest_way({{"one_core", 1}}).reason, "there is no other");
}

/// Each GPU of a node sends as many entries to each of as many others, which answer.
std::vector<comm::Plan> plans_of(int messages, LocalIndex entries, const mpi::Topology& topology) {
  std::vector<LocalIndex> needed(static_cast<std::size_t>(entries));
  for (LocalIndex i = 0; i < entries; ++i) needed[static_cast<std::size_t>(i)] = i;
  test::Sends sends;
  const int n_ranks = topology.n_ranks();
  for (int p = 0; p < n_ranks; ++p) {
    for (int k = 1; k <= messages; ++k) {
      sends[{p, (p + k) % n_ranks}] = needed;
    }
  }
  const std::vector<LocalIndex> owned(static_cast<std::size_t>(n_ranks), entries);
  return comm::virtual_plans(test::patterns_of(owned, sends), topology, "direct");
}

// A message of one number goes straight; many of them by the host's cores.
TEST(GpuTransportChoice, GoesStraightAloneAndByTheHostTogether) {
  std::vector<int> nodes(40);
  for (int r = 0; r < 40; ++r) nodes[static_cast<std::size_t>(r)] = r;
  const mpi::Topology topology(nodes);
  const model::Machine machine = io::shipped_machine("summit");
  const auto chosen = [&](int messages, LocalIndex entries) {
    return choose_gpu_transport(plans_of(messages, entries, topology), topology, machine, 8);
  };
  EXPECT_EQ(chosen(1, 1).chosen, "direct");
  EXPECT_NE(chosen(39, 1).chosen, "direct");
  EXPECT_EQ(chosen(39, 1).predictions.size(), GpuTransport::family().size());
  EXPECT_EQ(chosen(2, 20000).chosen, "direct") << "copies of long messages do not pay";
  // A caller that cannot go straight, nor has other cores.
  const GpuTransportDecision alone = choose_gpu_transport(
      plans_of(1, 1, topology), topology, machine, 8, [](const GpuTransport&) { return false; });
  EXPECT_EQ(alone.chosen, "one_core");
  EXPECT_EQ(alone.predictions.size(), 1U);
}

TEST(GpuTransportChoice, IsThePlainWayWhereNothingNeedBeAsked) {
  const mpi::Topology one_node(std::vector<int>{0, 0, 0});
  const mpi::Topology three(std::vector<int>{0, 1, 2});
  const GpuTransportDecision there =
      choose_gpu_transport(plans_of(2, 1, one_node), one_node, io::shipped_machine("summit"), 8);
  EXPECT_EQ(there.chosen, "one_core");
  EXPECT_EQ(there.reason, "all ranks are on one node");
  const GpuTransportDecision unknown =
      choose_gpu_transport(plans_of(2, 1, three), three, io::shipped_machine("eos"), 8);
  EXPECT_EQ(unknown.chosen, "one_core");
  EXPECT_THAT(unknown.reason, HasSubstr("'eos' has no `gpu`"));
}

// Ranks that know their own plan alone find what the plans of all would tell.
TEST(GpuTransportChoice, OfAllRanksTogetherIsThatOfTheirPlans) {
  const auto world = test::test_comm();
  for (const test::NodeMap& map : test::node_maps(world->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const char* name : {"summit", "lassen-spectrum", "lassen-mvapich"}) {
      const model::Machine machine = io::shipped_machine(name);
      test::Dice dice(11);
      for (const comm::RouteMethod& route : comm::RouteMethod::family()) {
        SCOPED_TRACE(map.name + ", " + name + ", " + *route.name);
        const auto patterns = test::random_patterns(comm->size(), dice);
        const auto plans = comm::virtual_plans(patterns, comm->topology(), comm::Route(route));
        const auto& own = plans[static_cast<std::size_t>(comm->rank())];
        const GpuTransportDecision expected =
            choose_gpu_transport(plans, comm->topology(), machine, 8);
        const GpuTransportDecision found = choose_gpu_transport(*comm, own, machine, 8);
        EXPECT_EQ(found.chosen, expected.chosen);
        EXPECT_EQ(found.reason, expected.reason);
        ASSERT_EQ(found.predictions.size(), expected.predictions.size());
        for (std::size_t k = 0; k < found.predictions.size(); ++k) {
          EXPECT_EQ(found.predictions[k].transport, expected.predictions[k].transport);
          EXPECT_NEAR(found.predictions[k].seconds, expected.predictions[k].seconds,
                      1e-12 * expected.predictions[k].seconds);
        }
      }
    }
  }
}

TEST(GpuTransportChoice, AsksNobodyWhereThePlainWayGoesWithoutSaying) {
  const auto world = test::test_comm();
  const std::vector<int> one_node(static_cast<std::size_t>(world->size()), 0);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, one_node);
  const auto plans = plans_of(comm->size() - 1, 1, comm->topology());
  comm->ledger().clear();
  choose_gpu_transport(*comm, plans[static_cast<std::size_t>(comm->rank())],
                       io::shipped_machine("summit"), 8);
  for (const mpi::Account& account : comm->ledger().accounts()) {
    EXPECT_EQ(account.counts.collectives, 0);
  }
}

}  // namespace routing_gpu_transport_test
}  // namespace nodewise::routing
