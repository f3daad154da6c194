// The cost of moving rows: by hand, and against every row by itself.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/model/redistribution_cost.hpp"

#include "model_support.hpp"

namespace nodewise::model {
namespace model_redistribution_test {

using Starts = std::vector<GlobalIndex>;

mpi::Topology nodes_of_two(int n_ranks) {
  std::vector<int> node_of_rank;
  for (int r = 0; r < n_ranks; ++r) node_of_rank.push_back(r / 2);
  return mpi::Topology(node_of_rank);
}

std::vector<std::int64_t> of_a_vector(std::int64_t n) {
  std::vector<std::int64_t> bytes;
  for (std::int64_t i = 0; i <= n; ++i) bytes.push_back(8 * i);
  return bytes;
}

double seconds(const Starts& from, const Starts& to, const std::vector<std::int64_t>& bytes) {
  const int n_ranks = static_cast<int>(from.size()) - 1;
  return redistribution_cost(from, to, bytes, nodes_of_two(n_ranks), test::round_machine()).total();
}

TEST(RedistributionCost, IsThatOfTheBusiestRank) {
  const Starts even = {0, 2, 4, 6, 8};
  EXPECT_EQ(seconds(even, even, of_a_vector(8)), 0);
  // One rank of each node gathers it: 0.25 s and 16 bytes at 32 B/s.
  EXPECT_EQ(seconds(even, {0, 4, 4, 8, 8}, of_a_vector(8)), 0.25 + 0.5);
  // One rank gathers all: also twice 1 s and 32 bytes at 8 B/s from the other node.
  EXPECT_EQ(seconds(even, {0, 8, 8, 8, 8}, of_a_vector(8)), 0.25 + 0.5 + 2 + 4);
  // And spreads it again.
  EXPECT_EQ(seconds({0, 8, 8, 8, 8}, even, of_a_vector(8)), 0.25 + 0.5 + 2 + 4);
  EXPECT_EQ(seconds({0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0}), 0);
}

Starts random_starts(int n_ranks, GlobalIndex n, std::uint64_t seed) {
  Starts starts = {0, n};
  for (int r = 1; r < n_ranks; ++r) {
    starts.push_back(static_cast<GlobalIndex>(static_cast<double>(n) *
                                              hash_uniform(static_cast<std::uint64_t>(r), seed)));
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

std::size_t owner(const Starts& starts, GlobalIndex row) {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), row) -
                                  starts.begin()) -
         1;
}

TEST(RedistributionCost, CountsEveryRowOnce) {
  constexpr GlobalIndex n = 50;
  std::vector<std::int64_t> bytes = {0};
  for (std::uint64_t i = 0; i < n; ++i) {
    bytes.push_back(bytes.back() + 8 * static_cast<std::int64_t>(hash64(i) % 5));
  }
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const int n_ranks = 1 + static_cast<int>(seed % 9);
    const Starts from = random_starts(n_ranks, n, 2 * seed),
                 to = random_starts(n_ranks, n, 2 * seed + 1);
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> messages;
    for (GlobalIndex row = 0; row < n; ++row) {
      const auto at = static_cast<std::size_t>(row);
      messages[{owner(from, row), owner(to, row)}] += bytes[at + 1] - bytes[at];
    }
    const Machine machine = test::round_machine();
    const mpi::Topology topology = nodes_of_two(n_ranks);
    ExchangeTally tally(machine, topology);
    for (const auto& [ends, length] : messages) {
      if (ends.first == ends.second) continue;
      tally.add(0, static_cast<int>(ends.first), static_cast<int>(ends.second),
                static_cast<double>(length));
    }
    EXPECT_DOUBLE_EQ(seconds(from, to, bytes), tally.total().total()) << "seed " << seed;
  }
}

TEST(RedistributionCost, RefusesWhatIsNoDistribution) {
  const Starts even = {0, 2, 4};
  const auto refusal = [&](const Starts& from, const Starts& to,
                           const std::vector<std::int64_t>& bytes) -> std::string {
    try {
      redistribution_cost(from, to, bytes, nodes_of_two(2), test::round_machine());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "not refused";
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal({0, 4}, even, of_a_vector(4)), "2 starts before for 2 ranks");
  has(refusal(even, {0, 5, 4}, of_a_vector(4)), "the starts after do not ascend from 0");
  has(refusal({1, 2, 4}, even, of_a_vector(4)), "the starts before do not ascend from 0");
  has(refusal(even, {0, 2, 5}, of_a_vector(4)), "4 rows before, 5 after");
  has(refusal(even, even, of_a_vector(3)), "not those of 4 rows");
  has(refusal(even, even, {0, 8, 4, 16, 20}), "not those of 4 rows");
}

}  // namespace model_redistribution_test
}  // namespace nodewise::model
