// Every transport brings the same bits, over every route.
#include <optional>
#include <tuple>

#include <gtest/gtest.h>

#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/transport/transport.hpp"

#include "collective_error.hpp"
#include "exchange_checks.hpp"
#include "support.hpp"

namespace nodewise::comm {
namespace comm_transport_test {

using test::Case;
using test::test_comm;

const Family<TransportMethod>& all_transports = TransportMethod::family();

std::vector<Transport> transports() {
  const std::vector<std::string> names = all_transports.names();
  return {names.begin(), names.end()};
}

const Family<RouteMethod>& all_routes = RouteMethod::family();

bool is_available(const mpi::Comm& comm, const Transport& transport) {
  try {
    require_available(comm, transport);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find(transport.name()), std::string::npos);
    return false;
  }
  return true;
}

class TransportTest : public testing::TestWithParam<Transport> {
 protected:
  void SetUp() override {
    if (!is_available(*test_comm(), GetParam())) {
      GTEST_SKIP() << "NOT TESTED: this MPI has no " << GetParam().name();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, TransportTest, testing::ValuesIn(transports()),
                         [](const auto& tested) { return tested.param.name(); });

TEST_P(TransportTest, BringsTheSameOverEveryRoute) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Case c(comm, 40, 0.3, 7);
    const Pattern pattern = discover_pattern(c.layout, c.mine());
    for (const Route route : all_routes) {
      SCOPED_TRACE(map.name + ", " + route.name());
      Exchange exchange(comm, make_plan(*comm, pattern, route), GetParam());
      EXPECT_EQ(exchange.transport(), GetParam());
      test::expect_all(exchange, c);
      test::expect_all(exchange, c);  // what is kept from the first time is used again
    }
  }
}

TEST_P(TransportTest, CutsLongMessages) {
  const auto comm = test_comm();
  const Case c(comm, 24, 0.4, 3);
  for (const Offset bytes : {1, 7, 64}) {
    Exchange exchange(comm, c.direct, GetParam(), bytes);
    test::expect_all(exchange, c);
  }
}

TEST_P(TransportTest, RunsPatternsWithoutMessagesAndRanksWithoutEntries) {
  const auto comm = test_comm();
  const Case nothing(comm, 0, 0.5, 1);
  Exchange idle(comm, nothing.direct, GetParam());
  test::expect_all(idle, nothing);
  const Case few(comm, 2, 1.0, 5);  // most ranks own nothing, all need everything
  Exchange exchange(comm, few.direct, GetParam());
  test::expect_all(exchange, few);
}

// The arrays of one rank move from run to run, those of the others stay.
TEST_P(TransportTest, FollowsArraysThatMove) {
  const auto comm = test_comm();
  const Case c(comm, 50, 0.4, 11);
  Exchange exchange(comm, c.direct, GetParam());
  std::vector<std::vector<double>> kept;
  for (int run = 0; run < 9; ++run) {
    auto owned = test::owned_values<double>(c.layout, 1);
    for (double& value : owned) value += run;
    std::vector<double> fixed(c.mine().size());
    std::vector<double>& ghosts =
        run % comm->size() == comm->rank() ? kept.emplace_back(c.mine().size()) : fixed;
    exchange.forward(std::span<const double>(owned), std::span(ghosts));
    for (std::size_t g = 0; g < ghosts.size(); ++g) {
      EXPECT_EQ(ghosts[g], test::value_of<double>(c.mine()[g], 0) + run);
    }
  }
}

// Two exchanges under way at once, and one that is dropped half way.
TEST_P(TransportTest, ExchangesOverlap) {
  const auto comm = test_comm();
  const Case a(comm, 40, 0.4, 21);
  const Case b(comm, 30, 0.5, 22);
  Exchange first(comm, a.staged, GetParam());
  Exchange second(comm, b.direct, GetParam());
  const auto owned_a = test::owned_values<double>(a.layout, 1);
  const auto owned_b = test::owned_values<float>(b.layout, 2);
  std::vector<double> ghosts_a(a.mine().size());
  std::vector<float> ghosts_b(b.mine().size() * 2);
  for (int run = 0; run < 3; ++run) {
    first.start(std::span<const double>(owned_a), std::span(ghosts_a));
    second.start(std::span<const float>(owned_b), std::span(ghosts_b), 2);
    first.finish();
    second.finish();
    for (std::size_t g = 0; g < ghosts_a.size(); ++g) {
      EXPECT_EQ(ghosts_a[g], test::value_of<double>(a.mine()[g], 0));
    }
    for (std::size_t g = 0; g < ghosts_b.size(); ++g) {
      EXPECT_EQ(ghosts_b[g], test::value_of<float>(b.mine()[g / 2], static_cast<int>(g % 2)));
    }
  }
  {
    Exchange dropped(comm, a.staged, GetParam());
    dropped.start(std::span<const double>(owned_a), std::span(ghosts_a));
  }
  {
    Exchange dropped(comm, a.staged, GetParam());
    dropped.start_reverse_add(std::span<const double>(ghosts_a));
  }
  test::expect_forward<double>(first, a, 1);
}

TEST_P(TransportTest, EarlyGhostsAreThereAfterAdvance) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Case c(comm, 40, 0.5, 13);
    const Pattern pattern = discover_pattern(c.layout, c.mine());
    for (const Route route : all_routes) {
      SCOPED_TRACE(map.name + ", " + route.name());
      Exchange exchange(comm, make_plan(*comm, pattern, route), GetParam());
      std::vector<LocalIndex> from_node;
      for (std::size_t g = 0; g < c.mine().size(); ++g) {
        if (comm->topology().same_node(comm->rank(), c.layout.owner(c.mine()[g]))) {
          from_node.push_back(static_cast<LocalIndex>(g));
        }
      }
      EXPECT_EQ(
          std::vector<LocalIndex>(exchange.early_ghosts().begin(), exchange.early_ghosts().end()),
          from_node);
      const auto owned = test::owned_values<double>(c.layout, 1);
      std::vector<double> ghosts(c.mine().size());
      exchange.start(std::span<const double>(owned), std::span(ghosts));
      exchange.advance();
      for (const LocalIndex g : exchange.early_ghosts()) {
        const auto u = static_cast<std::size_t>(g);
        EXPECT_EQ(ghosts[u], test::value_of<double>(c.mine()[u], 0));
      }
      exchange.advance();  // again does no harm
      exchange.finish();
      for (std::size_t g = 0; g < ghosts.size(); ++g) {
        EXPECT_EQ(ghosts[g], test::value_of<double>(c.mine()[g], 0));
      }
    }
  }
}

TEST(Transport, RefusesOnEveryRankWhatTheMpiLacks) {
  const auto comm = test_comm();
  const Case c(comm, 20, 0.4, 1);
  for (const Transport transport : all_transports) {
    if (is_available(*comm, transport)) continue;
    const std::string text = test::expect_same_error(*comm, ErrorCode::unsupported, [&] {
      std::ignore = std::make_unique<Exchange>(comm, c.direct, transport);
    });
    EXPECT_EQ(text.find(std::string("transport ") + transport.name() + ": "), 0U) << text;
  }
  // These every MPI has.
  EXPECT_TRUE(is_available(*comm, "point_to_point"));
  EXPECT_TRUE(is_available(*comm, "persistent"));
}

}  // namespace comm_transport_test
}  // namespace nodewise::comm
