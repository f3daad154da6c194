// The time of an exchange, message by message: exact lists of messages on a machine whose parts
// serve one message after the other.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "nodewise/mpi/topology.hpp"

namespace nodewise::model {

/// A message, told by its sender.
struct SentMessage {
  int to = 0;
  std::int64_t bytes = 0;
};

/// What all ranks send: [s][r] is what rank r sends in stage s, in the order in which it posts it.
using MessageStages = std::vector<std::vector<std::vector<SentMessage>>>;

/// What a message of at least `from_bytes` costs, in seconds (the parameters of LogGP but for g,
/// which belongs to the network card; Alexandrov, Ionescu, Schauser, Scheiman 1997).
struct MessageCost {
  std::int64_t from_bytes = 0;
  double send_overhead = 0;     ///< of the sender's processor, before the message can leave
  double receive_overhead = 0;  ///< of the receiver's, once it has arrived
  double latency = 0;
  double seconds_per_byte = 0;  ///< the most that one message alone can have of the bandwidth
};

/// Links between nodes other than their network cards, each of which carries one message at a time.
struct Links {
  int n_links = 0;
  double seconds_per_byte = 0;
  double hop_latency = 0;
  /// Appends the links from one node to another, in their order.
  std::function<void(int from_node, int to_node, std::vector<int>& path)> find_path;
};

/// A torus (of fewer dimensions, where sides are 1), whose nodes are numbered with the first
/// direction fastest: a link from every node to each of its six neighbours. Messages take the
/// shorter way round, one direction after the other. Throws invalid_argument where a side is not
/// positive.
Links torus_links(std::array<int, 3> sides, double seconds_per_byte, double hop_latency);

/// A machine. Every time is in seconds, finite and not negative.
struct EventCosts {
  /// By `from_bytes`, ascending, the first from 0. Without one for messages within a domain, those
  /// cost what others on the node do.
  std::vector<MessageCost> on_domain, on_node, off_node;
  double gap = 0;                      ///< a network card's time for any message, in each direction
  double nic_seconds_per_byte = 0;     ///< and for each of its bytes
  double memory_seconds_per_byte = 0;  ///< of a node's memory, for messages on the node
  Links links;
};

/// When each rank was through with each stage: [s][r], in seconds after all began.
struct StageTimes {
  std::vector<std::vector<double>> finished;

  double of_rank(int rank) const;        ///< the end of its last stage; 0 without stages
  double of_stage(std::size_t s) const;  ///< of the last rank
  double end() const;                    ///< of all
};

/// An order of what happens at one instant like any other, the ranks well mixed.
inline constexpr std::uint64_t usual_order = 1;

/// Local, without MPI. Simulates the messages of all stages and returns when ranks finish them.
/// In a stage a rank posts its messages one after the other, each for the overhead of sending. Then
/// it takes the messages for it in the order of their arrival, each for the overhead of receiving.
/// With the last it goes on to its next stage, whatever others do; messages for a later stage wait.
///
/// A message to another node passes the card of its node, the links on its way and the card of the
/// other node, each busy with it for its own time. The rest of the message follows its header
/// (cut-through) as fast as the slowest part lets it. A message on a node passes the node's memory.
/// Latency beyond that of the shortest message is a handshake before the message leaves. Posting a
/// message reserves, on each resource of its path, the first idle interval that is long enough
/// after its header arrives; so no message waits for one that is still under way.
///
/// Ranks that begin together post at the same instants. `order` decides which gets the first idle
/// interval: 0 takes the order of the ranks, the worst where all send to one node first; any other
/// number an order of its own, mixed by a hash. Everything is deterministic; a real machine may do
/// any of them.
///
/// Takes O(M log M) time for M messages (times hops, where there are links; a Timetable is nearly
/// so in its claims), and memory for those under way. Throws invalid_argument for messages to
/// oneself or to no rank, of negative length, or costs that are not as above.
StageTimes simulate_events(const MessageStages& stages, const mpi::Topology& topology,
                           const EventCosts& costs, std::uint64_t order = 0);

}  // namespace nodewise::model
