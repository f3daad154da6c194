// The sparse dynamic data exchange: every algorithm, on every placement, against MPI_Alltoallv.
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/comm/sdde/joined.hpp"
#include "nodewise/comm/sdde/sdde.hpp"

#include "collective_error.hpp"
#include "domain_support.hpp"
#include "mpi_counter.hpp"
#include "support.hpp"

namespace nodewise::comm {
namespace comm_sdde_test {

using mpi::SparseExchange;
using test::expect_same_error;
using test::test_comm;

/// Automatic and the members of the family, or those of them for messages of any sizes.
std::vector<SparseExchange> algorithms_for(bool any_sizes) {
  std::vector<SparseExchange> list = {"automatic"};
  for (const mpi::SparseExchangeMethod& method : mpi::SparseExchangeMethod::family()) {
    if (!any_sizes || !method.needs_equal_counts) list.emplace_back(method);
  }
  return list;
}
const std::vector<SparseExchange> algorithms = algorithms_for(false);
const std::vector<SparseExchange> variable_algorithms = algorithms_for(true);
const std::vector<SparseExchange> joining_algorithms = {"locality_personalized",
                                                        "locality_nonblocking", "locality_dense"};
const std::vector<SparseExchange> straight_algorithms = {"personalized", "nonblocking"};

std::uint64_t draw(int from, int to, std::uint64_t seed) {
  return hash64(static_cast<std::uint64_t>(from * 1000 + to), seed);
}

// What one rank sends in the pattern of a seed: some ranks get nothing, some an empty message.
// Half of the payloads are zero. The order of the destinations is scrambled.
Messages<std::int64_t> pattern(const mpi::Comm& comm, std::uint64_t seed, Offset equal_count = -1) {
  Messages<std::int64_t> sends;
  std::vector<int> order(static_cast<std::size_t>(comm.size()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return draw(a, comm.rank(), seed + 1) < draw(b, comm.rank(), seed + 1);
  });
  for (const int to : order) {
    const std::uint64_t h = draw(comm.rank(), to, seed);
    if (h % 3 == 0) continue;
    const Offset length = equal_count >= 0 ? equal_count
                          : h % 5 == 0     ? 0
                                           : static_cast<Offset>(h % 19);
    sends.ranks.push_back(to);
    for (Offset k = 0; k < length; ++k) {
      const bool zero = h % 2 == 0;
      sends.data.push_back(zero ? 0 : static_cast<std::int64_t>(hash64(h, k)));
    }
    sends.offsets.push_back(static_cast<Offset>(sends.data.size()));
  }
  return sends;
}

// The same by two of MPI's own collectives, with arrays of the size of the communicator.
Messages<std::int64_t> reference(const mpi::Comm& comm, const Messages<std::int64_t>& sends) {
  const auto n = static_cast<std::size_t>(comm.size());
  std::vector<int> send_counts(n, -1), recv_counts(n), send_starts(n, 0), recv_starts(n, 0);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const auto to = static_cast<std::size_t>(sends.ranks[i]);
    send_counts[to] = static_cast<int>(sends.offsets[i + 1] - sends.offsets[i]);
    send_starts[to] = static_cast<int>(sends.offsets[i]);
  }
  MPI_Alltoall(send_counts.data(), 1, MPI_INT, recv_counts.data(), 1, MPI_INT, comm.get());
  Messages<std::int64_t> got;
  for (std::size_t r = 0; r < n; ++r) {
    send_counts[r] = std::max(0, send_counts[r]);
    recv_starts[r] = static_cast<int>(got.offsets.back());
    if (recv_counts[r] < 0) {
      recv_counts[r] = 0;
      continue;
    }
    got.ranks.push_back(static_cast<int>(r));
    got.offsets.push_back(got.offsets.back() + recv_counts[r]);
  }
  got.data.resize(static_cast<std::size_t>(got.offsets.back()));
  MPI_Alltoallv(sends.data.data(), send_counts.data(), send_starts.data(), MPI_INT64_T,
                got.data.data(), recv_counts.data(), recv_starts.data(), MPI_INT64_T, comm.get());
  return got;
}

Messages<std::int64_t> exchange(const mpi::Comm& comm, const Messages<std::int64_t>& sends,
                                const SparseOptions& options = {}) {
  return alltoallv_crs<std::int64_t>(comm, sends.ranks, sends.offsets, sends.data, options);
}

void expect_equal(const Messages<std::int64_t>& got, const Messages<std::int64_t>& expected) {
  EXPECT_EQ(got.ranks, expected.ranks);
  EXPECT_EQ(got.offsets, expected.offsets);
  EXPECT_EQ(got.data, expected.data);
}

// Runs `body(comm, name of the placement and algorithm)` for all of both.
template <class Body>
void on_every_placement(std::span<const SparseExchange> tried, Body&& body) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    for (const SparseExchange& algorithm : tried) {
      SCOPED_TRACE(map.name + ", " + algorithm.name());
      const auto comm =
          mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, {.sparse_exchange = algorithm});
      body(*comm);
    }
  }
}

