// Plans of the items of records: the same items as the records themselves, and no more traffic than
// must be.
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/record_plan.hpp"
#include "nodewise/comm/route/route.hpp"

#include "exchange_support.hpp"
#include "support.hpp"

namespace nodewise::comm {
namespace comm_record_plan_test {

using test::ghosts_of;
using test::random_layout;
using test::test_comm;

/// Calls f(comm, layout, ghosts of all ranks, plan) for placements, routes and seeds.
template <class F>
void for_each_plan(const F& f) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    for (const Route route : RouteMethod::family()) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(testing::Message() << map.name << ", " << route.name() << ", " << seed);
        const Layout layout = random_layout(comm, 30, seed, seed == 2 ? GlobalIndex{1} << 41 : 0);
        std::vector<std::vector<GlobalIndex>> ghosts;
        for (int r = 0; r < comm->size(); ++r) {
          ghosts.push_back(ghosts_of(layout, r, seed == 3 ? 0.1 : 0.5, seed));
        }
        const auto& mine = ghosts[static_cast<std::size_t>(comm->rank())];
        f(comm, layout, ghosts, make_plan(*comm, discover_pattern(layout, mine), route), route);
      }
    }
  }
}

/// Every third record is empty.
std::size_t length_of(GlobalIndex i) {
  const std::uint64_t h = hash64(static_cast<std::uint64_t>(i), 5);
  return h % 3 == 0 ? 0 : h % 7;
}

double item_of(GlobalIndex i, std::size_t k) {
  return hash_uniform(static_cast<std::uint64_t>(i), k);
}

std::int64_t off_node_entries(const mpi::Comm& comm, const Plan& plan) {
  return mpi::sum(comm, traffic(plan, comm.topology(), comm.rank()).entries_off_node);
}

TEST(RecordPlan, BringsTheItemsOfTheRecords) {
  for_each_plan(
      [](const auto& comm, const Layout& layout, const auto& ghosts, const Plan& plan, Route) {
        const auto exported = plan.exported_entries();
        std::vector<Offset> offsets = {0};
        std::vector<double> owned;
        for (LocalIndex i = 0; i < layout.n_local(); ++i) {
          const bool needed = std::binary_search(exported.begin(), exported.end(), i);
          const GlobalIndex g = layout.to_global(i);
          for (std::size_t k = 0; needed && k < length_of(g); ++k) owned.push_back(item_of(g, k));
          offsets.push_back(static_cast<Offset>(owned.size()));
        }
        std::vector<double> expected;
        for (const GlobalIndex g : ghosts[static_cast<std::size_t>(comm->rank())]) {
          for (std::size_t k = 0; k < length_of(g); ++k) expected.push_back(item_of(g, k));
        }
        Exchange exchange(comm, plan_of_items(comm, plan, offsets));
        ASSERT_EQ(exchange.plan().stages.size(), plan.stages.size());
        std::vector<double> got(static_cast<std::size_t>(exchange.plan().n_ghosts));
        exchange.forward(std::span<const double>(owned), std::span<double>(got));
        EXPECT_EQ(got, expected);
      });
}

/// The keys to which rank r contributes at entry i, ascending; some entries get none.
std::vector<GlobalIndex> keys_of(int r, GlobalIndex i) {
  std::vector<GlobalIndex> keys;
  if (hash64(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(r)) % 4 == 0) return keys;
  for (GlobalIndex key = 0; key < 12; ++key) {
    const auto h = static_cast<std::uint64_t>(64 * i + r);
    if (hash_uniform(h, static_cast<std::uint64_t>(key)) < 0.3) {
      keys.push_back((GlobalIndex{1} << 40) + key);
    }
  }
  return keys;
}

double contribution(int r, GlobalIndex i, GlobalIndex key) {
  return static_cast<double>(
             hash64(static_cast<std::uint64_t>(i * 64 + r), static_cast<std::uint64_t>(key)) % 7) -
         3;
}

using Sums = std::map<std::pair<GlobalIndex, GlobalIndex>, double>;

/// By entry and key, what all ranks contribute.
Sums all_sums(const std::vector<std::vector<GlobalIndex>>& ghosts) {
  Sums sums;
  for (std::size_t r = 0; r < ghosts.size(); ++r) {
    for (const GlobalIndex i : ghosts[r]) {
      for (const GlobalIndex key : keys_of(static_cast<int>(r), i)) {
        sums[{i, key}] += contribution(static_cast<int>(r), i, key);
      }
    }
  }
  return sums;
}

struct Contributions {
  Records<GlobalIndex> keys;
  std::vector<double> values;
};

/// This rank's, the keys in no order.
Contributions contributions_of(int rank, const std::vector<GlobalIndex>& ghosts) {
  Contributions mine;
  for (const GlobalIndex i : ghosts) {
    std::vector<GlobalIndex> keys = keys_of(rank, i);
    std::rotate(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2),
                keys.end());
    for (const GlobalIndex key : keys) {
      mine.keys.data.push_back(key);
      mine.values.push_back(contribution(rank, i, key));
    }
    mine.keys.offsets.push_back(static_cast<Offset>(mine.keys.data.size()));
  }
  return mine;
}

