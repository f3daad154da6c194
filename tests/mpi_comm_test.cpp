// The communicator and its reductions.
#include <algorithm>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"

#include "collective_error.hpp"
#include "domain_support.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace mpi_comm_test {

TEST(Comm, IsADuplicateWithItsOwnMessages) {
  const auto first = mpi::Comm::create(MPI_COMM_WORLD);
  const auto second = mpi::Comm::create(MPI_COMM_WORLD);
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(first->get(), MPI_COMM_WORLD, &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
  MPI_Comm_compare(first->get(), second->get(), &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_EQ(first->rank(), rank);
  EXPECT_EQ(first->is_root(), rank == 0);
}

TEST(Comm, FindsOneNodeOnOneMachine) {
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD);
  EXPECT_EQ(comm->topology().n_ranks(), comm->size());
  EXPECT_EQ(comm->topology().n_nodes(), 1);
}

TEST(Comm, TakesAnyNodeMap) {
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (int a = 0; a < comm->size(); ++a) {
      for (int b = 0; b < comm->size(); ++b) {
        EXPECT_EQ(comm->topology().same_node(a, b),
                  map.node_of_rank[static_cast<std::size_t>(a)] ==
                      map.node_of_rank[static_cast<std::size_t>(b)])
            << map.name;
      }
    }
  }
}

TEST(Comm, RefusesANodeMapOfTheWrongLength) {
  const mpi::Comm& comm = *test_comm();
  const auto n_ranks = static_cast<std::size_t>(comm.size());
  const std::vector<int> long_map(n_ranks + 1, 0);
  expect_same_error(comm, ErrorCode::invalid_argument,
                    [&] { mpi::Comm::create(MPI_COMM_WORLD, long_map); });
  // Wrong on one rank only.
  const std::vector<int> map(comm.is_root() ? n_ranks + 1 : n_ranks, 0);
  expect_same_error(comm, ErrorCode::invalid_argument,
                    [&] { mpi::Comm::create(MPI_COMM_WORLD, map); });
}

TEST(Comm, RefusesWhatDiffersByRank) {
  const mpi::Comm& comm = *test_comm();
  if (comm.size() == 1) return;
  std::vector<int> map(static_cast<std::size_t>(comm.size()), 0);
  if (comm.is_root()) map.back() = 1;
  expect_same_error(comm, ErrorCode::invalid_argument,
                    [&] { mpi::Comm::create(MPI_COMM_WORLD, map); });
  mpi::CommSettings settings;
  if (comm.is_root()) settings.sparse_exchange = "personalized";
  expect_same_error(comm, ErrorCode::invalid_argument,
                    [&] { mpi::Comm::create(MPI_COMM_WORLD, settings); });
}

TEST(Comm, RefusesAnIntercommunicatorAndNull) {
  const mpi::Comm& comm = *test_comm();
  expect_same_error(comm, ErrorCode::invalid_argument, [] { mpi::Comm::create(MPI_COMM_NULL); });
  if (comm.size() == 1) return;
  const bool low = comm.rank() < comm.size() / 2;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(comm.get(), low, comm.rank(), &half);
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Intercomm_create(half, 0, comm.get(), low ? comm.size() / 2 : 0, 7, &inter);
  const std::string text =
      expect_same_error(comm, ErrorCode::invalid_argument, [&] { mpi::Comm::create(inter); });
  EXPECT_NE(text.find("intercommunicator"), std::string::npos) << text;
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

TEST(Comm, SettingsAreBoundToTheCommunicator) {
  using mpi::SparseExchange;
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto plain = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto other =
        mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, {.sparse_exchange = "personalized"});
    EXPECT_EQ(plain->settings().sparse_exchange, "automatic");
    EXPECT_EQ(other->settings().sparse_exchange, "personalized");
    EXPECT_EQ(other->node().settings().sparse_exchange, "personalized");
  }
  const auto found = mpi::Comm::create(MPI_COMM_WORLD, {.sparse_exchange = "rma"});
  EXPECT_EQ(found->settings().sparse_exchange, "rma");
}

TEST(Comm, WorksOnASubsetOfTheRanks) {
  const int rank = test_comm()->rank();
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    const auto comm = mpi::Comm::create(half);
    const int members = (test_comm()->size() + 1 - rank % 2) / 2;
    EXPECT_EQ(comm->size(), members);
    EXPECT_EQ(mpi::sum(*comm, 1), members);
    EXPECT_EQ(mpi::max(*comm, rank) % 2, rank % 2);
  }
  MPI_Comm_free(&half);
}

template <class T>
class Reductions : public testing::Test {};
using Types = testing::Types<std::int32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(Reductions, Types);

TYPED_TEST(Reductions, OfOneValueAndOfSeveral) {
  using T = TypeParam;
  const mpi::Comm& comm = *test_comm();
  const int p = comm.size();
  const T mine = static_cast<T>(comm.rank() + 1);
  EXPECT_EQ(mpi::sum(comm, mine), static_cast<T>(p * (p + 1) / 2));
  EXPECT_EQ(mpi::max(comm, mine), static_cast<T>(p));
  EXPECT_EQ(mpi::min(comm, mine), static_cast<T>(1));
  std::vector<T> values = {mine, static_cast<T>(2), static_cast<T>(2 * mine)};
  mpi::sum_in_place<T>(comm, values);
  EXPECT_EQ(values, (std::vector<T>{static_cast<T>(p * (p + 1) / 2), static_cast<T>(2 * p),
                                    static_cast<T>(p * (p + 1))}));
  // The value of rank 0 is undefined in MPI_Exscan.
  EXPECT_EQ(mpi::exclusive_sum(comm, mine), static_cast<T>(comm.rank() * (comm.rank() + 1) / 2));
}