// The placement of a communicator of all ranks, as the counter of MPI's calls takes it.
std::vector<int> nodes_of(const mpi::Comm& comm) {
  std::vector<int> nodes;
  for (int r = 0; r < comm.size(); ++r) nodes.push_back(comm.topology().node(r));
  return nodes;
}

TEST(Sdde, VariableSizesEqualTheReference) {
  on_every_placement(variable_algorithms, [](const mpi::Comm& comm) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto sends = pattern(comm, seed);
      expect_equal(exchange(comm, sends), reference(comm, sends));
    }
  });
}

TEST(Sdde, EqualSizesEqualTheReference) {
  on_every_placement(algorithms, [](const mpi::Comm& comm) {
    for (const Offset count : {0, 1, 5}) {
      const auto sends = pattern(comm, 40, count);
      const auto expected = reference(comm, sends);
      const auto got = alltoall_crs<std::int64_t>(comm, sends.ranks, count, sends.data);
      EXPECT_EQ(got.ranks, expected.ranks);
      EXPECT_EQ(got.count, count);
      EXPECT_EQ(got.data, expected.data);
    }
  });
}

TEST(Sdde, MessagesAreCutAnywhere) {
  on_every_placement(variable_algorithms, [](const mpi::Comm& comm) {
    const auto sends = pattern(comm, 3);
    const auto expected = reference(comm, sends);
    for (const Offset piece : {1, 7, 8, 16, 24}) {  // multiples of the item and not
      SCOPED_TRACE(piece);
      expect_equal(exchange(comm, sends, {.max_message_bytes = piece}), expected);
    }
  });
  const auto sends = pattern(*test_comm(), 3, 4);
  const auto got = alltoall_crs<std::int64_t>(*test_comm(), sends.ranks, 4, sends.data,
                                              {.algorithm = "rma", .max_message_bytes = 5});
  EXPECT_EQ(got.data, reference(*test_comm(), sends).data);
}

TEST(Sdde, CutMessagesAreSentInPieces) {
  const mpi::Comm& comm = *test_comm();
  if (comm.size() == 1) return;
  const std::vector<int> to = {(comm.rank() + 1) % comm.size()};
  const std::vector<Offset> offsets = {0, 16};
  const std::vector<char> data(16, 'a');
  const auto pieces = [&](Offset piece_bytes) {
    const test::MpiCalls calls = test::counted(nodes_of(comm), [&] {
      alltoallv_crs<char>(comm, to, offsets, data,
                          {.algorithm = "personalized", .max_message_bytes = piece_bytes});
    });
    EXPECT_EQ(calls.bytes(), 16);
    return calls.messages();
  };
  EXPECT_EQ(pieces(17), 1);
  EXPECT_EQ(pieces(5), 4);
  EXPECT_EQ(pieces(8), 3);  // an empty piece tells that no more will come
}

