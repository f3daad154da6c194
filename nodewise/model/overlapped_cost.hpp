// The cost of a stage of an exchange where the messages of a rank overlap.
#pragma once

#include "nodewise/model/exchange_cost.hpp"

namespace nodewise::model {

/// The messages between nodes of all ranks of a node in a stage, sent and received.
struct NodeLoad {
  double messages = 0;
  double injection_s = 0;  ///< sum of RankLoad::Direction::injection_s
};

/// Local. The cost of one stage for one rank by the parameters of LogGP (Alexandrov, Ionescu,
/// Schauser, Scheiman 1997): the longest latency once, and besides whichever takes longer, the
/// overheads of all messages that the rank sends and receives with the bytes of the busier
/// direction, or the gaps and bytes of its node's network card. So n messages cost
/// alpha + (n - 1) overheads, where stage_cost() says n alpha. Overheads and gap are
/// machine.overheads, nothing where it has none; the latencies hold those of one message. Messages
/// between nodes have their charges, those of the latency once.
double overlapped_stage_s(const Machine& machine, const RankLoad& load, const Charges& charges,
                          const NodeLoad& node_sent, const NodeLoad& node_received);

/// Local. An exchange by the plans of all ranks (comm::virtual_plans), run forwards with 8 bytes an
/// entry: of each stage that of its slowest rank, one stage after the other.
double overlapped_forward_s(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                            const Machine& machine);

}  // namespace nodewise::model
