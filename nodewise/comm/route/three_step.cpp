#include "nodewise/comm/route/three_step.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/route/relay.hpp"

namespace nodewise::comm::route {

namespace {

Words to_messages(const std::map<int, std::vector<std::int64_t>>& words_to) {
  Words messages;
  for (const auto& [rank, words] : words_to) {
    messages.ranks.push_back(rank);
    messages.data.insert(messages.data.end(), words.begin(), words.end());
    messages.offsets.push_back(static_cast<Offset>(messages.data.size()));
  }
  return messages;
}

class ThreeStep : public Planner {
 public:
  ThreeStep(const Pattern& pattern, const mpi::Topology& topology, int rank, NodeMapping mapping)
      : topology_(topology), relay_(pattern, rank), mapping_(std::move(mapping)) {}

  int n_rounds() const override { return 7; }
  /// Only the leaders' two rounds and the crossing leave it.
  bool stays_on_node(int round) const override { return round != 1 && round != 2 && round != 5; }
  bool answers(int round) const override { return round == 2; }

  Words step(int round, const Words& arrived) override {
    switch (round) {
      case 0:
        return tell_leader_what_is_sent();
      case 1:
        return tell_nodes_what_comes(arrived);
      case 2:
        return answer_who_receives(arrived);
      case 3:
        return tell_node_the_ways(arrived);
      case 4:
        return gather(arrived);
      case 5:
        return cross(arrived);
      default:
        return spread(arrived);
    }
  }

  Plan plan(const Words& arrived) override {
    relay_.receive(arrived);
    return relay_.finish();
  }

 private:
  int my_node() const { return topology_.node(relay_.rank()); }
  int leader(int node) const { return topology_.ranks_on(node).front(); }

  Words tell_leader_what_is_sent() {
    std::map<int, std::int64_t> n_messages;  // that would go straight to the ranks of a node
    int before = relay_.rank();
    for (const Parcel& parcel : relay_.parcels()) {  // grouped by destination
      const int node = topology_.node(parcel.dest);
      if (node == my_node()) continue;
      needed_by_[node].push_back(parcel.position);
      n_messages[node] += parcel.dest != before ? 1 : 0;
      before = parcel.dest;
    }
    std::map<int, std::vector<std::int64_t>> to;
    auto& words = to[leader(my_node())];
    for (auto& [node, entries] : needed_by_) {
      std::sort(entries.begin(), entries.end());
      entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
      words.insert(words.end(),
                   {node, static_cast<std::int64_t>(entries.size()), n_messages[node]});
    }
    return words.empty() ? Words{} : to_messages(to);
  }

  Words tell_nodes_what_comes(const Words& arrived) {
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const auto message = arrived.message(i);
      for (std::size_t w = 0; w < message.size(); w += 3) {
        Outgoing& outgoing = outgoing_[static_cast<int>(message[w])];
        outgoing.shares.push_back({arrived.ranks[i], outgoing.total});
        outgoing.total += message[w + 1];
        outgoing.direct_messages += message[w + 2];
      }
    }
    std::map<int, std::vector<std::int64_t>> to;
    for (const auto& [node, outgoing] : outgoing_) to[leader(node)] = {outgoing.total};
    return to_messages(to);
  }

  /// The leaders' answer: the ranks that receive from the node of the one who asked.
  Words answer_who_receives(const Words& arrived) const {
    std::vector<PartnerNode> partners;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      partners.push_back({topology_.node(arrived.ranks[i]), arrived.message(i)[0]});
    }
    const auto receivers = mapped_ranks(partners, Direction::receive);
    std::map<int, std::vector<std::int64_t>> to;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      to[arrived.ranks[i]].assign(receivers[i].begin(), receivers[i].end());
    }
    return to_messages(to);
  }

  /// To each rank of the node, for each node it sends to: the node, where the rank's entries begin
  /// among all that go there, how many these are, in how many parts, and who sends and receives
  /// each part.
  Words tell_node_the_ways(const Words& arrived) const {
    std::vector<PartnerNode> partners;
    for (const auto& [node, outgoing] : outgoing_) partners.push_back({node, outgoing.total});
    const auto senders = mapped_ranks(partners, Direction::send);
    std::map<int, std::vector<std::int64_t>> to;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const int node = topology_.node(arrived.ranks[i]);
      const auto receivers = arrived.message(i);
      if (receivers.empty()) throw Error(ErrorCode::internal, "route: a node has no answer");
      const auto partner =
          std::lower_bound(partners.begin(), partners.end(), node,
                           [](const PartnerNode& a, int number) { return a.node < number; });
      const auto& mine = senders[static_cast<std::size_t>(partner - partners.begin())];
      const Outgoing& outgoing = outgoing_.at(node);
      const auto n_parts = std::min(
          {std::ssize(mine), std::ssize(receivers), outgoing.total, outgoing.direct_messages});
      for (const Share& share : outgoing.shares) {
        auto& words = to[share.rank];
        words.insert(words.end(),
                     {node, share.begin, outgoing.total, static_cast<std::int64_t>(n_parts)});
        for (std::size_t part = 0; std::cmp_less(part, n_parts); ++part) {
          words.insert(words.end(), {mine[part], receivers[part]});
        }
      }
    }
    return to_messages(to);
  }

  Words gather(const Words& arrived) {
    std::map<int, std::span<const std::int64_t>> ways;
    if (arrived.size() > 0) {
      for (auto words = arrived.message(0); !words.empty();) {
        const auto length = static_cast<std::size_t>(4 + 2 * words[3]);
        ways[static_cast<int>(words[0])] = words.subspan(1, length - 1);
        words = words.subspan(length);
      }
    }
    for (Parcel& parcel : relay_.parcels()) {
      const int node = topology_.node(parcel.dest);
      if (node == my_node()) {
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
    return relay_.send();
  }

  Words cross(const Words& arrived) {
    relay_.receive(arrived);
    for (Parcel& parcel : relay_.parcels()) parcel.next = parcel.exit;
    return relay_.send();
  }

  Words spread(const Words& arrived) {
    relay_.receive(arrived);
    for (Parcel& parcel : relay_.parcels()) parcel.next = parcel.dest;
    return relay_.send();
  }

  std::vector<std::vector<int>> mapped_ranks(std::span<const PartnerNode> partners,
                                             Direction direction) const {
    const auto here = topology_.ranks_on(my_node());
    auto ranks = mapping_(my_node(), partners, static_cast<int>(here.size()), direction);
    for (auto& places : ranks) {
      for (int& place : places) place = here[static_cast<std::size_t>(place)];
    }
    return ranks;
  }

  struct Share {
    int rank;
    std::int64_t begin;  // of its entries among those of the node
  };
  struct Outgoing {
    std::int64_t total = 0;            // distinct entries
    std::int64_t direct_messages = 0;  // there would be: no more parts than these
    std::vector<Share> shares;
  };

  const mpi::Topology& topology_;
  Relay relay_;
  NodeMapping mapping_;
  std::map<int, std::vector<LocalIndex>> needed_by_;  // distinct entries, by node
  std::map<int, Outgoing> outgoing_;                  // by node; on the leader only
};

}  // namespace

std::unique_ptr<Planner> three_step(const Pattern& pattern, const mpi::Topology& topology, int rank,
                                    NodeMapping mapping) {
  return std::make_unique<ThreeStep>(pattern, topology, rank, std::move(mapping));
}

}  // namespace nodewise::comm::route