// A payload of nothing but zeros, and an empty message, are messages.
TEST(Sdde, ZerosAndEmptyMessagesArrive) {
  on_every_placement(algorithms, [](const mpi::Comm& comm) {
    std::vector<int> everyone;
    for (int r = 0; r < comm.size(); ++r) everyone.push_back(r);
    for (const Offset count : {0, 3}) {
      const std::vector<double> zeros(everyone.size() * static_cast<std::size_t>(count), 0.0);
      const auto got = alltoall_crs<double>(comm, everyone, count, zeros);
      EXPECT_EQ(got.ranks, everyone);
      EXPECT_EQ(got.data, zeros);
    }
  });
}

TEST(Sdde, NobodySends) {
  on_every_placement(algorithms, [](const mpi::Comm& comm) {
    const auto got = alltoall_crs<char>(comm, {}, 7, {});
    EXPECT_TRUE(got.ranks.empty());
    EXPECT_TRUE(got.data.empty());
  });
}

TEST(Sdde, IndicesBeyond32Bits) {
  on_every_placement(variable_algorithms, [](const mpi::Comm& comm) {
    Messages<GlobalIndex> sends;
    const GlobalIndex base = (GlobalIndex{1} << 32) + 5 + (GlobalIndex{comm.rank()} << 40);
    for (int to = 0; to < comm.size(); ++to) {
      sends.ranks.push_back(to);
      sends.data.push_back(base + to);
      sends.offsets.push_back(to + 1);
    }
    expect_equal(exchange(comm, sends), reference(comm, sends));
  });
}

// One rank at a time is late, the others are already in the next call, of another algorithm.
TEST(Sdde, CallsThatFollowEachOtherNeverMix) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    std::vector<Messages<std::int64_t>> sends, expected, got;
    for (std::uint64_t call = 0; call < 24; ++call) {
      sends.push_back(pattern(*comm, call, 2));
      expected.push_back(reference(*comm, sends.back()));
    }
    for (std::size_t call = 0; call < sends.size(); ++call) {
      if (draw(comm->rank(), 0, call) % 3 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(draw(comm->rank(), 1, call) % 900));
      }
      const SparseExchange algorithm = algorithms[hash64(call, 9) % std::size(algorithms)];
      const auto& one = sends[call];
      auto equal =
          alltoall_crs<std::int64_t>(*comm, one.ranks, 2, one.data, {.algorithm = algorithm});
      EXPECT_EQ(equal.ranks, expected[call].ranks) << map.name << ", call " << call;
      EXPECT_EQ(equal.data, expected[call].data) << map.name << ", call " << call;
    }
  }
}

// Two halves, with their ranks in reverse, exchange at the same time with different algorithms.
TEST(Sdde, SubCommunicators) {
  const int rank = test_comm()->rank();
  for (const SparseExchange& algorithm : variable_algorithms) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    {
      int size = 0;
      MPI_Comm_size(half, &size);
      std::vector<int> map;
      for (int r = 0; r < size; ++r) map.push_back(r % 2);
      const auto comm = mpi::Comm::create(
          half, map, {.sparse_exchange = rank % 2 == 0 ? algorithm : "locality_nonblocking"});
      const auto sends = pattern(*comm, 12);
      expect_equal(exchange(*comm, sends), reference(*comm, sends));
    }
    MPI_Comm_free(&half);
  }
}

TEST(Sdde, LocalityAwareSendsOneMessageToEachNode) {
  on_every_placement(joining_algorithms, [](const mpi::Comm& comm) {
    const auto sends = pattern(comm, 77);
    std::set<int> nodes;
    for (const int to : sends.ranks) nodes.insert(comm.topology().node(to));
    nodes.erase(comm.topology().node(comm.rank()));
    const auto calls = test::counted(nodes_of(comm), [&] { exchange(comm, sends); });
    EXPECT_EQ(calls.messages_off_node, std::ssize(nodes));
  });
}

