#include "nodewise/comm/route/two_step.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "nodewise/comm/route/relay.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/route/stage_tally.hpp"

namespace nodewise::comm::route {

namespace {

void sort_and_unify(std::vector<int>& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

class TwoStep : public Planner {
 public:
  TwoStep(const Pattern& pattern, const mpi::Topology& topology, int rank)
      : pattern_(pattern), topology_(topology), rank_(rank) {}

  int n_rounds() const override { return 3; }

  Words step(int round, const Words& arrived) override {
    switch (round) {
      case 0:
        return tell_who_will_cross();
      case 1:
        hear_who_will_cross(arrived);
        relay_.emplace(pattern_, rank_);
        return pass_on();
      default:
        relay_->receive(arrived);
        return pass_on();
    }
  }

  /// What is told in the first round, and to whom the second goes, is known without the entries.
  Words step_after_failure(int round, const Words& arrived) override {
    if (round == 0) return tell_who_will_cross();
    if (round == 2) return {};
    hear_who_will_cross(arrived);
    return empty_messages_to(first_hops());
  }

  std::optional<std::vector<int>> sources(int round) const override {
    return round == 1 ? std::optional(sources_) : std::nullopt;
  }

  Plan plan(const Words& arrived) override {
    relay_->receive(arrived);
    return relay_->finish();
  }

 private:
  int corresponding(int rank, int other) const {
    return topology_.corresponding_rank(rank, topology_.node(other));
  }
  int next_hop(int dest) const {
    return topology_.same_node(rank_, dest) ? dest : corresponding(rank_, dest);
  }

  /// To the ranks of the node through which entries will come for this one: who will send them.
  Words tell_who_will_cross() const {
    std::map<int, std::vector<std::int64_t>> to;
    for (const int owner : ranks_with_entries(pattern_.recv_ranks, pattern_.recv_offsets)) {
      if (!topology_.same_node(rank_, owner)) to[corresponding(owner, rank_)].push_back(owner);
    }
    return to_messages(to);
  }

  void hear_who_will_cross(const Words& arrived) {
    sources_.assign(arrived.data.begin(), arrived.data.end());
    for (const int owner : ranks_with_entries(pattern_.recv_ranks, pattern_.recv_offsets)) {
      if (topology_.same_node(rank_, owner)) sources_.push_back(owner);
    }
    sort_and_unify(sources_);
  }

  std::vector<int> first_hops() const {
    std::vector<int> hops;
    for (const int dest : ranks_with_entries(pattern_.send_ranks, pattern_.send_offsets)) {
      hops.push_back(next_hop(dest));
    }
    sort_and_unify(hops);
    return hops;
  }

  Words pass_on() {
    for (Parcel& parcel : relay_->parcels()) parcel.next = next_hop(parcel.dest);
    return relay_->send();
  }

  const Pattern& pattern_;
  const mpi::Topology& topology_;
  int rank_;
  std::vector<int> sources_;    // of the first stage
  std::optional<Relay> relay_;  // as long as the pattern, and so not made before something may fail
};

std::vector<StageSizes> two_step_messages(const NodeExchanges& known) {
  const mpi::Topology& nodes = known.nodes;
  const int self = known.rank;
  StageTally cross, spread;
  cross.add_on_node(known);
  for (const auto& [node, share] : known.parts.at(self).sent) {
    const int there = nodes.ranks_on(node).front();
    cross.send(nodes.corresponding_rank(self, nodes.node(there)), share.entries);
  }
  std::map<int, std::int64_t> arriving;  // here, by owner
  for (const auto& [rank, part] : known.parts) {
    for (const auto& [owner, entries] : part.heard) {
      const int through = nodes.corresponding_rank(owner, nodes.node(self));
      if (through == self) arriving[owner] = std::max(arriving[owner], entries);
      if (through == self && rank != self) spread.send(rank, entries);
      if (through != self && rank == self) spread.receive(through, entries);
    }
  }
  for (const auto& [owner, entries] : arriving) cross.receive(owner, entries);
  return {cross.finish(), spread.finish()};
}

}  // namespace

std::unique_ptr<Planner> two_step(const Pattern& pattern, const mpi::Topology& topology, int rank) {
  return std::make_unique<TwoStep>(pattern, topology, rank);
}

const RouteMethod& two_step_method() {
  static const RouteMethod method = {
      {"two_step",
       "every owner sends once to each node that needs its entries, which are spread there",
       "Bienz 2018, chapter 7.3"},
      "two-step",
      false,
      [](const Pattern& pattern, const mpi::Topology& topology, int rank, const NodeMapping&) {
        return two_step(pattern, topology, rank);
      },
      2,
      std::vector<std::size_t>{0, 1},
      two_step_messages,
      PlanningSteps{.messages_between_nodes = 1, .sparse_exchanges = 2, .agreements = 1}};
  return method;
}

}  // namespace nodewise::comm::route
