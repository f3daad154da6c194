// The cost of exchanges whose data lie on GPUs: over any route, by any way.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/gpu_exchange.hpp"

#include "virtual_exchange.hpp"

namespace nodewise::model {
namespace model_gpu_exchange_test {

constexpr const char* machines[] = {"summit", "lassen-spectrum", "lassen-mvapich"};

const GpuTransport& way(const char* name) {
  return GpuTransport::family().find(name);
}

GpuExchangeCost forward(const GpuTransport& by, std::span<const comm::Plan> plans,
                        const mpi::Topology& topology, const Machine& machine) {
  return require(gpu_forward_cost(by, plans, topology, machine), *by.name);
}

/// Each of the GPUs of a node sends as many entries to each of the GPUs of another, which answer.
std::vector<comm::Plan> both_ways(const mpi::Topology& topology, int gpus, LocalIndex entries,
                                  const comm::Route& route) {
  std::vector<LocalIndex> needed(static_cast<std::size_t>(entries));
  std::iota(needed.begin(), needed.end(), 0);
  test::Sends sends;
  for (int p = 0; p < 2 * gpus; ++p) {
    for (int r = 0; r < 2 * gpus; ++r) {
      if (p / gpus != r / gpus) sends[{p, r}] = needed;
    }
  }
  const std::vector<LocalIndex> owned(static_cast<std::size_t>(2 * gpus), entries);
  return comm::virtual_plans(test::patterns_of(owned, sends), topology, route);
}

mpi::Topology two_nodes_of(int gpus) {
  std::vector<int> nodes(static_cast<std::size_t>(gpus), 0);
  nodes.resize(static_cast<std::size_t>(2 * gpus), 1);
  return mpi::Topology(nodes);
}

// Messages as the closed formulas say; of the copies, what goes to several is copied once.
TEST(GpuExchange, OfEqualMessagesIsTheClosedFormula) {
  for (const char* name : machines) {
    const Machine m = io::shipped_machine(name);
    const int gpus = m.gpu->gpus_per_node;
    const mpi::Topology topology = two_nodes_of(gpus);
    for (const LocalIndex entries : {1, 1000, 10000}) {
      const auto plans = both_ways(topology, gpus, entries, "direct");
      const double bytes = 8.0 * entries;
      for (const GpuTransport& by : GpuTransport::family()) {
        SCOPED_TRACE(std::string(name) + " " + *by.name);
        const GpuExchangeCost cost = forward(by, plans, topology, m);
        const double all = require(seconds(by, m, {1.0 * gpus, bytes, gpus}), "all");
        const GpuCopies of_all = copies(by, m, {gpus * bytes, gpus * bytes});
        EXPECT_NEAR(cost.messages.total(), all - of_all.total(), 1e-9 * all);
        const GpuCopies once = copies(by, m, {bytes, gpus * bytes});
        EXPECT_DOUBLE_EQ(cost.copies.out_s, once.out_s);
        EXPECT_DOUBLE_EQ(cost.copies.in_s, once.in_s);
      }
    }
  }
}

// The way is no matter of the route: copies are the same, and messages cost what they cost on the
// machine that the way sees, those on a node among them.
TEST(GpuExchange, GoesOverAnyRoute) {
  test::Dice dice(3);
  const Machine m = io::shipped_machine("summit");
  for (int trial = 0; trial < 5; ++trial) {
    const auto patterns = test::random_patterns(18, dice);
    const mpi::Topology topology(
        std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2});
    const auto straight = comm::virtual_plans(patterns, topology, "direct");
    for (const comm::RouteMethod& route : comm::RouteMethod::family()) {
      const auto plans = comm::virtual_plans(patterns, topology, comm::Route(route));
      for (const GpuTransport& by : GpuTransport::family()) {
        const GpuExchangeCost cost = forward(by, plans, topology, m);
        EXPECT_EQ(cost.copies.total(), forward(by, straight, topology, m).copies.total());
        ExchangeCostOptions options;
        options.cores = (*by.cores)(m);
        const Machine seen = require((*by.messages)(m), *by.name);
        EXPECT_EQ(cost.messages.total(), forward_cost(plans, topology, seen, options).total());
        const GpuExchangeCost back =
            require(gpu_reversed_cost(by, plans, topology, m), "backwards");
        const GpuBytes most = most_bytes(plans, 8);
        EXPECT_EQ(back.copies.out_s, copies(by, m, {most.in, 0}).out_s);
        EXPECT_EQ(back.copies.in_s, copies(by, m, {0, most.out}).in_s);
      }
    }
  }
}

TEST(GpuExchange, TakesTheGpusParametersOfEachLocality) {
  const Machine m = io::shipped_machine("lassen-spectrum");
  const Machine seen = require((*way("direct").messages)(m), "direct");
  for (int l = 0; l < n_localities; ++l) {
    const auto& messages = m.gpu->direct[static_cast<std::size_t>(l)];
    const auto where = static_cast<Locality>(l);
    EXPECT_EQ(seen.parameters(where, 2048).latency_s, messages->to_switch.latency_s);
    EXPECT_EQ(seen.parameters(where, 2049).latency_s, messages->beyond.latency_s);
    EXPECT_EQ(seen.parameters(where, 2049).rate_bytes_per_s, messages->beyond.rate_bytes_per_s);
  }
  EXPECT_EQ(seen.parameters(Locality::other_node, 1).injection_bytes_per_s,
            m.gpu->injection_bytes_per_s);
  // No bound of the rate was seen on a socket.
  EXPECT_GT(seen.parameters(Locality::same_socket, 1).rate_bytes_per_s, 1e17);
}

TEST(GpuExchange, WhereNothingIsSentNothingIsCopied) {
  const Machine m = io::shipped_machine("summit");
  const std::vector<comm::Plan> plans(2);
  for (const GpuTransport& by : GpuTransport::family()) {
    EXPECT_EQ(forward(by, plans, two_nodes_of(1), m).total(), 0) << *by.name;
  }
  const Machine without = io::shipped_machine("eos");
  const auto answer = gpu_forward_cost(way("one_core"), plans, two_nodes_of(1), without);
  ASSERT_TRUE(std::holds_alternative<Unanswered>(answer));
  EXPECT_NE(std::get<Unanswered>(answer).reason.find("`gpu`"), std::string::npos);
}

// With several cores each searches a queue of its own share.
TEST(ExchangeCost, IsSharedByTheCoresOfARank) {
  Machine m = io::shipped_machine("summit");
  m.queue_search_s = 1e-7;
  const mpi::Topology topology(std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  for (const int cores : {1, 2, 4, 100}) {
    ExchangeCostOptions options;
    options.cores = cores;
    options.arrival = Arrival::reversed;
    ExchangeTally tally(m, topology, options);
    for (int r = 1; r <= 6; ++r) tally.add(0, r, 0, 1000);
    const double part = 6.0 / std::min(cores, 6);
    const MessageParameters& p = m.parameters(Locality::other_node, 1000);
    const ExchangeCost cost = tally.total();
    EXPECT_DOUBLE_EQ(cost.latency_s, part * p.latency_s);
    EXPECT_NEAR(cost.bandwidth_s, part * 1000 / p.rate_bytes_per_s, 1e-15);
    EXPECT_NEAR(cost.bandwidth_s + cost.injection_s,
                std::max(part * 1000 / p.rate_bytes_per_s, 6000 / p.injection_bytes_per_s), 1e-15);
    EXPECT_NEAR(cost.queue_s, 1e-7 * part * part, 1e-15);
  }
}

}  // namespace model_gpu_exchange_test
}  // namespace nodewise::model