TEST(Sdde, PlainAlgorithmsSendOneMessageToEachRank) {
  on_every_placement(straight_algorithms, [](const mpi::Comm& comm) {
    const auto sends = pattern(comm, 77);
    const auto to_others = std::count_if(sends.ranks.begin(), sends.ranks.end(),
                                         [&](int to) { return to != comm.rank(); });
    const auto calls = test::counted(nodes_of(comm), [&] { exchange(comm, sends); });
    EXPECT_EQ(calls.messages(), to_others);
  });
}

TEST(Sdde, TheLedgerHasEveryMessage) {
  on_every_placement(algorithms, [](const mpi::Comm& comm) {
    const auto sends = pattern(comm, 5, 3);
    comm.ledger().clear();
    const auto calls = test::counted(
        nodes_of(comm), [&] { alltoall_crs<std::int64_t>(comm, sends.ranks, 3, sends.data); });
    test::MpiCalls in_books = test::booked(comm.ledger());
    in_books.synchronous = calls.synchronous;  // of which the ledger knows nothing
    EXPECT_EQ(in_books, calls);
  });
}

// Domains of the nodes in the place of the nodes: what crosses is joined for each domain.
TEST(Sdde, JoinsForEachDomain) {
  for (const test::DomainMap& map : test::domain_maps(test_comm()->size())) {
    for (const SparseExchange& algorithm : algorithms) {
      SCOPED_TRACE(map.name + ", " + algorithm.name());
      const auto comm = mpi::Comm::create(
          MPI_COMM_WORLD, map.topology,
          {.sparse_exchange = algorithm, .sparse_exchange_region = mpi::Region::domain});
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const auto sends = pattern(*comm, seed, 2);
        const auto expected = reference(*comm, sends);
        const auto got = alltoall_crs<std::int64_t>(*comm, sends.ranks, 2, sends.data);
        EXPECT_EQ(got.ranks, expected.ranks);
        EXPECT_EQ(got.data, expected.data);
      }
    }
    std::vector<int> domains;
    for (int r = 0; r < map.topology.n_ranks(); ++r) {
      domains.push_back(map.topology.domains().node(r));
    }
    for (const SparseExchange& algorithm : joining_algorithms) {
      SCOPED_TRACE(map.name + ", " + algorithm.name());
      const auto comm =
          mpi::Comm::create(MPI_COMM_WORLD, map.topology, {.sparse_exchange = algorithm});
      const auto sends = pattern(*comm, 77);
      const SparseOptions by_domain = {.region = mpi::Region::domain};
      expect_equal(exchange(*comm, sends, by_domain), reference(*comm, sends));
      if (!choice_needs_load(map.topology.domains())) continue;
      std::set<int> others;
      for (const int to : sends.ranks) others.insert(map.topology.domains().node(to));
      others.erase(map.topology.domains().node(comm->rank()));
      const auto calls = test::counted(domains, [&] { exchange(*comm, sends, by_domain); });
      EXPECT_EQ(calls.messages_off_node, std::ssize(others));
    }
  }
}

// A rank that knows how many messages come need not be told: no vector of a number a rank, nothing
// that waits for an answer.
TEST(Sdde, AKnownNumberIsNotFoundOutAgain) {
  on_every_placement(algorithms, [](const mpi::Comm& comm) {
    for (const Offset piece_bytes : {5, 1 << 20}) {
      const auto sends = pattern(comm, 21, 2);
      const auto expected = reference(comm, sends);
      const SparseOptions options = {.max_message_bytes = piece_bytes,
                                     .n_receives = std::ssize(expected.ranks)};
      EqualMessages<std::int64_t> got;
      const auto calls = test::counted(nodes_of(comm), [&] {
        got = alltoall_crs<std::int64_t>(comm, sends.ranks, 2, sends.data, options);
      });
      EXPECT_EQ(got.ranks, expected.ranks);
      EXPECT_EQ(got.data, expected.data);
      const SparseExchange& set = comm.settings().sparse_exchange;
      const bool is_straight =
          std::count(straight_algorithms.begin(), straight_algorithms.end(), set) > 0;
      if (is_straight) {
        EXPECT_EQ(calls.synchronous, 0);
      }
    }
  });
}

