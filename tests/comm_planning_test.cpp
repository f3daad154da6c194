// Planning over a communicator: what it costs in messages, and what a rank that fails does to it.
#include <new>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/route/three_step.hpp"
#include "nodewise/comm/sdde/buffers.hpp"
#include "nodewise/mpi/agree.hpp"

#include "collective_error.hpp"
#include "domain_support.hpp"
#include "exchange_checks.hpp"
#include "mpi_counter.hpp"
#include "route_properties.hpp"
#include "support.hpp"
#include "virtual_exchange.hpp"

namespace nodewise::comm {
namespace comm_planning_test {

using mpi::Topology;
using route::Planner;
using route::Words;
using test::Case;
using test::expect_same_error;
using test::test_comm;

const Route planned_routes[] = {"two_step", "three_step"};

/// A planner that fails in one round, on odd ranks when the work is done; in the round after the
/// last it is plan() that does.
class FailsOnce : public Planner {
 public:
  FailsOnce(std::unique_ptr<Planner> planner, int rank, int failing_round)
      : planner_(std::move(planner)), is_late_(rank % 2 == 1), failing_round_(failing_round) {}
  int n_rounds() const override { return planner_->n_rounds(); }
  Words step(int round, const Words& arrived) override {
    if (round == failing_round_ && !is_late_) throw std::bad_alloc();
    Words words = planner_->step(round, arrived);
    if (round == failing_round_) throw std::bad_alloc();
    return words;
  }
  Words step_after_failure(int round, const Words& arrived) override {
    return planner_->step_after_failure(round, arrived);
  }
  std::optional<std::vector<int>> sources(int round) const override {
    return planner_->sources(round);
  }
  Plan plan(const Words& arrived) override {
    if (failing_round_ == n_rounds()) throw std::bad_alloc();
    return planner_->plan(arrived);
  }

 private:
  std::unique_ptr<Planner> planner_;
  bool is_late_;
  int failing_round_;
};

/// In round 1 everybody sends to the next rank and to itself, whom these know; in the others only
/// to itself, which is not known. Whatever is missing is an error.
class Ring : public Planner {
 public:
  Ring(int rank, int n_ranks)
      : rank_(rank),
        next_{rank, (rank + 1) % n_ranks},
        before_{rank, (rank + n_ranks - 1) % n_ranks} {}
  int n_rounds() const override { return 3; }
  Words step(int round, const Words& arrived) override {
    check(round - 1, arrived);
    if (round != 1) return {.ranks = {rank_}, .offsets = {0, 1}, .data = {round}};
    Words words = route::empty_messages_to({next_.begin(), next_.end()});
    words.data.assign(next_.size(), round);
    for (std::size_t i = 0; i < next_.size(); ++i) words.offsets[i + 1] = words.offsets[i] + 1;
    return words;
  }
  Words step_after_failure(int round, const Words& /*arrived*/) override {
    return round == 1 ? route::empty_messages_to({next_.begin(), next_.end()}) : Words{};
  }
  std::optional<std::vector<int>> sources(int round) const override {
    if (round != 1) return std::nullopt;
    return std::vector<int>(before_.begin(), before_.end());
  }
  Plan plan(const Words& arrived) override {
    check(2, arrived);
    return {};
  }

 private:
  void check(int round, const Words& arrived) const {
    const std::size_t expected = round < 0 ? 0 : round == 1 ? before_.size() : 1;
    if (arrived.data != std::vector<std::int64_t>(expected, round)) {
      throw Error(ErrorCode::internal, "not what was sent");
    }
  }

  int rank_;
  std::set<int> next_, before_;
};

/// All would take long; NobodyWaitsForARankThatFails has more.
std::set<int> some_ranks(const mpi::Comm& comm) {
  return {0, comm.size() / 2, comm.size() - 1};
}

TEST(Planning, FailureOnOneRankInAnyRoundIsEverybodys) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const int failing : some_ranks(*comm)) {
      for (int round = 0; round <= 3; ++round) {
        const bool mine = comm->rank() == failing;
        FailsOnce planner(std::make_unique<Ring>(comm->rank(), comm->size()), comm->rank(),
                          mine ? round : -1);
        expect_same_error(*comm, ErrorCode::out_of_memory, [&] { route::run(*comm, planner); });
      }
      Ring planner(comm->rank(), comm->size());  // and nothing is left over
      EXPECT_TRUE(route::run(*comm, planner).stages.empty());
    }
  }
}

