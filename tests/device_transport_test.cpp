// Data on devices that go to other ranks: every way brings the same bits. The host's memory stands
// for a card's.
#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/comm/route/route.hpp"
#include "nodewise/device/shared_memory.hpp"
#include "nodewise/offload/cards.hpp"
#include "nodewise/offload/known_messages.hpp"
#include "nodewise/offload/records.hpp"
#include "nodewise/offload/transport/shares.hpp"

#include "collective_error.hpp"
#include "exchange_checks.hpp"
#include "failing_piece.hpp"
#include "offload_support.hpp"
#include "support.hpp"

namespace nodewise::offload {
namespace device_transport_test {

using device::Host;
using test::Case;
using test::expect_same_error;
using test::node_maps;
using test::NodeMap;
using test::PoisonedMemory;
using test::test_comm;
using testing::HasSubstr;

/// Collective. By this way, for ranks that use their cards as the map says.
Leaving leaving_by(const DeviceTransportMethod& method,
                   const std::shared_ptr<const mpi::Comm>& comm, const std::string& map = "") {
  Leaving leaving;
  leaving.how = method;
  if (method.shares_cards) {
    leaving.sharing = ranks_of_card(comm, card_of_rank(*comm, read_device_map(map), 0));
  }
  return leaving;
}

template <class T>
std::byte* bytes_of(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

/// Collective. What a carrier brings is what comm::Exchange brings, to the bit, twice.
template <class T>
void expect_as_exchange(Carrier<Host>& carrier, comm::Exchange& exchange) {
  const auto n_owned = static_cast<std::size_t>(exchange.plan().n_owned);
  const auto n_ghosts = static_cast<std::size_t>(exchange.plan().n_ghosts);
  for (unsigned char salt = 1; salt < 3; ++salt) {
    std::vector<T> owned(n_owned), ghosts(n_ghosts), expected(n_ghosts);
    for (std::size_t i = 0; i < n_owned * sizeof(T); ++i) {
      reinterpret_cast<unsigned char*>(owned.data())[i] =
          static_cast<unsigned char>(hash64(i, exchange.comm().rank() + 100U * salt));
    }
    exchange.forward(std::span<const T>(owned), std::span<T>(expected));
    carrier.forward(bytes_of(owned), bytes_of(ghosts), sizeof(T));
    if (n_ghosts == 0) continue;
    EXPECT_EQ(std::memcmp(ghosts.data(), expected.data(), n_ghosts * sizeof(T)), 0);
  }
}

using Twelve = std::array<std::int32_t, 3>;

/// Calls f(communicator, its name) for all placements.
template <class F>
void for_placements(const F& f) {
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    f(mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank));
  }
}

TEST(DeviceTransport, BringsTheSameByEveryWayOverEveryRoute) {
  const PoisonedMemory poisoned;
  for_placements([](const std::shared_ptr<const mpi::Comm>& comm) {
    const Case c(comm, 60, 0.3, 7);
    const comm::Pattern pattern = comm::discover_pattern(c.layout, c.mine());
    for (const comm::Route route : comm::RouteMethod::family()) {
      const comm::Plan plan = comm::make_plan(*comm, pattern, route);
      comm::Exchange exchange(comm, plan);
      for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
        for (const char* map : {"", "0,1"}) {
          SCOPED_TRACE(route.name() + ", " + *method.name + ", cards " + map);
          Card<Host> card;
          const Leaving leaving = leaving_by(method, comm, map);
          const auto carrier = (*method.make_carrier)(CarrierCall<Host>{
              card, comm, leaving.sharing, plan, route, "point_to_point", sizeof(Twelve)});
          expect_as_exchange<double>(*carrier, exchange);
          expect_as_exchange<float>(*carrier, exchange);
          expect_as_exchange<Twelve>(*carrier, exchange);
          EXPECT_FALSE(card.local.take());
          if (!method.shares_cards) break;  // has no use for a map
        }
      }
    }
  });
}

TEST(DeviceTransport, GoesOverEveryTransportOfTheHost) {
  const auto comm = test_comm();
  const Case c(comm, 50, 0.4, 3);
  comm::Exchange exchange(comm, c.staged);
  for (const comm::TransportMethod& transport : comm::TransportMethod::family()) {
    if (!(*transport.unavailable)(*comm).empty()) continue;
    for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
      SCOPED_TRACE(*transport.name + ", " + *method.name);
      Card<Host> card;
      const Leaving leaving = leaving_by(method, comm);
      const auto carrier = (*method.make_carrier)(
          CarrierCall<Host>{card, comm, leaving.sharing, c.staged, "direct", transport, 8});
      expect_as_exchange<double>(*carrier, exchange);
    }
  }
}