TEST(Sdde, AWrongKnownNumberIsRefusedOnAllRanks) {
  for (const SparseExchange& algorithm :
       {SparseExchange("automatic"), SparseExchange("personalized"),
        SparseExchange("nonblocking")}) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, {.sparse_exchange = algorithm});
    const auto sends = pattern(*comm, 21);
    const Offset right = std::ssize(reference(*comm, sends).ranks);
    const int n = comm->size();
    // One too many here, one too few there: their sum is right.
    const Offset wrong = comm->rank() == 0 ? right + 1 : comm->rank() == n - 1 ? right - 1 : right;
    const std::string text = expect_same_error(
        *comm, ErrorCode::invalid_argument, [&] { exchange(*comm, sends, {.n_receives = wrong}); });
    EXPECT_NE(text.find("another number of messages"), std::string::npos) << text;
    expect_equal(exchange(*comm, sends, {.n_receives = right}), reference(*comm, sends));
  }
}

// The window of one-sided messages is made once, and again only where messages grow or the
// algorithm changes; smaller messages leave nothing behind.
TEST(Sdde, OneSidedMessagesKeepTheirWindow) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto collectives = [&](const char* algorithm, Offset count, std::uint64_t seed) {
      const auto sends = pattern(*comm, seed, count);
      const auto expected = reference(*comm, sends);
      EqualMessages<std::int64_t> got;
      const auto calls = test::counted(map.node_of_rank, [&] {
        got = alltoall_crs<std::int64_t>(*comm, sends.ranks, count, sends.data,
                                         {.algorithm = algorithm, .keep_window = true});
      });
      EXPECT_EQ(got.ranks, expected.ranks);
      EXPECT_EQ(got.data, expected.data);
      return calls.collectives;
    };
    const auto first = collectives("rma", 4, 1);
    const auto again = collectives("rma", 4, 2);
    EXPECT_GT(first, again);
    EXPECT_EQ(collectives("rma", 1, 3), again);
    EXPECT_EQ(collectives("rma", 0, 4), again);
    EXPECT_EQ(collectives("rma", 4, 5), again);
    EXPECT_GT(collectives("rma", 9, 6), again);
    if (!choice_needs_load(comm->topology())) continue;
    const auto joined = collectives("locality_rma", 9, 7);
    EXPECT_GT(joined, collectives("locality_rma", 3, 8));
    EXPECT_GT(collectives("rma", 9, 9), again);
  }
}

TEST(Sdde, OneSidedMessagesAreJoinedToo) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    if (!choice_needs_load(comm->topology())) continue;
    const auto sends = pattern(*comm, 77, 2);
    std::set<int> nodes;
    for (const int to : sends.ranks) nodes.insert(comm->topology().node(to));
    nodes.erase(comm->topology().node(comm->rank()));
    comm->ledger().clear();
    alltoall_crs<std::int64_t>(*comm, sends.ranks, 2, sends.data, {.algorithm = "locality_rma"});
    EXPECT_EQ(test::booked(comm->ledger()).messages_off_node, std::ssize(nodes));
  }
}