void expect_failures_to_be_everybodys(const std::shared_ptr<const mpi::Comm>& comm) {
  const Case c(comm, 40, 0.6, 1);
  const Pattern pattern = discover_pattern(c.layout, c.mine());
  const auto planner = [&](Route route) {
    return make_planner(route, pattern, comm->topology(), comm->rank());
  };
  for (const Route& route : planned_routes) {
    if (goes_straight(route, comm->topology())) continue;
    const int n_rounds = planner(route)->n_rounds();
    for (const int failing : some_ranks(*comm)) {
      for (int round = 0; round <= n_rounds; ++round) {
        FailsOnce fails(planner(route), comm->rank(), comm->rank() == failing ? round : -1);
        expect_same_error(*comm, ErrorCode::out_of_memory, [&] { route::run(*comm, fails); });
      }
    }
    Exchange exchange(comm, make_plan(*comm, pattern, route));  // and nothing is left over
    test::expect_all(exchange, c);
  }
}

TEST(Planning, RoutesFailTogetherInEveryRound) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    expect_failures_to_be_everybodys(mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank));
  }
}

TEST(Planning, RoutesOverDomainsFailTogetherInEveryRound) {
  for (const auto& map : test::domain_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    expect_failures_to_be_everybodys(mpi::Comm::create(MPI_COMM_WORLD, map.topology));
  }
}

// A leader that cannot map the ranks of its node in one of the two directions.
TEST(Planning, AMappingThatFailsOnOneNodeFailsOnAll) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    if (comm->topology().n_nodes() == 1) continue;
    const Case c(comm, 40, 0.6, 1);
    const Pattern pattern = discover_pattern(c.layout, c.mine());
    for (int failing = 0; failing < comm->topology().n_nodes(); ++failing) {
      for (const auto where : {route::Direction::send, route::Direction::receive}) {
        const auto mapping = [&](int node, std::span<const route::PartnerNode> partners,
                                 int n_ranks, route::Direction direction) {
          if (node == failing && direction == where) throw std::bad_alloc();
          return route::map_by_size(node, partners, n_ranks, direction);
        };
        const auto planner = route::three_step(pattern, comm->topology(), comm->rank(), mapping);
        expect_same_error(*comm, ErrorCode::out_of_memory, [&] { route::run(*comm, *planner); });
      }
    }
  }
}

// For hundreds of random cases, in one process: whichever ranks fail in whichever rounds, every
// rank hears from exactly those that it waits for, so that none waits for ever.
class VirtualFailure {
 public:
  VirtualFailure(const std::vector<Pattern>& patterns, const Topology& topology, Route route,
                 const std::map<int, int>& failing_rounds)
      : failed_(patterns.size(), false) {
    for (std::size_t r = 0; r < patterns.size(); ++r) {
      const int rank = static_cast<int>(r);
      const auto failing = failing_rounds.find(rank);
      planners_.push_back(
          std::make_unique<FailsOnce>(make_planner(route, patterns[r], topology, rank), rank,
                                      failing == failing_rounds.end() ? -1 : failing->second));
    }
  }

  void run(const Topology& topology) {
    std::vector<Words> arrived(planners_.size());
    for (int round = 0; round < planners_.front()->n_rounds(); ++round) {
      std::vector<std::map<int, std::vector<std::int64_t>>> to(planners_.size());
      for (std::size_t r = 0; r < planners_.size(); ++r) {
        const Words sent = send(r, round, arrived[r]);
        for (std::size_t i = 0; i < sent.size(); ++i) {
          const auto message = sent.message(i);
          to.at(static_cast<std::size_t>(sent.ranks[i]))[static_cast<int>(r)].assign(
              message.begin(), message.end());
        }
      }
      for (std::size_t r = 0; r < planners_.size(); ++r) {
        arrived[r] = route::to_messages(to[r]);
        expect_sources(static_cast<int>(r), round, arrived[r].ranks, topology);
      }
    }
  }

 private:
  Words send(std::size_t r, int round, const Words& arrived) {
    Words sent;
    if (!failed_[r]) {
      failed_[r] = mpi::caught([&] { sent = planners_[r]->step(round, arrived); }).has_value();
    }
    return failed_[r] ? planners_[r]->step_after_failure(round, arrived) : sent;
  }

  void expect_sources(int rank, int round, const std::vector<int>& from, const Topology& topology) {
    const auto sources = planners_[static_cast<std::size_t>(rank)]->sources(round);
    if (sources) {
      EXPECT_EQ(from, *sources) << "to " << rank << " in round " << round;
    } else {
      for (const int source : from) EXPECT_TRUE(topology.same_node(source, rank));
    }
  }

  std::vector<std::unique_ptr<Planner>> planners_;
  std::vector<bool> failed_;
};