TEST(DeviceTransport, RunsWithoutMessages) {
  const auto comm = test_comm();
  const Case nothing(comm, 0, 0.5, 1);
  comm::Exchange exchange(comm, nothing.direct);
  for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
    SCOPED_TRACE(*method.name);
    Card<Host> card;
    const Leaving leaving = leaving_by(method, comm);
    const auto carrier = (*method.make_carrier)(CarrierCall<Host>{
        card, comm, leaving.sharing, nothing.direct, "direct", "point_to_point", 8});
    expect_as_exchange<double>(*carrier, exchange);
  }
}

TEST(DeviceTransport, EndsTogetherWhereARankFails) {
  const auto comm = test_comm();
  const Case c(comm, 40, 0.3, 5);
  for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
    SCOPED_TRACE(*method.name);
    const Leaving leaving = leaving_by(method, comm);
    const auto once = [&] {
      Card<Host> card;
      const auto carrier = (*method.make_carrier)(
          CarrierCall<Host>{card, comm, leaving.sharing, c.direct, "direct", "point_to_point", 8});
      std::vector<double> owned(static_cast<std::size_t>(c.direct.n_owned), 1);
      std::vector<double> ghosts(static_cast<std::size_t>(c.direct.n_ghosts));
      carrier->forward(bytes_of(owned), bytes_of(ghosts), sizeof(double));
      mpi::agree(*comm, card.local.take());
    };
    test::expect_together(once, [] {});
  }
}

TEST(DeviceTransport, SharesTheMessagesOfOneOwner) {
  // The last rank owns all, and every other needs all of it: its messages are shared out.
  const auto comm = test_comm();
  const int n = comm->size();
  constexpr GlobalIndex rows = 6000;
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(n) + 1, 0);
  starts.back() = rows;
  const comm::Layout layout(comm, starts);
  std::vector<GlobalIndex> ghosts(comm->rank() + 1 < n ? rows : 0);
  std::iota(ghosts.begin(), ghosts.end(), GlobalIndex{0});
  const comm::Plan plan = comm::make_plan(*comm, comm::discover_pattern(layout, ghosts), "direct");
  const Shares shares = share_out(comm, comm, plan, "direct");
  const auto sum = [&](std::size_t items) {
    return mpi::sum(*comm, static_cast<std::int64_t>(items));
  };
  EXPECT_EQ(sum(static_cast<std::size_t>(shares.taken_offsets.back())), rows * (n - 1));
  EXPECT_EQ(sum(static_cast<std::size_t>(shares.brought_offsets.back())), rows * (n - 1));
  EXPECT_EQ(sum(static_cast<std::size_t>(shares.arrived_offsets.back())), rows * (n - 1));
  const auto most = mpi::max(*comm, std::int64_t{shares.taken_offsets.back()});
  EXPECT_LE(most, rows);  // of rows (n - 1) in all, on n cores
}

TEST(DealOut, CutsLongMessagesAndLeavesShortOnesWhole) {
  const std::vector<LocalIndex> one = {10 * message_items};
  const auto pieces = deal_out(one, 4);
  ASSERT_EQ(pieces.size(), 4U);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(pieces[k].core, static_cast<int>(k));
    EXPECT_EQ(pieces[k].end - pieces[k].begin, one[0] / 4);
  }
  const std::vector<LocalIndex> many(12, 3);
  const auto whole = deal_out(many, 4);
  ASSERT_EQ(whole.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(whole[i], (Piece{i, 0, 3, static_cast<int>(i / 3)}));
  EXPECT_TRUE(deal_out({}, 3).empty());
}

TEST(DealOut, DealsEveryItemOnceInOrder) {
  std::mt19937 random(5);
  for (int time = 0; time < 200; ++time) {
    std::vector<LocalIndex> lengths(random() % 20);
    for (LocalIndex& n : lengths) {
      n = static_cast<LocalIndex>(random() % (time % 2 == 0 ? 10 : 20000));
    }
    const int cores = 1 + static_cast<int>(random() % 9);
    std::vector<LocalIndex> dealt(lengths.size(), 0);
    int core = 0;
    for (const Piece& piece : deal_out(lengths, cores)) {
      EXPECT_EQ(piece.begin, dealt[piece.message]);
      dealt[piece.message] = piece.end;
      EXPECT_GE(piece.core, core);
      EXPECT_LT(piece.core, cores);
      core = piece.core;
    }
    EXPECT_EQ(dealt, lengths);
  }
}