// The algorithm belongs to the communicator: two of the same ranks do not disturb each other.
TEST(Sdde, SettingsOfTwoCommunicatorsAreIndependent) {
  const int n = test_comm()->size();
  if (n < 3) return;
  std::vector<int> map;
  for (int r = 0; r < n; ++r) map.push_back(r % 2);
  const auto plain = mpi::Comm::create(MPI_COMM_WORLD, map, {.sparse_exchange = "personalized"});
  const auto aware =
      mpi::Comm::create(MPI_COMM_WORLD, map, {.sparse_exchange = "locality_nonblocking"});
  Messages<std::int64_t> sends;
  for (int to = 0; to < n; ++to) {
    sends.ranks.push_back(to);
    sends.offsets.push_back(0);
  }
  const int on_other_node = plain->rank() % 2 == 0 ? n / 2 : n - n / 2;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto by_aware = test::counted(map, [&] { exchange(*aware, sends); });
    const auto by_plain = test::counted(map, [&] { exchange(*plain, sends); });
    EXPECT_EQ(by_aware.messages_off_node, 1);
    EXPECT_EQ(by_plain.messages_off_node, on_other_node);
    EXPECT_GT(by_aware.synchronous, 0);
    EXPECT_EQ(by_plain.synchronous, 0);
  }
}

// One rank is wrong; all throw what it says, nobody hangs, and the next exchange works.
TEST(Sdde, ErrorsOfOneRankAreThrownByAll) {
  std::vector<int> map;
  for (int r = 0; r < test_comm()->size(); ++r) map.push_back(r % 3);
  for (const SparseExchange& algorithm : algorithms) {
    SCOPED_TRACE(algorithm.name());
    const auto created = mpi::Comm::create(MPI_COMM_WORLD, map, {.sparse_exchange = algorithm});
    const mpi::Comm& comm = *created;
    const int bad = comm.size() - 1;
    const auto expect_refused = [&](const std::vector<int>& wrong, const char* what) {
      const std::vector<int> right = {0};
      const std::vector<int>& to = comm.rank() == bad ? wrong : right;
      const std::vector<char> data(to.size(), 'x');
      const std::string text = expect_same_error(comm, ErrorCode::invalid_argument,
                                                 [&] { alltoall_crs<char>(comm, to, 1, data); });
      EXPECT_NE(text.find(what), std::string::npos) << text;
    };
    expect_refused({comm.size()}, "of a communicator of");
    expect_refused({-1}, "destination -1");
    expect_refused({0, 0}, "destination 0 is named twice");
    const std::vector<int> first = {0};
    const std::vector<char> long_data(2, 'x');
    std::string text = expect_same_error(comm, ErrorCode::invalid_argument, [&] {
      const std::span<const char> all(long_data);
      alltoall_crs<char>(comm, first, 1, comm.rank() == bad ? all : all.first(1));
    });
    EXPECT_NE(text.find("2 items for 1 messages of 1"), std::string::npos) << text;
    if (comm.size() > 1) {
      text = expect_same_error(comm, ErrorCode::invalid_argument, [&] {
        const std::span<const char> all(long_data);
        const Offset count = comm.rank() == bad ? 2 : 1;
        alltoall_crs<char>(comm, first, count, all.first(static_cast<std::size_t>(count)));
      });
      EXPECT_NE(text.find("same number of items on every rank"), std::string::npos) << text;
    }
    const auto got = alltoall_crs<char>(comm, first, 1, std::span(long_data).first(1));
    EXPECT_EQ(std::ssize(got.ranks), comm.is_root() ? comm.size() : 0);
  }
}

TEST(Sdde, WrongOffsetsAreRefused) {
  const mpi::Comm& comm = *test_comm();
  const std::vector<int> to = {0};
  const std::vector<char> data(3, 'x');
  for (const std::vector<Offset>& wrong :
       {std::vector<Offset>{}, {0}, {1, 3}, {0, 2}, {0, 4}, {0, -1}, {0, 1, 3}}) {
    const std::vector<Offset> right = {0, 3};
    expect_same_error(comm, ErrorCode::invalid_argument,
                      [&] { alltoallv_crs<char>(comm, to, comm.is_root() ? wrong : right, data); });
  }
  const std::vector<Offset> offsets = {0, 3};
  for (const Offset piece : {Offset{0}, Offset{-1}, (Offset{1} << 30) + 1}) {
    expect_same_error(comm, ErrorCode::invalid_argument, [&] {
      alltoallv_crs<char>(comm, to, offsets, data, {.max_message_bytes = piece});
    });
  }
}

