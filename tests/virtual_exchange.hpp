// Patterns and plans of many virtual ranks in one process, without MPI.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/planner.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::test {

/// The patterns of all ranks. sends[{p, r}]: the entries of p that r needs, in the order of r's
/// ghosts.
using Sends = std::map<std::pair<int, int>, std::vector<LocalIndex>>;

inline std::vector<comm::Pattern> patterns_of(const std::vector<LocalIndex>& n_owned,
                                              const Sends& sends) {
  std::vector<comm::Pattern> patterns(n_owned.size());
  for (std::size_t r = 0; r < n_owned.size(); ++r) patterns[r].n_owned = n_owned[r];
  for (const auto& [ranks, entries] : sends) {  // ordered by owner, then by receiver
    comm::Pattern& from = patterns[static_cast<std::size_t>(ranks.first)];
    from.send_ranks.push_back(ranks.second);
    from.send_entries.insert(from.send_entries.end(), entries.begin(), entries.end());
    from.send_offsets.push_back(static_cast<LocalIndex>(from.send_entries.size()));
    comm::Pattern& to = patterns[static_cast<std::size_t>(ranks.second)];
    to.recv_ranks.push_back(ranks.first);
    to.n_ghosts += static_cast<LocalIndex>(entries.size());
    to.recv_offsets.push_back(to.n_ghosts);
  }
  return patterns;
}

/// A small generator of numbers below a bound, the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  int below(int bound) {
    return static_cast<int>(hash64(counter_++, seed_) % static_cast<std::uint64_t>(bound));
  }
  bool chance(double p) { return hash_uniform(counter_++, seed_) < p; }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

/// Random needs of n_ranks ranks, some without entries.
inline std::vector<comm::Pattern> random_patterns(int n_ranks, Dice& dice) {
  std::vector<LocalIndex> n_owned;
  for (int r = 0; r < n_ranks; ++r) n_owned.push_back(dice.chance(0.2) ? 0 : dice.below(12));
  const double pairs = 0.1 + 0.2 * dice.below(5);
  const double entries = 0.1 + 0.3 * dice.below(4);
  Sends sends;
  for (int p = 0; p < n_ranks; ++p) {
    for (int r = 0; r < n_ranks; ++r) {
      if (p == r || !dice.chance(pairs)) continue;
      std::vector<LocalIndex> needed;
      for (LocalIndex i = 0; i < n_owned[static_cast<std::size_t>(p)]; ++i) {
        if (dice.chance(entries)) needed.push_back(i);
      }
      if (dice.chance(0.3)) std::reverse(needed.begin(), needed.end());
      if (!needed.empty()) sends[{p, r}] = needed;
    }
  }
  return patterns_of(n_owned, sends);
}

/// Ranks on nodes in blocks, dealt out like cards, or at random; nodes of uneven size.
inline mpi::Topology random_topology(int n_ranks, Dice& dice) {
  const int n_nodes = 1 + dice.below(n_ranks);
  const int kind = dice.below(3);
  std::vector<int> node_of_rank;
  for (int r = 0; r < n_ranks; ++r) {
    const int size = (n_ranks + n_nodes - 1) / n_nodes;  // the last node may be partly filled
    node_of_rank.push_back(kind == 0 ? r / size : kind == 1 ? r % n_nodes : dice.below(n_nodes));
  }
  return mpi::Topology(node_of_rank);
}

/// Every node divided into up to four domains, in blocks, dealt out, or at random.
inline mpi::Topology random_domains(const mpi::Topology& topology, Dice& dice) {
  std::vector<int> n_domains;
  for (int node = 0; node < topology.n_nodes(); ++node) n_domains.push_back(1 + dice.below(4));
  const int kind = dice.below(3);
  std::vector<int> domain_of_rank;
  for (int r = 0; r < topology.n_ranks(); ++r) {
    const int n = n_domains[static_cast<std::size_t>(topology.node(r))];
    const int size = static_cast<int>(topology.ranks_on(topology.node(r)).size());
    const int place = static_cast<int>(topology.place_on_node(r));
    domain_of_rank.push_back(kind == 0 ? place * n / size : kind == 1 ? place % n : dice.below(n));
  }
  return topology.with_domains(domain_of_rank);
}

/// An owned entry, known everywhere.
using SentEntry = std::pair<int, LocalIndex>;

/// One message of one stage.
struct Sent {
  std::size_t stage;
  int from, to;
  std::vector<SentEntry> entries;
};

/// What a forward run of the plans of all ranks does.
struct VirtualRun {
  std::vector<Sent> messages;
  std::vector<std::vector<SentEntry>> ghosts;  ///< by rank
  bool consistent = true;  ///< whether every message was expected, with its length, and none missed
};

inline VirtualRun run_forward(const std::vector<comm::Plan>& plans) {
  VirtualRun run;
  std::vector<std::vector<SentEntry>> pools(plans.size());
  for (std::size_t r = 0; r < plans.size(); ++r) {
    for (LocalIndex i = 0; i < plans[r].n_owned; ++i) pools[r].emplace_back(r, i);
  }
  for (std::size_t s = 0; s < plans.front().stages.size(); ++s) {
    std::map<std::pair<int, int>, std::vector<SentEntry>> in_flight;  // by receiver, then sender
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const comm::Stage& stage = plans[r].stages.at(s);
      for (std::size_t i = 0; i < stage.send_ranks.size(); ++i) {
        auto& message = in_flight[{stage.send_ranks[i], static_cast<int>(r)}];
        for (LocalIndex k = stage.send_offsets[i]; k < stage.send_offsets[i + 1]; ++k) {
          const auto at = static_cast<std::size_t>(stage.send_entries[static_cast<std::size_t>(k)]);
          message.push_back(pools[r].at(at));
        }
        run.messages.push_back({s, static_cast<int>(r), stage.send_ranks[i], message});
      }
    }
    for (std::size_t r = 0; r < plans.size(); ++r) {
      const comm::Stage& stage = plans[r].stages[s];
      for (std::size_t i = 0; i < stage.recv_ranks.size(); ++i) {
        const auto found = in_flight.find({static_cast<int>(r), stage.recv_ranks[i]});
        const auto expected = stage.recv_offsets[i + 1] - stage.recv_offsets[i];
        if (found == in_flight.end() || std::cmp_not_equal(found->second.size(), expected)) {
          run.consistent = false;
          return run;
        }
        pools[r].insert(pools[r].end(), found->second.begin(), found->second.end());
        in_flight.erase(found);
      }
    }
    run.consistent = run.consistent && in_flight.empty();
  }
  for (std::size_t r = 0; r < plans.size(); ++r) {
    auto& ghosts = run.ghosts.emplace_back();
    for (LocalIndex g = 0; g < plans[r].n_ghosts; ++g) {
      const auto place =
          plans[r].ghost_entries.empty()
              ? static_cast<std::size_t>(plans[r].n_owned + g)
              : static_cast<std::size_t>(plans[r].ghost_entries[static_cast<std::size_t>(g)]);
      ghosts.push_back(pools[r].at(place));
    }
  }
  return run;
}

/// The plans of all ranks over a route; make(pattern, rank) gives one rank's planner.
template <class Make>
std::vector<comm::Plan> plan_all(const std::vector<comm::Pattern>& patterns, const Make& make) {
  std::vector<std::unique_ptr<comm::route::Planner>> planners;
  for (std::size_t r = 0; r < patterns.size(); ++r) {
    planners.push_back(make(patterns[r], static_cast<int>(r)));
  }
  return comm::route::run_virtually(planners);
}

}  // namespace nodewise::test