TEST(DeviceMap, ReadsListsOfCards) {
  EXPECT_EQ(read_device_map(""), std::vector<int>());
  EXPECT_EQ(read_device_map("3"), std::vector<int>{3});
  EXPECT_EQ(read_device_map("0,0,12"), (std::vector<int>{0, 0, 12}));
  for (const char* wrong : {",", "0,", "a", "0,,1", "-1", "0 1", "99999999999"}) {
    EXPECT_THROW(read_device_map(wrong), Error) << wrong;
  }
  const mpi::Comm& comm = *test_comm();
  const auto place = static_cast<int>(comm.topology().place_on_node(comm.rank()));
  EXPECT_EQ(card_of_rank(comm, {}, 2), place % 2);
  EXPECT_EQ(card_of_rank(comm, {4, 7}, 2), place % 2 == 0 ? 4 : 7);
  EXPECT_EQ(card_of_rank(comm, {}, 0), 0);
}

/// How many items rank `from` sends to rank `to`: many pairs have none.
Offset length_between(int from, int to) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(100 * from + to), 11);
  return h % 3 == 0 ? 0 : static_cast<Offset>(h % 2500);
}

std::int64_t item_of(int from, int to, Offset k) {
  return 1000000 * from + 10000 * to + k;
}

/// The messages of this rank to all others and itself, whose lengths length_between() tells.
struct AllMessages {
  explicit AllMessages(const mpi::Comm& comm) {
    for (int other = 0; other < comm.size(); ++other) {
      ranks.push_back(other);
      const Offset sent = length_between(comm.rank(), other);
      const Offset received = length_between(other, comm.rank());
      for (Offset k = 0; k < sent; ++k) send.push_back(item_of(comm.rank(), other, k));
      for (Offset k = 0; k < received; ++k) expected.push_back(item_of(other, comm.rank(), k));
      send_offsets.push_back(static_cast<Offset>(send.size()));
      recv_offsets.push_back(static_cast<Offset>(expected.size()));
    }
  }
  std::vector<int> ranks;
  std::vector<Offset> send_offsets = {0}, recv_offsets = {0};
  std::vector<std::int64_t> send, expected;
};

TEST(DeviceAlltoallv, BringsAllByEveryWay) {
  const PoisonedMemory poisoned;
  for_placements([](const std::shared_ptr<const mpi::Comm>& comm) {
    AllMessages all(*comm);
    for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
      SCOPED_TRACE(*method.name);
      Card<Host> card;
      KnownMessages<Host> messages(card, comm, leaving_by(method, comm),
                                   {all.ranks, all.send_offsets, all.ranks, all.recv_offsets},
                                   sizeof(std::int64_t));
      for (int time = 0; time < 2; ++time) {
        std::vector<std::int64_t> received(all.expected.size(), -1);
        messages.run(bytes_of(all.send), bytes_of(received));
        EXPECT_FALSE(card.local.take());
        EXPECT_EQ(received, all.expected);
      }
    }
  });
}

TEST(DeviceAlltoallv, RefusesWhatIsNoListOfMessages) {
  const auto comm = test_comm();
  const std::vector<int> nobody, me = {comm->rank()}, twice = {0, 0}, outside = {comm->size()};
  const std::vector<Offset> none = {0}, one = {0, 1}, two = {0, 1, 2}, wrong = {1, 1},
                            long_one = {0, Offset{1} << 32};
  const auto text_of = [&](const MessageLengths& lengths, ErrorCode code) {
    Card<Host> card;
    return expect_same_error(
        *comm, code, [&] { KnownMessages<Host>(card, comm, Leaving(), lengths, sizeof(double)); });
  };
  EXPECT_THAT(text_of({twice, two, nobody, none}, ErrorCode::invalid_argument),
              HasSubstr("ascend"));
  EXPECT_THAT(text_of({outside, one, nobody, none}, ErrorCode::invalid_argument),
              HasSubstr("ascend"));
  EXPECT_THAT(text_of({me, none, nobody, none}, ErrorCode::invalid_argument), HasSubstr("offset"));
  EXPECT_THAT(text_of({me, wrong, nobody, none}, ErrorCode::invalid_argument), HasSubstr("offset"));
  EXPECT_THAT(text_of({me, one, nobody, none}, ErrorCode::invalid_argument), HasSubstr("itself"));
  text_of({me, long_one, me, long_one}, ErrorCode::index_overflow);
}