TEST(Sdde, OneSidedIsForOneSizeOnly) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm =
        mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, {.sparse_exchange = "rma"});
    const std::string text = expect_same_error(*comm, ErrorCode::invalid_argument,
                                               [&] { exchange(*comm, pattern(*comm, 1)); });
    EXPECT_NE(text.find("rma is for messages of one size only"), std::string::npos) << text;
  }
}

TEST(Sdde, MessagesThatNoMemoryCanHoldAreRefused) {
  const Offset huge = std::numeric_limits<Offset>::max() / 2;
  expect_same_error(*test_comm(), ErrorCode::out_of_memory, [&] {
    alltoall_crs<double>(*test_comm(), {}, huge, {}, {.algorithm = "rma"});
  });
  expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                    [&] { alltoall_crs<double>(*test_comm(), {}, -1, {}); });
}

// What `automatic` sends on every placement: each message once, none that waits for an answer, one
// reduction to count them, and where messages are joined another on each node.
TEST(Sdde, CountsItsMessagesBeforehand) {
  const int n = test_comm()->size();
  for (const auto& map : test::node_maps(n)) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, {.allreduce = "mpi"});
    if (!choice_needs_load(comm->topology())) continue;
    const auto sends = pattern(*comm, 3);
    const auto to_others = std::count_if(sends.ranks.begin(), sends.ranks.end(),
                                         [&](int to) { return to != comm->rank(); });
    const test::MpiCalls calls = test::counted(map.node_of_rank, [&] { exchange(*comm, sends); });
    EXPECT_EQ(calls.messages(), to_others);  // too few to be joined
    EXPECT_EQ(calls.synchronous, 0);
    EXPECT_EQ(calls.collectives, 1);
    const auto equal = pattern(*comm, 4, 2);
    const auto equal_to_others = std::count_if(equal.ranks.begin(), equal.ranks.end(),
                                               [&](int to) { return to != comm->rank(); });
    const test::MpiCalls of_equal = test::counted(
        map.node_of_rank, [&] { alltoall_crs<std::int64_t>(*comm, equal.ranks, 2, equal.data); });
    EXPECT_EQ(of_equal.messages(), equal_to_others);
    EXPECT_EQ(of_equal.collectives, 1);
  }
}

constexpr sdde::JoinedSteps joined_steps = {sdde::between_personalized, sdde::send_personalized};

void count_messages(sdde::Call& call, const Messages<std::int64_t>& sends) {
  call.sends = {sends.ranks, sends.offsets, std::as_bytes(std::span(sends.data)), 8};
  call.counts = sdde::count_messages(call.channel, call.sends, {});
}

// So many messages that they are joined need more ranks than a test has: here they are told to.
TEST(Sdde, JoinsMessagesItHasCounted) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    if (!sdde::counts_messages_first(comm->topology())) continue;
    for (const Offset piece_bytes : {8, 24, 1 << 20}) {
      const auto sends = pattern(*comm, 5);
      sdde::Call call({*comm, comm->next_discovery_tag(), piece_bytes});
      count_messages(call, sends);
      const test::MpiCalls calls =
          test::counted(map.node_of_rank, [&] { sdde::exchange_joined(call, joined_steps); });
      EXPECT_EQ(calls.synchronous, 0);
      if (piece_bytes == 1 << 20) {
        EXPECT_LT(calls.messages_off_node, comm->topology().n_nodes());
      }
      std::map<int, std::vector<std::int64_t>> got, expected;
      for (const auto& message : call.inbox.messages()) {
        auto& data = got[message.source];
        data.resize(message.data.size() / 8);
        std::copy(message.data.begin(), message.data.end(),
                  reinterpret_cast<std::byte*>(data.data()));
      }
      const auto arrived = reference(*comm, sends);
      for (std::size_t i = 0; i < arrived.size(); ++i) {
        const auto data = arrived.message(i);
        expected[arrived.ranks[i]].assign(data.begin(), data.end());
      }
      EXPECT_EQ(got, expected);
    }
  }
}

