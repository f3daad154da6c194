// Sparse dynamic data exchange against patterns that every rank can compute for itself.
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/discovery.hpp"

#include "support.hpp"

namespace nodewise::comm {
namespace comm_discovery_test {

using test::test_comm;

// What rank `from` sends to rank `to` in call `call`: -1 for no message at all, else its length.
Offset length_of(int from, int to, std::uint64_t call) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(from * 1000 + to), call);
  if (h % 3 == 0) return -1;
  if (h % 3 == 1 && h % 7 < 3) return 0;
  return static_cast<Offset>(h % 41);
}

// Byte k of the message, so that a byte of another call, pair or place would be seen.
unsigned char byte_of(int from, int to, std::uint64_t call, Offset k) {
  const auto pair = static_cast<std::uint64_t>(from * 1000 + to);
  return static_cast<unsigned char>(hash64(static_cast<std::uint64_t>(k), 31 * call + pair));
}

template <class T>
T item_of(int from, int to, std::uint64_t call, Offset k) {
  std::array<unsigned char, sizeof(T)> bytes;
  for (std::size_t b = 0; b < sizeof(T); ++b) {
    bytes[b] = byte_of(from, to, call, k * static_cast<Offset>(sizeof(T) + b));
  }
  T item;
  std::memcpy(&item, bytes.data(), sizeof(T));
  return item;
}

template <class T>
Messages<T> sends_of(const mpi::Comm& comm, std::uint64_t call) {
  Messages<T> sends;
  for (int step = 0; step < comm.size(); ++step) {
    const int to = (comm.rank() + step) % comm.size();  // not ascending, oneself first
    const Offset length = length_of(comm.rank(), to, call);
    if (length < 0) continue;
    for (Offset k = 0; k < length; ++k) sends.data.push_back(item_of<T>(comm.rank(), to, call, k));
    sends.ranks.push_back(to);
    sends.offsets.push_back(static_cast<Offset>(sends.data.size()));
  }
  return sends;
}

template <class T>
void expect_arrived(const mpi::Comm& comm, const Messages<T>& got, std::uint64_t call) {
  std::vector<int> sources;
  for (int from = 0; from < comm.size(); ++from) {
    if (length_of(from, comm.rank(), call) >= 0) sources.push_back(from);
  }
  EXPECT_EQ(got.ranks, sources) << "call " << call;
  if (got.ranks != sources) return;
  ASSERT_EQ(got.offsets.size(), sources.size() + 1);
  EXPECT_EQ(static_cast<std::size_t>(got.offsets.back()), got.data.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto message = got.message(i);
    const Offset length = length_of(sources[i], comm.rank(), call);
    ASSERT_EQ(static_cast<Offset>(message.size()), length) << "call " << call;
    for (Offset k = 0; k < length; ++k) {
      const T expected = item_of<T>(sources[i], comm.rank(), call, k);
      EXPECT_EQ(std::memcmp(&message[static_cast<std::size_t>(k)], &expected, sizeof(T)), 0);
    }
  }
}

template <std::size_t bytes>
struct Item {
  std::array<unsigned char, bytes> data;
};

template <std::size_t... sizes>
void exchange_items_of(const mpi::Comm& comm, std::index_sequence<sizes...>) {
  const auto one = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes>) {
    const auto got = exchange_sparse(comm, sends_of<Item<bytes>>(comm, bytes));
    expect_arrived(comm, got, bytes);
  };
  (one(std::integral_constant<std::size_t, sizes + 1>{}), ...);
}

TEST(ExchangeSparse, ItemsOfOneTo24Bytes) {
  exchange_items_of(*test_comm(), std::make_index_sequence<24>{});
}

TEST(ExchangeSparse, ManyCallsWithDelaysNeverMix) {
  const auto comm = test_comm();
  for (std::uint64_t call = 100; call < 300; ++call) {
    const auto h = hash64(call, static_cast<std::uint64_t>(comm->rank()));
    if (h % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(h % 1500));
    expect_arrived(*comm, exchange_sparse(*comm, sends_of<std::int32_t>(*comm, call)), call);
  }
}