TEST(Planning, NobodyWaitsForARankThatFails) {
  if (!test_comm()->is_root()) return;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    test::Dice dice(seed);
    const int n_ranks = 1 + dice.below(20);
    const Topology nodes = test::random_topology(n_ranks, dice);
    const Topology topology = seed % 3 == 0 ? test::random_domains(nodes, dice) : nodes;
    const std::vector<Pattern> patterns = test::random_patterns(n_ranks, dice);
    for (const Route& route : planned_routes) {
      const int n_rounds = make_planner(route, patterns[0], topology, 0)->n_rounds();
      for (int round = 0; round < n_rounds; ++round) {
        std::map<int, int> failing = {{dice.below(n_ranks), round}};
        if (dice.chance(0.3)) failing.emplace(dice.below(n_ranks), dice.below(n_rounds));
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << route.name()
                                        << ", failing: " << testing::PrintToString(failing));
        VirtualFailure(patterns, topology, route, failing).run(topology);
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

// Messages cut into pieces, from sources that are known, oneself among them.
TEST(Planning, KnownSourcesSendMessagesOfAnyLength) {
  const auto comm = test_comm();
  const int p = comm->size();
  constexpr int lengths[] = {0, 1, 15, 16, 17, 32, 100};
  const auto length = [&](int from, int to) {
    return lengths[static_cast<std::size_t>(3 * from + to) % std::size(lengths)];
  };
  const auto byte = [](int from, int k) { return static_cast<std::byte>(from + k); };
  Messages<std::byte> sent;
  Messages<std::byte> expected;
  for (int r = 0; r < p; ++r) {
    sent.ranks.push_back(r);
    expected.ranks.push_back(r);
    for (int k = 0; k < length(comm->rank(), r); ++k) sent.data.push_back(byte(comm->rank(), k));
    for (int k = 0; k < length(r, comm->rank()); ++k) expected.data.push_back(byte(r, k));
    sent.offsets.push_back(static_cast<Offset>(sent.data.size()));
    expected.offsets.push_back(static_cast<Offset>(expected.data.size()));
  }
  const sdde::Channel channel{*comm, mpi::tag_planning, 16};
  sdde::SendRequests outbox(channel, {sent.ranks, sent.offsets, sent.data});
  sdde::ReceiveBuffers inbox;
  outbox.take_own(inbox);
  outbox.post(false);
  inbox.receive_from(channel, expected.ranks);
  outbox.wait();
  Messages<std::byte> arrived;
  inbox.deliver(1, {arrived.ranks, arrived.offsets, [&](std::size_t n) {
                      arrived.data.resize(n);
                      return arrived.data.data();
                    }});
  EXPECT_EQ(arrived.ranks, expected.ranks);
  EXPECT_EQ(arrived.offsets, expected.offsets);
  EXPECT_EQ(arrived.data, expected.data);
}

/// The pairs (a, b) of a direct plan between nodes, a and b given by the two functions.
template <class From, class To>
std::int64_t count_pairs(const mpi::Comm& comm, const Pattern& pattern, const From& from,
                         const To& to) {
  std::vector<std::int64_t> mine;
  const Topology& topology = comm.topology();
  for (const int dest : pattern.send_ranks) {
    if (topology.same_node(comm.rank(), dest)) continue;
    mine.push_back(std::int64_t{from(comm.rank())} * comm.size() + to(dest));
  }
  const auto all = mpi::concatenate_all<std::int64_t>(comm, mine);
  return static_cast<std::int64_t>(std::set(all.begin(), all.end()).size());
}

test::MpiCalls total(const mpi::Comm& comm, const test::MpiCalls& mine) {
  test::MpiCalls all;
  all.messages_off_node = mpi::sum(comm, mine.messages_off_node);
  all.collectives = mine.collectives;
  return all;
}

// Between nodes: what crosses, and with three_step a question and an answer for each pair of nodes
// that sends. No exchange over all ranks, and one agreement: its messages and collectives, and for
// each exchange within the node the one collective by which that ends.
TEST(Planning, CostsTheseMessagesBetweenNodesAndOneAgreement) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Topology& topology = comm->topology();
    for (const double density : {0.0, 0.05, 0.6}) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << density);
      const Case c(comm, 40, density, 1);
      const Pattern pattern = discover_pattern(c.layout, c.mine());
      const auto node = [&](int rank) { return topology.node(rank); };
      const std::int64_t node_pairs = count_pairs(*comm, pattern, node, node);
      const auto agreement =
          total(*comm, test::counted(map.node_of_rank, [&] { mpi::agree(*comm, std::nullopt); }));
      for (const Route& route : planned_routes) {
        Plan plan;
        const auto planning = total(*comm, test::counted(map.node_of_rank, [&] {
          plan = make_plan(*comm, pattern, route);
        }));
        if (topology.n_nodes() == 1) {
          EXPECT_EQ(planning, test::MpiCalls{});
          continue;
        }
        const auto crossing =
            mpi::sum(*comm, traffic(plan, topology, comm->rank()).messages_off_node);
        const std::int64_t told = route == "three_step" ? 2 * node_pairs : 0;
        EXPECT_EQ(planning.messages_off_node, crossing + told + agreement.messages_off_node);
        EXPECT_EQ(planning.collectives, 2 + agreement.collectives);
      }
    }
  }
}

}  // namespace comm_planning_test
}  // namespace nodewise::comm