TEST(RecordPlan, SumsTheContributionsToEveryKey) {
  for_each_plan(
      [](const auto& comm, const Layout& layout, const auto& ghosts, const Plan& plan, Route) {
        const int rank = comm->rank();
        const Contributions mine = contributions_of(rank, ghosts[static_cast<std::size_t>(rank)]);
        const SumPlan sums = plan_of_sums(comm, plan, mine.keys);
        Exchange exchange(comm, sums.plan);
        std::vector<double> got(sums.keys.data.size());
        exchange.reverse_add(std::span<const double>(mine.values), std::span<double>(got));
        Sums here;
        for (std::size_t i = 0; i < sums.keys.size(); ++i) {
          for (std::size_t k = 0; k < sums.keys[i].size(); ++k) {
            const auto at = static_cast<std::size_t>(sums.keys.offsets[i]) + k;
            here[{layout.to_global(static_cast<LocalIndex>(i)), sums.keys[i][k]}] = got[at];
            if (k > 0) {
              EXPECT_LT(sums.keys[i][k - 1], sums.keys[i][k]);
            }
          }
        }
        Sums expected = all_sums(ghosts);
        std::erase_if(expected, [&](const auto& sum) { return !layout.owns(sum.first.first); });
        EXPECT_EQ(here, expected);
      });
}

/// What must cross: over node-aware routes each item once for each node that has need of it.
TEST(RecordPlan, CrossesNodesOnceForEachNode) {
  for_each_plan([](const auto& comm, const Layout& layout, const auto& ghosts, const Plan& plan,
                   Route route) {
    const mpi::Topology& topology = comm->topology();
    std::map<std::pair<GlobalIndex, int>, std::int64_t> forward;  // entry and node or rank
    std::map<std::tuple<GlobalIndex, GlobalIndex, int>, int> reversed;
    for (int r = 0; r < comm->size(); ++r) {
      const int place = route == "direct" ? r : topology.node(r);
      for (const GlobalIndex i : ghosts[static_cast<std::size_t>(r)]) {
        if (topology.same_node(layout.owner(i), r)) continue;
        forward[{i, place}] = static_cast<std::int64_t>(length_of(i));
        for (const GlobalIndex key : keys_of(r, i)) reversed[{i, key, place}] = 1;
      }
    }
    std::int64_t items = 0;
    for (const auto& [where, length] : forward) items += length;
    std::vector<Offset> offsets = {0};
    for (LocalIndex i = 0; i < layout.n_local(); ++i) {
      offsets.push_back(offsets.back() + static_cast<Offset>(length_of(layout.to_global(i))));
    }
    EXPECT_EQ(off_node_entries(*comm, plan_of_items(comm, plan, offsets)), items);
    const int rank = comm->rank();
    const Contributions mine = contributions_of(rank, ghosts[static_cast<std::size_t>(rank)]);
    // A plan sends forwards to a rank what that rank sends reversed.
    EXPECT_TRUE(std::cmp_equal(off_node_entries(*comm, plan_of_sums(comm, plan, mine.keys).plan),
                               reversed.size()));
  });
}

struct Item {
  GlobalIndex key;
  double value;
  std::int64_t parts;
};

/// Records that are combined where they are passed on: the same sums, in no more pieces than there
/// are ranks (on the owner's node, and direct) and nodes that contribute.
TEST(RecordPlan, ReversedRecordsAreCombinedOnTheWay) {
  for_each_plan([](const auto& comm, const Layout& layout, const auto& ghosts, const Plan& plan,
                   Route route) {
    const int rank = comm->rank();
    const Contributions mine = contributions_of(rank, ghosts[static_cast<std::size_t>(rank)]);
    Records<Item> records;
    records.offsets = mine.keys.offsets;
    for (std::size_t k = 0; k < mine.values.size(); ++k) {
      records.data.push_back({mine.keys.data[k], mine.values[k], 1});
    }
    Exchange exchange(comm, plan);
    const Records<Item> got = exchange.reverse_records(records, [](std::span<Item> record) {
      std::sort(record.begin(), record.end(),
                [](const Item& a, const Item& b) { return a.key < b.key; });
      std::size_t out = 0;
      for (const Item& item : record) {
        if (out > 0 && record[out - 1].key == item.key) {
          record[out - 1].value += item.value;
          record[out - 1].parts += item.parts;
        } else {
          record[out++] = item;
        }
      }
      return out;
    });
    Sums sums;
    std::map<std::pair<GlobalIndex, GlobalIndex>, std::int64_t> parts, expected_parts;
    std::set<std::tuple<GlobalIndex, GlobalIndex, bool, int>> pieces;
    for (std::size_t i = 0; i < got.size(); ++i) {
      for (const Item& item : got[i]) {
        const std::pair at(layout.to_global(static_cast<LocalIndex>(i)), item.key);
        sums[at] += item.value;
        parts[at] += item.parts;
      }
    }
    for (std::size_t r = 0; r < ghosts.size(); ++r) {
      for (const GlobalIndex i : ghosts[r]) {
        if (!layout.owns(i)) continue;
        const int from = static_cast<int>(r);
        const bool whole_node = route != "direct" && !comm->topology().same_node(rank, from);
        for (const GlobalIndex key : keys_of(from, i)) {
          ++expected_parts[{i, key}];
          pieces.insert({i, key, whole_node, whole_node ? comm->topology().node(from) : from});
        }
      }
    }
    Sums expected = all_sums(ghosts);
    std::erase_if(expected, [&](const auto& sum) { return !layout.owns(sum.first.first); });
    EXPECT_EQ(sums, expected);
    EXPECT_EQ(parts, expected_parts);
    EXPECT_LE(got.data.size(), pieces.size());
    if (route == "direct") {
      EXPECT_EQ(got.data.size(), pieces.size());
    }
  });
}

TEST(RecordPlan, NothingAtAll) {
  const auto comm = test_comm();
  const Plan none = make_plan(*comm, {}, "direct");
  const std::vector<Offset> offsets = {0};
  EXPECT_EQ(plan_of_items(comm, none, offsets).pool_size(), 0);
  const SumPlan sums = plan_of_sums(comm, none, {});
  EXPECT_EQ(sums.plan.pool_size(), 0);
  EXPECT_EQ(sums.keys.size(), 0U);
}

}  // namespace comm_record_plan_test
}  // namespace nodewise::comm