TEST(ExchangeSparse, OneSlowRankHearsOnlyItsOwnCall) {
  const auto comm = test_comm();
  for (std::uint64_t call = 0; call < 12; ++call) {
    if (std::cmp_equal(call % static_cast<std::uint64_t>(comm->size()), comm->rank())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    // Everyone to everyone, the number of the call as payload.
    Messages<std::uint64_t> sends;
    for (int to = 0; to < comm->size(); ++to) {
      sends.ranks.push_back(to);
      sends.data.push_back(call);
      sends.offsets.push_back(to + 1);
    }
    const auto got = exchange_sparse(*comm, sends);
    EXPECT_EQ(got.size(), static_cast<std::size_t>(comm->size()));
    for (const std::uint64_t value : got.data) EXPECT_EQ(value, call);
  }
}

TEST(ExchangeSparse, NobodySends) {
  const auto comm = test_comm();
  const auto got = exchange_sparse(*comm, Messages<double>{});
  EXPECT_EQ(got.size(), 0U);
  EXPECT_TRUE(got.data.empty());
  EXPECT_EQ(got.offsets, std::vector<Offset>{0});
}

TEST(ExchangeSparse, EmptyMessagesArriveAndSelfIsAllowed) {
  const auto comm = test_comm();
  Messages<double> sends;  // an empty message to oneself and to the next rank
  sends.ranks = {comm->rank()};
  sends.offsets = {0, 0};
  if (comm->size() > 1) {
    sends.ranks.push_back((comm->rank() + 1) % comm->size());
    sends.offsets.push_back(0);
  }
  const auto got = exchange_sparse(*comm, sends);
  std::vector<int> sources = {comm->rank()};
  if (comm->size() > 1) sources.push_back((comm->rank() + comm->size() - 1) % comm->size());
  std::sort(sources.begin(), sources.end());
  EXPECT_EQ(got.ranks, sources);
  EXPECT_TRUE(got.data.empty());
  EXPECT_EQ(got.offsets, std::vector<Offset>(sources.size() + 1, 0));
}

TEST(ExchangeSparse, AllToRankZero) {
  const auto comm = test_comm();
  Messages<int> sends;
  sends.ranks = {0};
  sends.data.assign(static_cast<std::size_t>(comm->rank()), comm->rank());
  sends.offsets.push_back(comm->rank());
  const auto got = exchange_sparse(*comm, sends);
  ASSERT_EQ(got.size(), comm->is_root() ? static_cast<std::size_t>(comm->size()) : 0U);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got.message(i).size(), i);
    for (const int value : got.message(i)) EXPECT_EQ(value, static_cast<int>(i));
  }
}

TEST(ExchangeSparse, LongMessages) {
  const auto comm = test_comm();
  const int to = (comm->rank() + 1) % comm->size();
  const int from = (comm->rank() + comm->size() - 1) % comm->size();
  Messages<std::int64_t> sends;
  sends.ranks = {to};
  sends.data.resize(200'000);
  for (std::size_t k = 0; k < sends.data.size(); ++k) {
    sends.data[k] = static_cast<std::int64_t>(k) * (comm->rank() + 1);
  }
  sends.offsets.push_back(static_cast<Offset>(sends.data.size()));
  const auto got = exchange_sparse(*comm, sends);
  EXPECT_EQ(got.ranks, std::vector<int>{from});
  bool equal = got.data.size() == sends.data.size();
  for (std::size_t k = 0; equal && k < got.data.size(); ++k) {
    equal = got.data[k] == static_cast<std::int64_t>(k) * (from + 1);
  }
  EXPECT_TRUE(equal);
}

// Two communicators of the same ranks keep their calls apart, however they interleave.
TEST(ExchangeSparse, CommunicatorsAreIndependent) {
  const auto a = mpi::Comm::create(MPI_COMM_WORLD);
  const auto b = mpi::Comm::create(MPI_COMM_WORLD);
  for (std::uint64_t call = 0; call < 6; ++call) {
    const auto& comm = call % 3 == 0 ? *a : *b;
    expect_arrived(comm, exchange_sparse(comm, sends_of<char>(comm, call)), call);
  }
}

TEST(GroupByRank, KeepsTheOrderWithinARank) {
  const std::vector<int> ranks = {4, 0, 4, 2, 0, 4};
  const std::vector<char> items = {'a', 'b', 'c', 'd', 'e', 'f'};
  const auto messages = group_by_rank(std::span(ranks), std::span(items), 6);
  EXPECT_EQ(messages.ranks, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(messages.offsets, (std::vector<Offset>{0, 2, 3, 6}));
  EXPECT_EQ(messages.data, (std::vector<char>{'b', 'e', 'd', 'a', 'c', 'f'}));
}

TEST(GroupByRank, NothingAndOneRank) {
  const auto none = group_by_rank(std::span<const int>(), std::span<const double>(), 3);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.offsets, std::vector<Offset>{0});
  const std::vector<int> ranks = {0, 0};
  const std::vector<double> items = {1.0, 2.0};
  const auto one = group_by_rank(std::span(ranks), std::span(items), 1);
  EXPECT_EQ(one.ranks, std::vector<int>{0});
  EXPECT_EQ(one.data, items);
}

}  // namespace comm_discovery_test
}  // namespace nodewise::comm