TEST(DeviceSparseExchange, BringsWhatNobodyKnowsByEveryWay) {
  const PoisonedMemory poisoned;
  for_placements([](const std::shared_ptr<const mpi::Comm>& comm) {
    // Destinations in descending order, and only every other rank.
    std::vector<int> destinations;
    std::vector<Offset> offsets = {0};
    std::vector<double> data;
    for (int to = comm->size() - 1; to >= 0; --to) {
      if ((to + comm->rank()) % 2 != 0) continue;
      destinations.push_back(to);
      for (Offset k = 0; k < length_between(comm->rank(), to); ++k) {
        data.push_back(static_cast<double>(item_of(comm->rank(), to, k)));
      }
      offsets.push_back(static_cast<Offset>(data.size()));
    }
    const auto expected = comm::alltoallv_crs<double>(*comm, destinations, offsets, data);
    for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
      SCOPED_TRACE(*method.name);
      Card<Host> card;
      const auto got = alltoallv_crs<double, Host>(card, comm, leaving_by(method, comm),
                                                   destinations, offsets, data.data());
      EXPECT_EQ(got.ranks, expected.ranks);
      EXPECT_EQ(got.offsets, expected.offsets);
      ASSERT_EQ(got.data.size(), expected.data.size());
      for (std::size_t i = 0; i < expected.data.size(); ++i) {
        ASSERT_EQ(got.data.data()[i], expected.data[i]);
      }
      const std::vector<int> outside = {comm->size()};
      const std::vector<Offset> one = {0, 1};
      const double number = 1;
      expect_same_error(*comm, ErrorCode::invalid_argument, [&] {
        alltoallv_crs<double, Host>(card, comm, leaving_by(method, comm), outside, one, &number);
      });
    }
  });
}

TEST(DeviceAllreduce, AddsUpByEveryWay) {
  const PoisonedMemory poisoned;
  for_placements([](const std::shared_ptr<const mpi::Comm>& comm) {
    for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
      SCOPED_TRACE(*method.name);
      Card<Host> card;
      const Leaving leaving = leaving_by(method, comm, "0,1,1");
      const auto adder = (*method.make_adder)(AdderCall<Host>{card, comm, leaving.sharing, 1000});
      for (const std::size_t n : {0, 1, 3, 1000, 999}) {
        std::vector<double> values(n);
        for (std::size_t i = 0; i < n; ++i)
          values[i] = static_cast<double>(10 * i) + comm->rank() + 1;
        adder->add(values.data(), n);
        EXPECT_FALSE(card.local.take());
        const double p = comm->size();
        for (std::size_t i = 0; i < n; ++i) {  // whole numbers: sums are exact in any order
          ASSERT_EQ(values[i], p * (p + 1) / 2 + p * static_cast<double>(10 * i)) << n << ", " << i;
        }
      }
    }
  });
}

TEST(DeviceRecords, BringsRowsOfAnyLength) {
  const PoisonedMemory poisoned;
  for_placements([](const std::shared_ptr<const mpi::Comm>& comm) {
    const Case c(comm, 40, 0.3, 9);
    const auto record_length = [](GlobalIndex i) {
      return static_cast<Offset>(i % 4 == 3 ? 0 : i % 7);
    };
    const auto item = [](GlobalIndex i, Offset k) { return 100 * i + k; };
    std::vector<Offset> offsets = {0};
    std::vector<std::int64_t> items;
    for (GlobalIndex i = c.layout.begin(); i < c.layout.end(); ++i) {
      for (Offset k = 0; k < record_length(i); ++k) items.push_back(item(i, k));
      offsets.push_back(static_cast<Offset>(items.size()));
    }
    for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
      SCOPED_TRACE(*method.name);
      Card<Host> card;
      RecordCarrier<Host> records(card, comm, leaving_by(method, comm), c.staged, offsets, "direct",
                                  "point_to_point", sizeof(std::int64_t));
      if (comm->size() == 1) continue;  // nothing to bring
      ASSERT_EQ(records.ghost_offsets().size(), c.mine().size() + 1);
      std::vector<std::int64_t> ghosts(static_cast<std::size_t>(records.ghost_offsets().back()),
                                       -1);
      records.forward(bytes_of(items), bytes_of(ghosts), sizeof(std::int64_t));
      EXPECT_FALSE(card.local.take());
      std::vector<std::int64_t> expected;
      for (const GlobalIndex i : c.mine()) {
        for (Offset k = 0; k < record_length(i); ++k) expected.push_back(item(i, k));
      }
      EXPECT_EQ(ghosts, expected);
    }
  });
}

TEST(DeviceSharedMemory, IsRefusedWhereItCannotBeReached) {
  const device::SharedHandle nowhere;
  EXPECT_THROW(device::SharedMemory<Host>::open(nowhere), Error);
  try {
    device::SharedMemory<Host>::make(std::size_t{1} << 60);
    FAIL() << "so much memory was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
  }
}

}  // namespace device_transport_test
}  // namespace nodewise::offload
