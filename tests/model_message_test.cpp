// The terms of single messages, queues, links and reductions, against values worked out by hand.
#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/model/code_balance.hpp"
#include "nodewise/model/contention.hpp"
#include "nodewise/model/message_cost.hpp"
#include "nodewise/model/product_cost.hpp"
#include "nodewise/model/queue_search.hpp"

#include "model_support.hpp"

namespace nodewise::model {
namespace model_message_test {

using enum Locality;
using test::round_machine;

TEST(MessageCost, PostalIsLatencyAndBytesOverRate) {
  EXPECT_EQ(postal_s({2, 4, unlimited}, 12), 5);  // (2.1)
  EXPECT_EQ(postal_s({2, 4, unlimited}, 0), 2);
}

TEST(MessageCost, MaxRateIsLimitedByTheNode) {
  const MessageParameters p = {1, 8, 16};
  EXPECT_EQ(max_rate_s(p, 32, 1), 1 + 32 / 8.0);
  EXPECT_EQ(max_rate_s(p, 32, 2), 1 + 32 / 8.0) << "2 R_b = R_N";
  EXPECT_EQ(max_rate_s(p, 32, 4), 1 + 4 * 32 / 16.0);  // (2.2)
  EXPECT_THROW((void)max_rate_s(p, 32, 0), Error);
}

TEST(MessageCost, MaxRateIsThePostalModelWithoutALimit) {
  for (const double bytes : {0.0, 8.0, 1e3, 1e7}) {
    const MessageParameters p = {1e-6, 3e9, unlimited};
    for (const int ppn : {1, 2, 4, 16}) {
      EXPECT_DOUBLE_EQ(max_rate_s(p, bytes, ppn), postal_s(p, bytes));
    }
    EXPECT_DOUBLE_EQ(max_rate_s({1e-6, 3e9, 3e9}, bytes, 1), postal_s(p, bytes));
  }
}

TEST(MessageCost, GrowsWithEverythingThatCosts) {
  for (const std::string& name : io::shipped_machine_names()) {
    const Machine machine = io::shipped_machine(name);
    for (const double bytes : {8.0, 2000.0, 1e6}) {
      for (int l = 0; l < n_localities; ++l) {
        const auto where = static_cast<Locality>(l);
        for (const int ppn : {1, 3, 16}) {
          const double now = message_s(machine, where, bytes, ppn);
          EXPECT_GT(now, 0);
          EXPECT_GT(message_s(machine, where, bytes * 1.01, ppn), now);
          EXPECT_GE(message_s(machine, where, bytes, ppn + 1), now);
        }
      }
    }
    // Not so for long messages: on Blue Waters they are faster between sockets.
    EXPECT_LE(message_s(machine, same_socket, 8, 1), message_s(machine, same_node, 8, 1));
    EXPECT_LE(message_s(machine, same_node, 8, 1), message_s(machine, other_node, 8, 1));
  }
}

TEST(MessageCost, HasTheFiguresOfBlueWaters) {
  const Machine machine = io::shipped_machine("blue-waters");
  // Sixteen rendezvous messages a node: 3.0e-6 + 16 * 65536 / 6.6e9.
  EXPECT_NEAR(message_s(machine, other_node, 65536, 16), 1.618751515e-4, 1e-12);
  // On the node nothing is injected: 2.5e-6 + 65536 / 6.2e9.
  EXPECT_NEAR(message_s(machine, same_node, 65536, 16), 1.307032258e-5, 1e-13);
}

TEST(QueueSearch, IsQuadratic) {
  Machine machine = round_machine();
  machine.queue_search_s = 0.5;
  EXPECT_EQ(queue_search_s(machine, 6, Arrival::reversed), 18);  // (3.1)
  EXPECT_EQ(queue_search_s(machine, 6, Arrival::random), 9);
  EXPECT_DOUBLE_EQ(queue_search_s(machine, 6, Arrival::observed), 12);
  EXPECT_EQ(queue_search_s(machine, 6, Arrival::in_order), 0);
  // On Blue Waters 10,000 messages wait 0.84 s for their searches.
  EXPECT_DOUBLE_EQ(queue_search_s(io::shipped_machine("blue-waters"), 10000, Arrival::reversed),
                   0.84);
}

TEST(Contention, CountsTheBytesOfACube) {
  // (3.5): h = 2, b = 100 bytes from each of 16 ranks a node, two nodes a router.
  Machine machine = io::shipped_machine("blue-waters");
  NetworkLoad load;
  load.n_nodes = 7;
  load.bytes = 7 * 16 * 100;
  load.byte_hops = 2 * load.bytes;
  EXPECT_DOUBLE_EQ(bytes_per_link(machine.network, load), 2 * 8 * 100 * 16);
  EXPECT_DOUBLE_EQ(contention_s(machine, load), 1.0e-10 * 25600);  // (3.3), (3.4)
  load.bytes = load.byte_hops = 0;
  EXPECT_EQ(contention_s(machine, load), 0);
}

TEST(Contention, SpreadsBytesOverTheLinksOfOtherNetworks) {
  NetworkLoad load;
  load.n_nodes = 4;
  load.bytes = 100;
  load.byte_hops = 400;
  EXPECT_EQ(bytes_per_link(FatTree{2, 2}, load), 50) << "two levels of four links";
  EXPECT_EQ(bytes_per_link(NetworkShape(), load), 0);
}

TEST(Contention, PlacesTheNodesOfAJobInACube) {
  const NetworkShape gemini = Torus{{24, 24, 24}, 2};
  // Figure 3.7: routers 3 and 11 of a cube of 27, two nodes each.
  EXPECT_EQ(contention_hops(gemini, 54, 6, 23), 4);
  EXPECT_EQ(contention_hops(gemini, 54, 6, 7), 0) << "the same router";
  EXPECT_EQ(contention_hops(FatTree{2, 3}, 8, 0, 7), 6);
}

TEST(ProductCost, IsTheSlowestRankAndItsWork) {
  const Machine machine = round_machine();
  // (4.5): 2 c nnz = 2 * 0.5 * 10; 3 messages of 16 bytes take 3 (1 + 2), 2 of 40 take 2 (1 + 5).
  const ProductSends ranks[] = {{3, 16}, {2, 40}, {0, 0}};
  EXPECT_EQ(product_s(machine, 0.5, 10, ranks), 10 + 12);
  EXPECT_EQ(product_s(machine, 0.5, 10, {}), 10);
}

TEST(AllreduceCost, CountsRounds) {
  EXPECT_EQ(rounds_of_doubling(1), 0);
  EXPECT_EQ(rounds_of_doubling(2), 1);
  EXPECT_EQ(rounds_of_doubling(5), 3);
  EXPECT_EQ(rounds_of_doubling(1 << 30), 30);
  EXPECT_EQ(rounds_of_doubling((1 << 30) + 1), 31);
}

TEST(AllreduceCost, HasTheValuesOfItsAlgorithms) {
  using enum AllreduceAlgorithm;
  const Machine machine = round_machine();
  // 8 nodes of 4: 2 rounds of 0.25 + 8/32, 3 of 1 + 4 * 8/16 (four ranks at the node's limit).
  EXPECT_DOUBLE_EQ(allreduce_s(machine, recursive_doubling, 8, 4, 8), 2 * 0.5 + 3 * 3);
  // Pieces of 32, 16 on the node and 8 between nodes, there and back.
  EXPECT_DOUBLE_EQ(allreduce_s(machine, reduce_scatter_allgather, 2, 4, 64),
                   2 * (0.25 + 1) + 2 * (0.25 + 0.5) + 2 * (1 + 4 * 8 / 16.0));
  // 5 nodes of 4 are one group after one message; before and after it rounds of 1 and 2 slots.
  const double on_node = (0.25 + 8 / 32.0) + (0.25 + 16 / 32.0);
  EXPECT_DOUBLE_EQ(allreduce_s(machine, node_aware, 5, 4, 8), on_node + 3 + on_node);
  EXPECT_DOUBLE_EQ(allreduce_s(machine, node_aware, 6, 4, 8), on_node + 2 * (3 + on_node));
}

TEST(AllreduceCost, IsScaledByWhatWasMeasured) {
  using enum AllreduceAlgorithm;
  Machine machine = round_machine();
  EXPECT_EQ(allreduce_scale(machine, recursive_doubling, 8), 1);
  // On 8 nodes of 4, as above, twice the formula at 8 bytes, and thrice at 64.
  const double doubled = 2 * allreduce_s(machine, recursive_doubling, 8, 4, 8);
  const double tripled = 3 * allreduce_s(machine, recursive_doubling, 8, 4, 64);
  machine.allreduces = MeasuredAllreduces{32, 8, {{8, doubled}, {64, tripled}}, {}};
  EXPECT_DOUBLE_EQ(allreduce_scale(machine, recursive_doubling, 1), 2);
  EXPECT_DOUBLE_EQ(allreduce_scale(machine, recursive_doubling, 16), 2);
  EXPECT_DOUBLE_EQ(allreduce_scale(machine, reduce_scatter_allgather, 1e9), 3);
  EXPECT_EQ(allreduce_scale(machine, node_aware, 8), 1) << "not measured";
  machine.allreduces->node_aware = {{8, 5 * allreduce_s(machine, node_aware, 8, 4, 8)}};
  EXPECT_DOUBLE_EQ(allreduce_scale(machine, node_aware, 8), 5);
  machine.allreduces->ranks = machine.allreduces->nodes = 1;
  EXPECT_EQ(allreduce_scale(machine, node_aware, 8), 1) << "the formula says 0";
}

TEST(AllreduceCost, IsNothingForOneRankAndGrows) {
  const Machine machine = io::shipped_machine("generic-cluster");
  for (const auto algorithm :
       {AllreduceAlgorithm::recursive_doubling, AllreduceAlgorithm::reduce_scatter_allgather,
        AllreduceAlgorithm::node_aware}) {
    EXPECT_EQ(allreduce_s(machine, algorithm, 1, 1, 8), 0);
    EXPECT_THROW((void)allreduce_s(machine, algorithm, 0, 1, 8), Error);
    EXPECT_THROW((void)allreduce_s(machine, algorithm, 1, 0, 8), Error);
    double last = 0;
    for (int nodes = 1; nodes < 5000; nodes *= 3) {
      const double now = allreduce_s(machine, algorithm, nodes, 16, 8);
      EXPECT_GE(now, last);
      EXPECT_GT(allreduce_s(machine, algorithm, nodes, 16, 16), now);
      last = now;
    }
  }
  // One rank a node: recursive doubling is what the node-aware algorithm does then.
  EXPECT_DOUBLE_EQ(allreduce_s(machine, AllreduceAlgorithm::node_aware, 64, 1, 8),
                   allreduce_s(machine, AllreduceAlgorithm::recursive_doubling, 64, 1, 8));
  EXPECT_LT(allreduce_s(machine, AllreduceAlgorithm::node_aware, 64, 16, 8),
            allreduce_s(machine, AllreduceAlgorithm::recursive_doubling, 64, 16, 8));
  EXPECT_LT(allreduce_s(machine, AllreduceAlgorithm::reduce_scatter_allgather, 64, 16, 1e7),
            allreduce_s(machine, AllreduceAlgorithm::recursive_doubling, 64, 16, 1e7));
}

TEST(CodeBalance, IsThatOfTheEquation) {
  // 100 rows of 15 entries, whose pointers the paper leaves out.
  const KernelTraffic t = product_traffic({100, 100, 1500, 8, 4, 0});
  EXPECT_DOUBLE_EQ(t.bytes() / t.flops, 6 + 12.0 / 15);  // (1)
  const KernelTraffic others = product_traffic({100, 0, 0, 8, 4, 0});
  EXPECT_DOUBLE_EQ((t + others).bytes() / t.flops, 6 + 20.0 / 15);  // (2): all rows twice
  EXPECT_DOUBLE_EQ(product_traffic({100, 100, 1500}).bytes(), t.bytes() + 800);
  const KernelTraffic single = product_traffic({100, 100, 1500, 4, 4, 0});
  EXPECT_DOUBLE_EQ(single.bytes() / single.flops, 4 + 6.0 / 15);
}

TEST(CodeBalance, SeveralVectorsReadTheMatrixOnce) {
  const KernelTraffic one = product_traffic({10, 20, 60});
  const KernelTraffic four = product_traffic({10, 20, 60}, 4);
  EXPECT_EQ(four.matrix_bytes, one.matrix_bytes);
  EXPECT_EQ(four.read_bytes, 4 * 20 * 8);
  EXPECT_EQ(four.written_bytes, 4 * 10 * 8);
  EXPECT_EQ(four.flops, 4 * one.flops);
}

TEST(CodeBalance, TransposedProductsFillTheirResultFirst) {
  EXPECT_EQ(transposed_traffic({10, 4, 30}), (KernelTraffic{60, 30 * 12 + 80, 80, 2 * 32}));
}

TEST(CodeBalance, TheBoundIsOfTriadsAndOfReading) {
  const MemoryBandwidth bandwidth = {4, 8};
  EXPECT_EQ(least_s(vector_traffic(10, 2, 1, 2), bandwidth), 320 / 4.0) << "a triad";
  EXPECT_EQ(least_s(vector_traffic(10, 0, 1, 0), bandwidth), 160 / 4.0) << "writing alone";
  EXPECT_EQ(least_s(vector_traffic(10, 2, 0, 2), bandwidth), 160 / 8.0) << "reading alone";
  EXPECT_EQ(least_s(vector_traffic(10, 5, 1, 2), bandwidth), 320 / 4.0 + 240 / 8.0);
  EXPECT_EQ(least_s(2 * vector_traffic(10, 5, 1, 2), bandwidth), 2 * (320 / 4.0 + 240 / 8.0));
}

TEST(CodeBalance, KappaIsWhatIsReadBesides) {
  const MemoryBandwidth bandwidth = {4, 8};
  const KernelTraffic t = product_traffic({100, 100, 1500});
  const double least = least_s(t, bandwidth);
  EXPECT_NEAR(kappa(least, t, 1500, bandwidth), 0, 1e-12);
  // x once more: 8 bytes for each of 100 columns.
  EXPECT_NEAR(kappa(least + 800 / 8.0, t, 1500, bandwidth), 800.0 / 1500, 1e-9);
  EXPECT_LT(kappa(least / 2, t, 1500, bandwidth), 0);
}

}  // namespace model_message_test
}  // namespace nodewise::model
