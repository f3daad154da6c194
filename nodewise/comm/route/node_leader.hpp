// The three-step route as the leader of a node sees it: agrees with other leaders on who sends
// what.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "nodewise/comm/route/node_mapping.hpp"
#include "nodewise/comm/route/planner.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::comm::route {

using WordsTo = std::map<int, std::vector<std::int64_t>>;  ///< by the rank that is told

/// What the lowest rank of a node knows of the messages to and from other nodes. Without the
/// entries themselves: its memory is a few numbers for each rank of the node and partner of that.
/// Functions that find something missing, since a rank has failed, throw internal.
class NodeLeader {
 public:
  NodeLeader(const mpi::Topology& topology, int rank, NodeMapping mapping);

  /// From each rank of the node: to how many nodes it sends; of each of these the number, how many
  /// distinct entries go there and in how many messages they would go straight; and the nodes it
  /// hears from, each with how many entries it needs. May be called again.
  void hear_of_partners(const Words& arrived);
  /// The leaders of the nodes that this one sends to, and hears from. Ascending.
  std::vector<int> leaders_told() const;
  std::vector<int> leaders_heard() const;

  /// To the leader of each node that this one sends to: how many entries, in how many messages they
  /// would go straight, and the ranks that may send.
  WordsTo tell_partners();
  /// The answer: the ranks that receive, one for each part; and to each rank of this node: who will
  /// send it parts.
  WordsTo answer_partners(const Words& told) const;
  /// To each rank of the node: to how many and which ranks of other nodes it will send parts. As
  /// far as answers have come: where one has, those who receive know it, too.
  WordsTo tell_destinations(const Words& answers) const;
  /// Behind this, for each node the rank sends to: the node, where the rank's entries begin among
  /// all that go there, how many these are, in how many parts, and who sends and receives each.
  void add_ways(const Words& answers, WordsTo& to) const;

 private:
  struct Share {
    int rank;
    std::int64_t begin;  // of its entries among those of the node
    std::int64_t entries;
  };
  struct Outgoing {
    std::int64_t total = 0;            // distinct entries
    std::int64_t direct_messages = 0;  // there would be: no more parts than these
    std::vector<Share> shares;
    std::vector<int> senders;  // once the other leader is told
  };

  int leader(int node) const { return topology_.ranks_on(node).front(); }
  PartnerNode partner(int node, std::int64_t entries, std::span<const Share> shares) const;
  std::vector<std::vector<int>> mapped_ranks(std::span<const PartnerNode> partners,
                                             Direction direction) const;

  const mpi::Topology& topology_;
  int node_;
  NodeMapping mapping_;
  std::map<int, Outgoing> outgoing_;            // by node
  std::map<int, std::vector<Share>> incoming_;  // by node; what each rank needs, nothing begins
};

}  // namespace nodewise::comm::route
