// The model of multigrid cycles: by hand, by scenario, and against the figures of its source.
#include <array>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/model/cycle_cost.hpp"

#include "model_support.hpp"

namespace nodewise::model {
namespace model_cycle_test {

/// alpha = 1 s, beta = 1 s a double, t_0 = 1/2, t_1 = 1/4; D - h_m = 2 hops of 1/2 s; B_max / B
/// = 3.
Machine cycle_machine() {
  Machine machine = test::round_machine();
  machine.s_per_flop_by_level = {0.5, 0.25};
  machine.thread_bandwidth = {{1, 8}, {2, 6}, {4, 2}};
  machine.network = FatTree{2, 2};
  machine.hop_latency_s = 0.5;
  machine.hardware_bytes_per_s = 24;
  return machine;
}

std::vector<LevelWork> two_levels() {
  LevelWork fine;
  fine.unknowns = 40;
  fine.solve = {3, 2, 6, 4};
  fine.interpolation = {2, 1, 2, 1};
  LevelWork coarse;
  coarse.unknowns = 8;
  coarse.solve = {4, 1, 4, 2};
  coarse.active_processes = 3;
  return {fine, coarse};
}

Penalties penalties_of(const char* scenario) {
  return Scenario::family().find(scenario).penalties;
}

constexpr JobShape four_processes = {4, 2, 1};

TEST(CycleCost, IsTheSumOfItsOperations) {
  const auto costs = cycle_cost(cycle_machine(), four_processes, two_levels(), {});
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_DOUBLE_EQ(costs[0].smooth_s, 6 * 40 / 4.0 * 3 * 0.5 + 3 * (2 + 6));
  EXPECT_DOUBLE_EQ(costs[0].restrict_s, 2 * 8 / 4.0 * 2 * 0.5 + 1 + 2);
  EXPECT_EQ(costs[0].interpolate_s, 0);
  EXPECT_DOUBLE_EQ(costs[1].smooth_s, 6 * 8 / 4.0 * 4 * 0.25 + 3 * (1 + 4));
  EXPECT_EQ(costs[1].restrict_s, 0);
  EXPECT_DOUBLE_EQ(costs[1].interpolate_s, 2 * 40 / 4.0 * 2 * 0.25 + 1 + 2);
  for (const LevelCost& cost : costs) {
    EXPECT_DOUBLE_EQ(cost.total(), cost.computation_s + cost.latency_s + cost.bandwidth_s);
  }
  EXPECT_DOUBLE_EQ(total_s(costs), 114 + 7 + 27 + 13);
  EXPECT_TRUE(cycle_cost(cycle_machine(), four_processes, {}, {}).empty());
}

TEST(CycleCost, HasTheSixScenarios) {
  // ceil(t P_i / P) = ceil(2 * 3 / 4) = 2; m / l = 4 / 2 on two nodes below one switch.
  const std::vector<NetworkParameters> expected = {{1, 1},     {1 + 1, 1}, {1 + 1, 3 + 2},
                                                   {2 + 1, 5}, {1 + 2, 5}, {2 + 2, 5}};
  ASSERT_EQ(Scenario::family().size(), expected.size());
  for (std::size_t s = 0; s < expected.size(); ++s) {
    const Scenario& scenario = Scenario::family()[s];
    const NetworkParameters net =
        network_parameters(cycle_machine(), scenario.penalties, four_processes, 3, 4, 24);
    EXPECT_DOUBLE_EQ(net.latency_s, expected[s].latency_s) << *scenario.name;
    EXPECT_DOUBLE_EQ(net.s_per_double, expected[s].s_per_double) << *scenario.name;
  }
}

TEST(CycleCost, AppliesThePenaltiesOfEachLevel) {
  const Machine machine = cycle_machine();
  const auto costs =
      cycle_cost(machine, four_processes, two_levels(), penalties_of("alpha_beta_gamma"));
  // Level 0 has all processes: factor 2; beta times 3 + 4/2 for A and 3 + 1/2 for P.
  EXPECT_DOUBLE_EQ(costs[0].smooth_s, 90 + 3 * (2 * 4 + 6 * 5));
  EXPECT_DOUBLE_EQ(costs[0].restrict_s, 4 + 4 + 2 * 3.5);
  EXPECT_DOUBLE_EQ(costs[1].smooth_s, 12 + 3 * (4 + 4 * 4));
}

TEST(CycleCost, LeavesOutWhatTheMachineDoesNotTell) {
  Machine machine = cycle_machine();
  machine.network = std::monostate();
  machine.hardware_bytes_per_s.reset();
  const NetworkParameters net =
      network_parameters(machine, penalties_of("beta"), four_processes, 4, 1000, 24);
  EXPECT_EQ(net.latency_s, 1);
  EXPECT_EQ(net.s_per_double, 1);
}

TEST(CycleCost, SharesWorkAmongThreadsThatShareMemory) {
  const Machine machine = cycle_machine();
  EXPECT_EQ(flop_s(machine, 0, 1, 1), 0.5);
  EXPECT_DOUBLE_EQ(flop_s(machine, 0, 1, 2), 0.5 * 8 / 6);
  EXPECT_EQ(flop_s(machine, 0, 1, 3), 0.5 * 4) << "as four threads";
  EXPECT_EQ(flop_s(machine, 0, 1, 9), 0.5 * 4) << "as most that were measured";
  EXPECT_EQ(flop_s(machine, 7, 1, 1), 0.25) << "the last holds for all coarser levels";
  // The same four cores as two processes: a core's share of the work takes b_1 / b_2 as long.
  const auto mpi = cycle_cost(machine, four_processes, two_levels(), {});
  const auto hybrid = cycle_cost(machine, {2, 1, 2}, two_levels(), {});
  EXPECT_DOUBLE_EQ(hybrid[0].computation_s, mpi[0].computation_s * 8 / 6);
  EXPECT_DOUBLE_EQ(hybrid[0].latency_s, mpi[0].latency_s);
}

TEST(CycleCost, PrefersTimesBySize) {
  Machine machine = cycle_machine();
  machine.s_per_flop_by_size = {{100, 1}, {1000, 2}};
  EXPECT_EQ(flop_s(machine, 1, 100, 1), 1);
  EXPECT_EQ(flop_s(machine, 1, 101, 1), 2);
  EXPECT_EQ(flop_s(machine, 1, 1e9, 1), 2);
}

TEST(CycleCost, RefusesWhatMakesNoSense) {
  const Machine machine = cycle_machine();
  EXPECT_THROW((void)cycle_cost(machine, {0, 1, 1}, two_levels(), {}), Error);
  EXPECT_THROW((void)cycle_cost(machine, {1, 0, 1}, two_levels(), {}), Error);
  EXPECT_THROW((void)cycle_cost(machine, {1, 1, 0}, two_levels(), {}), Error);
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto levels = two_levels();
    levels[1].solve.sends = bad;
    EXPECT_THROW((void)cycle_cost(machine, four_processes, levels, {}), Error);
  }
  EXPECT_THROW((void)flop_s(test::round_machine(), 0, 1, 1), Error) << "no times of operations";
}

TEST(CycleCost, GrowsWithEveryAmountAndPenalty) {
  const Machine machine = cycle_machine();
  const std::vector<std::function<void(std::vector<LevelWork>&)>> more = {
      [](auto& w) { w[0].unknowns += 1; },
      [](auto& w) { w[1].unknowns += 1; },
      [](auto& w) { w[0].solve.nonzeros_per_row += 1; },
      [](auto& w) { w[0].solve.sends += 1; },
      [](auto& w) { w[0].solve.elements += 1; },
      [](auto& w) { w[0].solve.messages += 1; },
      [](auto& w) { w[0].interpolation.nonzeros_per_row += 1; },
      [](auto& w) { w[0].interpolation.sends += 1; },
      [](auto& w) { w[0].interpolation.elements += 1; },
      [](auto& w) { w[0].interpolation.messages += 1; },
      [](auto& w) { w[1].active_processes += 1; },
  };
  const Penalties all = penalties_of("alpha_beta_gamma");
  const double now = total_s(cycle_cost(machine, four_processes, two_levels(), all));
  for (std::size_t k = 0; k < more.size(); ++k) {
    auto levels = two_levels();
    more[k](levels);
    const double then = total_s(cycle_cost(machine, four_processes, levels, all));
    if (k + 1 < more.size()) {
      EXPECT_GT(then, now) << k;
    } else {
      EXPECT_GE(then, now) << "rounded up";
    }
  }
  double last = 0;
  for (const char* name : {"baseline", "distance", "beta", "alpha_beta", "alpha_beta_gamma"}) {
    const double seconds =
        total_s(cycle_cost(machine, four_processes, two_levels(), penalties_of(name)));
    EXPECT_GT(seconds, last) << name;
    last = seconds;
  }
}

TEST(CycleCost, ChargesSevenHopsOnEos) {
  const Machine eos = io::shipped_machine("eos");
  const NetworkParameters net =
      network_parameters(eos, penalties_of("distance"), {1024, 16, 1}, 1024, 1000, 800);
  EXPECT_NEAR(net.latency_s, 0.238e-6 + 5 * 0.416e-6, 1e-12);
  EXPECT_NEAR(net.s_per_double, 0.858e-9, 1e-15);
  // B_max / B = 16e9 * 0.858e-9 / 8, and 3210 messages on 321 links.
  const NetworkParameters loaded =
      network_parameters(eos, penalties_of("beta"), {1024, 16, 1}, 1024, 3210, 800);
  EXPECT_NEAR(loaded.s_per_double, 0.858e-9 * (1.716 + 10), 1e-14);
}

TEST(CycleCost, GrowsWithThreadsOnEosAsItsSourceSays) {
  // Table 3: modelled cycle times in ms on 1024 cores, by threads a process. What grows is the
  // computation, as b_1 / b_j; the finest of the levels has most of it.
  const std::vector<std::pair<int, double>> table = {
      {1, 9.75}, {2, 14.9}, {4, 24.2}, {8, 44.2}, {16, 86.4}};
  const Machine eos = io::shipped_machine("eos");
  LevelWork finest;
  finest.unknowns = 62500.0 * 1024;  // 50 x 50 x 25 points a core
  finest.solve.nonzeros_per_row = 7;
  const auto computation_ms = [&](int threads) {
    const auto costs =
        cycle_cost(eos, {1024 / threads, 16 / threads, threads}, std::vector{finest}, {});
    return 1e3 * costs[0].computation_s;
  };
  for (std::size_t k = 1; k < table.size(); ++k) {
    const double modelled = computation_ms(table[k].first) - computation_ms(table[k - 1].first);
    const double in_table = table[k].second - table[k - 1].second;
    EXPECT_LT(modelled, in_table) << "coarser levels are missing";
    EXPECT_GT(modelled, 0.75 * in_table);
  }
}

}  // namespace model_cycle_test
}  // namespace nodewise::model
