// The messages of a collective that brings something of every rank to every rank: pure data.
#pragma once

#include <cstdint>
#include <vector>

#include "nodewise/mpi/topology.hpp"

namespace nodewise::mpi::collectives {

/// One message: the contents of some slots of the stage, in this order.
struct Message {
  int rank;  ///< whom it goes to or comes from
  std::vector<int> slots;
};

/// Messages that are under way together; the next round begins when all have arrived.
struct Round {
  std::vector<Message> sends;
  std::vector<Message> recvs;
};

/// The ranks [begin, end), counted node by node and on a node in ascending order.
struct Span {
  int begin;
  int end;
  friend bool operator==(const Span&, const Span&) = default;
};

/// A stage brings slots together on every rank of the node. Before it the rank has slot `own`,
/// after it all of them, and together they are its slot of the next stage.
struct Stage {
  int own;
  std::vector<Span> slots;  ///< whose contributions each of them holds
  std::vector<Round> rounds;
};

/// One rank's part. The first stage collects the contributions of the ranks of a node. In each
/// later one a group of nodes that know the same meets other such groups: every node gets what each
/// of the others knows from one node there. The node's ranks share these messages out, so that they
/// all go to different nodes, and then tell each other.
struct Schedule {
  std::vector<Stage> stages;
};

/// Local; a pure function, of O(ranks of a node + nodes) time and less memory. Groups are chosen
/// for the fewest messages in a row of the busiest rank between nodes, then for the fewest stages.
/// With w ranks on each of (w + 1)^s nodes that is s stages, in each of which every rank exchanges
/// one message with another node. Source: Bienz, Olson, Gropp, "Node-aware improvements to
/// allreduce", 2019, where w^s nodes need s stages and one rank of a node is idle in each. Numbers
/// of nodes that are no power, uneven nodes and any placement of ranks are ours.
Schedule make_schedule(const Topology& topology, int rank);

/// Local. The ranks in the order that Span counts them.
std::vector<int> ranks_by_node(const Topology& topology);

/// Local. Whether a round of this rank has messages to or from other nodes.
bool crosses(const Round& round, const Topology& topology, int rank);

/// The sends of one rank in a collective.
struct MessageCounts {
  std::int64_t off_node = 0;
  std::int64_t on_node = 0;
  std::int64_t stages_off_node = 0;  ///< in how many stages it sends to another node
};
MessageCounts count_messages(const Schedule& schedule, const Topology& topology, int rank);

}  // namespace nodewise::mpi::collectives
