#include "nodewise/comm/route/three_step.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/route/node_leader.hpp"
#include "nodewise/comm/route/relay.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/route/stage_tally.hpp"

namespace nodewise::comm::route {

namespace {

template <class Range>
std::vector<int> sorted(const Range& words) {
  std::vector<int> ranks(words.begin(), words.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<int> joined(std::vector<int> ranks, std::span<const int> others) {
  ranks.insert(ranks.end(), others.begin(), others.end());
  return sorted(ranks);
}

class ThreeStep : public Planner {
 public:
  ThreeStep(const Pattern& pattern, const mpi::Topology& topology, int rank, NodeMapping mapping)
      : pattern_(pattern),
        topology_(topology),
        rank_(rank),
        leading_(topology, rank, std::move(mapping)) {}

  int n_rounds() const override { return 7; }

  Words step(int round, const Words& arrived) override {
    switch (round) {
      case 0:
        relay_.emplace(pattern_, rank_);
        find_needed();
        return tell_leader();
      case 1:
        leading_.hear_of_partners(arrived);
        return leads() ? to_messages(leading_.tell_partners()) : Words{};
      case 2:
        return leads() ? to_messages(leading_.answer_partners(arrived)) : Words{};
      case 3:
        hear_sources(arrived);
        return leads() ? tell_ways(answers_among(arrived)) : Words{};
      case 4:
        hear_destinations(arrived);
        return gather(arrived);
      case 5:
        return cross(arrived);
      default:
        return spread(arrived);
    }
  }

  /// The partners of leaders follow from the patterns alone. Those of the crossing are what leaders
  /// have told each other and their ranks: who is to receive from whom is told both in round 2.
  Words step_after_failure(int round, const Words& arrived) override {
    switch (round) {
      case 0:
        return tell_leader();
      case 1:
        leading_.hear_of_partners(arrived);
        return empty_messages_to(leading_.leaders_told());
      case 2:
        return leads() ? empty_messages_to(joined(leading_.leaders_heard(), node_ranks()))
                       : Words{};
      case 3:
        hear_sources(arrived);
        return leads() ? to_messages(leading_.tell_destinations(answers_among(arrived))) : Words{};
      case 4:
        hear_destinations(arrived);
        return {};
      case 5:
        return empty_messages_to(destinations_);
      default:
        return {};
    }
  }

  std::optional<std::vector<int>> sources(int round) const override {
    switch (round) {
      case 0:
        return leads() ? sorted(node_ranks()) : std::vector<int>{};
      case 1:
        return leading_.leaders_heard();
      case 2:
        return joined(leading_.leaders_told(), node_ranks().first(1));
      case 3:
        return std::vector{leader()};
      case 5:
        return sources_;
      default:
        return std::nullopt;
    }
  }

  Plan plan(const Words& arrived) override {
    relay_->receive(arrived);
    return relay_->finish();
  }

 private:
  std::span<const int> node_ranks() const { return topology_.ranks_on(topology_.node(rank_)); }
  int leader() const { return node_ranks().front(); }
  bool leads() const { return rank_ == leader(); }

  void find_needed() {
    for (const Parcel& parcel : relay_->parcels()) {
      const int node = topology_.node(parcel.dest);
      if (!topology_.same_node(rank_, parcel.dest)) needed_by_[node].push_back(parcel.position);
    }
    for (auto& [node, entries] : needed_by_) {
      std::sort(entries.begin(), entries.end());
      entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    }
  }

  /// The messages to or from each other node if entries went straight, and what they hold.
  struct Straight {
    std::int64_t messages = 0, entries = 0;
  };
  std::map<int, Straight> straight_by_node(std::span<const int> ranks,
                                           std::span<const LocalIndex> offsets) const {
    std::map<int, Straight> by_node;
    visit_lists(ranks, offsets, [&](int rank, LocalIndex begin, LocalIndex end) {
      if (topology_.same_node(rank_, rank)) return;
      Straight& straight = by_node[topology_.node(rank)];
      straight.messages += 1;
      straight.entries += end - begin;
    });
    return by_node;
  }

  /// As NodeLeader::hear_of_partners() reads it. On a rank that has failed the nodes are right, and
  /// the entries perhaps not, or none.
  Words tell_leader() const {
    const auto sent = straight_by_node(pattern_.send_ranks, pattern_.send_offsets);
    const auto received = straight_by_node(pattern_.recv_ranks, pattern_.recv_offsets);
    std::vector<std::int64_t> words = {std::ssize(sent)};
    for (const auto& [node, straight] : sent) {
      const auto needed = needed_by_.find(node);
      const auto n_entries = needed == needed_by_.end() ? 0 : std::ssize(needed->second);
      words.insert(words.end(), {node, n_entries, straight.messages});
    }
    for (const auto& [node, straight] : received) {
      words.insert(words.end(), {node, straight.entries});
    }
    return to_messages({{leader(), words}});
  }

  Words tell_ways(const Words& answers) const {
    WordsTo to = leading_.tell_destinations(answers);
    leading_.add_ways(answers, to);
    return to_messages(to);
  }

  /// What leaders of other nodes have sent this one, which its own node's messages came beside.
  Words answers_among(const Words& arrived) const {
    Words answers;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      if (arrived.ranks[i] == leader()) continue;
      const auto message = arrived.message(i);
      answers.ranks.push_back(arrived.ranks[i]);
      answers.data.insert(answers.data.end(), message.begin(), message.end());
      answers.offsets.push_back(static_cast<Offset>(answers.data.size()));
    }
    return answers;
  }

  void hear_sources(const Words& arrived) {
    const auto from = std::find(arrived.ranks.begin(), arrived.ranks.end(), leader());
    if (from == arrived.ranks.end()) return;
    sources_ = sorted(arrived.message(static_cast<std::size_t>(from - arrived.ranks.begin())));
  }

  /// As NodeLeader::tell_destinations() writes it.
  void hear_destinations(const Words& arrived) {
    if (arrived.data.empty()) return;
    const auto message = arrived.message(0);
    destinations_ = sorted(message.subspan(1, static_cast<std::size_t>(message[0])));
  }

  Words gather(const Words& arrived) {
    std::map<int, std::span<const std::int64_t>> ways;
    if (!arrived.data.empty()) {
      const auto message = arrived.message(0);
      auto words = message.subspan(1 + static_cast<std::size_t>(message[0]));
      while (!words.empty()) {
        const auto length = static_cast<std::size_t>(4 + 2 * words[3]);
        ways[static_cast<int>(words[0])] = words.subspan(1, length - 1);
        words = words.subspan(length);
      }
    }
    for (Parcel& parcel : relay_->parcels()) {
      const int node = topology_.node(parcel.dest);
      if (topology_.same_node(rank_, parcel.dest)) {
        parcel.next = parcel.dest;
        continue;
      }
      const std::span<const std::int64_t> way = ways.at(node);  // begin, total, parts, ranks
      const auto& entries = needed_by_.at(node);
      const auto place = std::lower_bound(entries.begin(), entries.end(), parcel.position);
      const std::int64_t number = way[0] + (place - entries.begin());
      // Part k holds the numbers from k total / parts on, rounded up.
      const auto part = static_cast<std::size_t>(number * way[2] / way[1]);
      parcel.next = static_cast<int>(way[3 + 2 * part]);
      parcel.exit = static_cast<int>(way[4 + 2 * part]);
    }
    return relay_->send();
  }

  Words cross(const Words& arrived) {
    relay_->receive(arrived);
    for (Parcel& parcel : relay_->parcels()) parcel.next = parcel.exit;
    Words words = relay_->send();
    if (words.ranks != destinations_) throw Error(ErrorCode::internal, "route: missing entries");
    return words;
  }

  Words spread(const Words& arrived) {
    relay_->receive(arrived);
    for (Parcel& parcel : relay_->parcels()) parcel.next = parcel.dest;
    return relay_->send();
  }

  const Pattern& pattern_;
  const mpi::Topology& topology_;
  int rank_;
  NodeLeader leading_;          // knows of nothing on other ranks than the leader
  std::optional<Relay> relay_;  // as long as the pattern, and so not made before something may fail
  std::map<int, std::vector<LocalIndex>> needed_by_;  // distinct entries, by node
  std::vector<int> sources_, destinations_;           // of the crossing
};

}  // namespace

std::unique_ptr<Planner> three_step(const Pattern& pattern, const mpi::Topology& topology, int rank,
                                    const NodeMapping& mapping) {
  return std::make_unique<ThreeStep>(pattern, topology, rank, mapping);
}

const RouteMethod& three_step_method() {
  static const RouteMethod method = {
      {"three_step",
       "entries are gathered on the node, cross once between two nodes, and are spread there",
       "Bienz 2018, section 5.4"},
      "three-step",
      false,
      three_step,
      3,
      std::vector<std::size_t>{0, 2},
      three_step_messages,
      PlanningSteps{.messages_between_nodes = 3, .sparse_exchanges = 2, .agreements = 1}};
  return method;
}

}  // namespace nodewise::comm::route