TYPED_TEST(Reductions, GathersAndBroadcasts) {
  using T = TypeParam;
  const mpi::Comm& comm = *test_comm();
  const T mine = static_cast<T>(10 * comm.rank());
  const std::vector<T> all = mpi::gather_all(comm, mine);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(comm.size()));
  for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], static_cast<T>(10 * r));
  // Rank r contributes r values: the first none.
  const std::vector<T> part(static_cast<std::size_t>(comm.rank()), mine);
  std::vector<T> expected;
  for (int r = 0; r < comm.size(); ++r) {
    expected.insert(expected.end(), static_cast<std::size_t>(r), static_cast<T>(10 * r));
  }
  EXPECT_EQ(mpi::concatenate_all<T>(comm, part), expected);
  const int last = comm.size() - 1;
  EXPECT_EQ(mpi::broadcast(comm, mine, last), static_cast<T>(10 * last));
}

TEST(Comm, ASubsetKnowsNodesDomainsAndTheLedger) {
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto all = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    std::vector<int> ranks;
    for (int r = all->size() > 2 ? 1 : 0; r < all->size(); r += 2) ranks.push_back(r);
    if (std::find(ranks.begin(), ranks.end(), all->rank()) == ranks.end()) continue;
    const auto some = mpi::Comm::subset(all, ranks);
    ASSERT_EQ(some->size(), static_cast<int>(ranks.size()));
    EXPECT_EQ(ranks[static_cast<std::size_t>(some->rank())], all->rank());
    EXPECT_EQ(&some->whole(), all.get());
    EXPECT_EQ(&some->ledger(), &all->ledger());
    for (int a = 0; a < some->size(); ++a) {
      for (int b = 0; b < some->size(); ++b) {
        EXPECT_EQ(some->topology().same_node(a, b),
                  all->topology().same_node(ranks[static_cast<std::size_t>(a)],
                                            ranks[static_cast<std::size_t>(b)]));
      }
    }
    const int node = some->topology().node(some->rank());
    EXPECT_EQ(some->node().size(), static_cast<int>(some->topology().ranks_on(node).size()));
    EXPECT_EQ(mpi::sum(*some, 1), some->size());
    EXPECT_EQ(mpi::max(some->node(), all->rank()),
              ranks[static_cast<std::size_t>(some->topology().ranks_on(node).back())]);
  }
}

TEST(Comm, SumsBeyond32Bits) {
  const mpi::Comm& comm = *test_comm();
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(mpi::sum(comm, big), big * comm.size());
}

TEST(Comm, BroadcastsTextsOfAnyLength) {
  const mpi::Comm& comm = *test_comm();
  const int last = comm.size() - 1;
  const std::string long_text(100000, 'x');
  for (const std::string& text : {std::string(), std::string("a\0b", 3), long_text}) {
    EXPECT_EQ(mpi::broadcast(comm, comm.rank() == last ? text : "other", last), text);
  }
}

TEST(Comm, CheckTurnsAnMpiErrorIntoAnError) {
  int value = 0;
  const int status = MPI_Bcast(&value, 1, MPI_INT, test_comm()->size() + 7, test_comm()->get());
  try {
    mpi::check(status, "MPI_Bcast");
    FAIL() << "a root outside the communicator was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::mpi);
    EXPECT_EQ(std::string(error.what()).find("MPI_Bcast: "), 0U);
  }
}

TEST(Comm, TakesDomainsAndItsNodeKnowsThem) {
  for (const DomainMap& map : domain_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.topology);
    const mpi::Topology& node = comm->node().topology();
    const auto here = comm->topology().ranks_on(comm->topology().node(comm->rank()));
    EXPECT_TRUE(comm->topology().has_domains()) << map.name;
    EXPECT_EQ(node.n_nodes(), 1) << map.name;
    for (std::size_t a = 0; a < here.size(); ++a) {
      for (std::size_t b = 0; b < here.size(); ++b) {
        EXPECT_EQ(node.same_domain(static_cast<int>(a), static_cast<int>(b)),
                  map.topology.same_domain(here[a], here[b]))
            << map.name;
      }
    }
  }
  if (test_comm()->size() > 2) {  // the last rank has other domains in mind
    const auto size = static_cast<std::size_t>(test_comm()->size());
    std::vector<int> domains(size, 0);
    domains[test_comm()->rank() + 1 == test_comm()->size() ? 0 : 1] = 1;
    const auto nodes = mpi::Topology(std::vector<int>(size, 0));
    expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                      [&] { mpi::Comm::create(MPI_COMM_WORLD, nodes.with_domains(domains)); });
  }
  const mpi::Topology other(std::vector<int>(static_cast<std::size_t>(test_comm()->size()) + 1, 0));
  expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                    [&] { mpi::Comm::create(MPI_COMM_WORLD, other); });
}

TEST(Comm, NodeHoldsTheRanksOfTheNodeInOrder) {
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const mpi::Topology& topology = comm->topology();
    const auto here = topology.ranks_on(topology.node(comm->rank()));
    EXPECT_EQ(mpi::gather_all(comm->node(), comm->rank()),
              std::vector<int>(here.begin(), here.end()));
    EXPECT_EQ(comm->node().topology().n_nodes(), 1);
    EXPECT_EQ(std::cmp_equal(comm->node().rank(), topology.place_on_node(comm->rank())), true);
    EXPECT_EQ(&comm->node() == comm.get(), topology.n_nodes() == 1);
    EXPECT_EQ(&comm->node().node(), &comm->node());
  }
}

}  // namespace mpi_comm_test
}  // namespace nodewise::test
