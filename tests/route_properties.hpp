// What must hold for every route, over virtual ranks.
#pragma once

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "virtual_exchange.hpp"

namespace nodewise::test {

/// The messages that leave a node.
inline std::vector<Sent> across(const VirtualRun& run, const mpi::Topology& topology) {
  std::vector<Sent> messages;
  for (const Sent& m : run.messages) {
    if (!topology.same_node(m.from, m.to)) messages.push_back(m);
  }
  return messages;
}

inline std::size_t n_entries(const std::vector<Sent>& messages) {
  std::size_t n = 0;
  for (const Sent& m : messages) n += m.entries.size();
  return n;
}

/// What must hold for every route.
inline void expect_sound(const VirtualRun& run, const VirtualRun& reference,
                         const mpi::Topology& topology) {
  ASSERT_TRUE(run.consistent);
  EXPECT_EQ(run.ghosts, reference.ghosts);
  std::set<std::pair<SentEntry, int>> crossed;  // an entry and the node it went to
  std::set<std::tuple<std::size_t, int, int>> pairs;
  for (const Sent& m : run.messages) {
    EXPECT_NE(m.from, m.to);
    EXPECT_FALSE(m.entries.empty());
    EXPECT_TRUE(pairs.emplace(m.stage, m.from, m.to).second) << "two messages of a stage";
    if (topology.same_node(m.from, m.to)) continue;
    for (const SentEntry& entry : m.entries) {
      EXPECT_TRUE(crossed.emplace(entry, topology.node(m.to)).second)
          << "entry " << entry.second << " of rank " << entry.first << " crosses twice";
    }
  }
  // Nothing crosses that is not needed, and so never more than with direct messages.
  std::set<std::pair<SentEntry, int>> needed;
  for (std::size_t r = 0; r < reference.ghosts.size(); ++r) {
    for (const SentEntry& entry : reference.ghosts[r]) {
      const int node = topology.node(static_cast<int>(r));
      if (topology.node(entry.first) != node) needed.emplace(entry, node);
    }
  }
  EXPECT_EQ(crossed, needed);
  EXPECT_LE(n_entries(across(run, topology)), n_entries(across(reference, topology)));
  EXPECT_LE(across(run, topology).size(), across(reference, topology).size());
}

/// Whether the numbers of messages across, of the ranks of each node, differ by at most one.
inline void expect_balanced(const std::vector<Sent>& messages, const mpi::Topology& topology,
                            bool senders) {
  std::vector<int> count(static_cast<std::size_t>(topology.n_ranks()), 0);
  for (const Sent& m : messages) ++count[static_cast<std::size_t>(senders ? m.from : m.to)];
  for (int node = 0; node < topology.n_nodes(); ++node) {
    int least = std::numeric_limits<int>::max();
    int most = 0;
    for (const int rank : topology.ranks_on(node)) {
      least = std::min(least, count[static_cast<std::size_t>(rank)]);
      most = std::max(most, count[static_cast<std::size_t>(rank)]);
    }
    EXPECT_LE(most - least, 1) << (senders ? "sent by" : "received by") << " node " << node;
  }
}

}  // namespace nodewise::test