// A rank that fails after it was counted sends what others wait for, if not what they want.
TEST(Sdde, ARankThatFailsAfterTheCountLeavesNobodyWaiting) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    if (!sdde::counts_messages_first(comm->topology())) continue;
    const auto sends = pattern(*comm, 5);
    sdde::Call call({*comm, comm->next_discovery_tag(), 24});
    count_messages(call, sends);
    if (comm->rank() == 1) call.error = Error(ErrorCode::out_of_memory, "no memory");
    sdde::exchange_joined(call, joined_steps);
    expect_equal(exchange(*comm, sends), reference(*comm, sends));  // and nothing is left over
  }
}

TEST(SddeChoice, JoinsManyShortMessagesOnly) {
  const auto two_on_a_node = [](int n_ranks) {
    std::vector<int> map;
    for (int r = 0; r < n_ranks; ++r) map.push_back(r / 2);
    return mpi::Topology(map);
  };
  // Few ranks are counted, many are not.
  const auto expect = [](const mpi::Topology& topology, SparseExchange straight,
                         SparseExchange joined) {
    const auto chosen = [&](const SparseLoad& load) {
      return choose_sparse_exchange(topology, load, {}).algorithm;
    };
    EXPECT_EQ(chosen({}), straight);
    EXPECT_EQ(
        chosen({.messages = 900, .messages_leaving = 800, .regions = 50, .bytes_leaving = 6400}),
        joined);
    EXPECT_EQ(
        chosen({.messages = 900, .messages_leaving = 50, .regions = 50, .bytes_leaving = 400}),
        straight);
    EXPECT_EQ(chosen({.messages = 900,
                      .messages_leaving = 800,
                      .regions = 50,
                      .bytes_leaving = Offset{800} << 20}),
              straight);
  };
  expect(two_on_a_node(5), "personalized", "locality_personalized");
  expect(two_on_a_node(255), "personalized", "locality_personalized");
  expect(two_on_a_node(256), "nonblocking", "locality_nonblocking");
}

TEST(SddeChoice, NothingToJoinWithoutSeveralRanksOnSeveralNodes) {
  const SparseLoad load{
      .messages = 9000, .messages_leaving = 9000, .regions = 3, .bytes_leaving = 9000};
  const std::vector<int> one_node = {4, 4, 4};
  const std::vector<int> separate = {0, 1, 2};
  for (const auto* map : {&one_node, &separate}) {
    const mpi::Topology topology(*map);
    EXPECT_FALSE(choice_needs_load(topology));
    EXPECT_EQ(choose_sparse_exchange(topology, load, {}).algorithm, "nonblocking");
  }
}

TEST(SddeChoice, ExplainsItself) {
  const int n = test_comm()->size();
  std::vector<int> map;
  for (int r = 0; r < n; ++r) map.push_back(r / 2);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map);
  const std::vector<int> to = {0};
  const std::vector<Offset> bytes = {Offset{1} << 20};
  const std::string text = explain_choice(*comm, to, bytes);
  EXPECT_NE(text.find(n > 2 ? ": personalized (chosen)" : ": nonblocking (chosen)"),
            std::string::npos)
      << text;
  if (n > 2) {
    const std::string most = std::to_string(Offset{n - 2} << 20);
    EXPECT_NE(text.find(" with " + most + " bytes"), std::string::npos) << text;
  }
  const auto set = mpi::Comm::create(MPI_COMM_WORLD, map, {.sparse_exchange = "personalized"});
  const std::string other = explain_choice(*set, to, bytes);
  EXPECT_NE(other.find("personalized (set for this communicator)"), std::string::npos) << other;
}

}  // namespace comm_sdde_test
}  // namespace nodewise::comm
