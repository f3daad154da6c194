// Irregular exchanges to test with: random ghosts, and plans of several stages made by hand.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "nodewise/base/hash.hpp"
#include "nodewise/comm/layout.hpp"
#include "nodewise/comm/plan.hpp"

namespace nodewise::test {

/// Local. Random ranges of n indices, many ranks empty; the same on every rank.
inline comm::Layout random_layout(const std::shared_ptr<const mpi::Comm>& comm, GlobalIndex n,
                                  std::uint64_t seed, GlobalIndex first = 0) {
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(comm->size()) + 1, first);
  starts.back() = first + n;
  for (std::size_t r = 1; r + 1 < starts.size(); ++r) {
    starts[r] =
        first + static_cast<GlobalIndex>(hash64(r, seed) % static_cast<std::uint64_t>(n + 1));
  }
  std::sort(starts.begin(), starts.end());
  return {comm, starts};
}

/// Local. The ghosts of a rank: every index it does not own, with the given probability. Any rank
/// can compute those of all others.
inline std::vector<GlobalIndex> ghosts_of(const comm::Layout& layout, int rank, double density,
                                          std::uint64_t seed) {
  std::vector<GlobalIndex> ghosts;
  for (GlobalIndex i = layout.first(); i < layout.last(); ++i) {
    if (i >= layout.begin(rank) && i < layout.end(rank)) continue;
    if (hash_uniform(hash64(static_cast<std::uint64_t>(i), seed), rank + 1) < density) {
      ghosts.push_back(i);
    }
  }
  return ghosts;
}

/// Which global indices travel from one rank to another.
using StageMessages = std::map<std::pair<int, int>, std::set<GlobalIndex>>;

/// Makes one rank's plan of stages that are given for all ranks together.
class PlanByHand {
 public:
  PlanByHand(const comm::Layout& layout, int rank) : rank_(rank) {
    plan_.n_owned = static_cast<LocalIndex>(layout.end(rank) - layout.begin(rank));
    for (LocalIndex i = 0; i < plan_.n_owned; ++i) place_[layout.begin(rank) + i] = i;
    pool_size_ = plan_.n_owned;
  }

  void add_stage(const StageMessages& messages) {
    comm::Stage stage;
    for (const auto& [ranks, entries] : messages) {  // ordered by source, then by destination
      if (ranks.first == ranks.second || ranks.first != rank_ || entries.empty()) continue;
      stage.send_ranks.push_back(ranks.second);
      for (const GlobalIndex i : entries) stage.send_entries.push_back(place_.at(i));
      stage.send_offsets.push_back(static_cast<LocalIndex>(stage.send_entries.size()));
    }
    for (const auto& [ranks, entries] : messages) {
      if (ranks.first == ranks.second || ranks.second != rank_ || entries.empty()) continue;
      stage.recv_ranks.push_back(ranks.first);
      for (const GlobalIndex i : entries) place_.try_emplace(i, pool_size_++);
      stage.recv_offsets.push_back(stage.recv_offsets.back() +
                                   static_cast<LocalIndex>(entries.size()));
    }
    plan_.stages.push_back(std::move(stage));
  }

  comm::Plan finish(const std::vector<GlobalIndex>& ghosts) {
    plan_.n_ghosts = static_cast<LocalIndex>(ghosts.size());
    for (const GlobalIndex ghost : ghosts) plan_.ghost_entries.push_back(place_.at(ghost));
    return std::move(plan_);
  }

 private:
  int rank_;
  comm::Plan plan_;
  LocalIndex pool_size_ = 0;
  std::map<GlobalIndex, LocalIndex> place_;  // in the pool
};

/// Local. The plan of `rank` in which the lowest rank of each node gathers what its node sends to
/// each other node, sends it across once, and the lowest rank there spreads it.
/// ghosts[r]: the ghosts of rank r.
inline comm::Plan three_step_by_hand(const comm::Layout& layout, const mpi::Topology& topology,
                                     const std::vector<std::vector<GlobalIndex>>& ghosts,
                                     int rank) {
  StageMessages gather, cross, spread;
  for (int to = 0; to < topology.n_ranks(); ++to) {
    for (const GlobalIndex i : ghosts[static_cast<std::size_t>(to)]) {
      const int owner = layout.owner(i);
      if (topology.same_node(owner, to)) {
        gather[{owner, to}].insert(i);
        continue;
      }
      const int sender = topology.ranks_on(topology.node(owner)).front();
      const int receiver = topology.ranks_on(topology.node(to)).front();
      gather[{owner, sender}].insert(i);
      cross[{sender, receiver}].insert(i);
      spread[{receiver, to}].insert(i);
    }
  }
  PlanByHand plan(layout, rank);
  plan.add_stage(gather);
  plan.add_stage(cross);
  plan.add_stage(spread);
  return plan.finish(ghosts[static_cast<std::size_t>(rank)]);
}

}  // namespace nodewise::test
