#include "nodewise/model/overlapped_cost.hpp"

#include <algorithm>
#include <vector>

namespace nodewise::model {

namespace {

/// The longest latency, less the overheads of one message, which are counted with the others.
double wire_s(const MessageOverheads& o, const RankLoad& load, const Charges& charges) {
  const bool crosses = load.sent.off_node_messages + load.received.off_node_messages > 0;
  const double overheads = crosses ? o.send_other_node_s + o.receive_other_node_s
                                   : o.send_on_node_s + o.receive_on_node_s;
  double longest = std::max(load.sent.longest_latency_s, load.received.longest_latency_s);
  if (crosses) {
    longest =
        std::max(longest, charges.latency(std::max(load.sent.longest_off_node_latency_s,
                                                   load.received.longest_off_node_latency_s)));
  }
  return std::max(0.0, longest - overheads);
}

/// The time of the rank's processor for its messages, and their bytes at its own rate.
double rank_s(const MessageOverheads& o, const RankLoad& load, const Charges& charges) {
  const RankLoad::Direction& out = load.sent;
  const RankLoad::Direction& in = load.received;
  const double overheads = (out.messages - out.off_node_messages) * o.send_on_node_s +
                           (in.messages - in.off_node_messages) * o.receive_on_node_s +
                           out.off_node_messages * o.send_other_node_s +
                           in.off_node_messages * o.receive_other_node_s;
  const auto bytes_s = [&](const RankLoad::Direction& way) {
    return way.on_node_s + way.off_node_s +
           charges.more_bandwidth_s(way.off_node_s, way.off_node_hardware_s);
  };
  return overheads + std::max(bytes_s(out), bytes_s(in));
}

/// The time that the node's card needs behind its first message.
double card_s(const MessageOverheads& o, const NodeLoad& node) {
  return std::max(0.0, node.messages - 1) * o.nic_gap_s + node.injection_s;
}

}  // namespace

double overlapped_stage_s(const Machine& machine, const RankLoad& load, const Charges& charges,
                          const NodeLoad& node_sent, const NodeLoad& node_received) {
  const MessageOverheads o = machine.overheads.value_or(MessageOverheads{});
  double busy = rank_s(o, load, charges);
  if (load.sent.off_node_messages > 0) busy = std::max(busy, card_s(o, node_sent));
  if (load.received.off_node_messages > 0) busy = std::max(busy, card_s(o, node_received));
  return wire_s(o, load, charges) + busy;
}

double overlapped_forward_s(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                            const Machine& machine) {
  std::vector<std::vector<RankLoad>> loads;  // by rank and stage
  for (const comm::Plan& plan : plans) {
    loads.push_back(rank_loads(plan, topology, static_cast<int>(loads.size()), machine));
  }
  const std::size_t n_stages = loads.empty() ? 0 : loads.front().size();
  const auto node_of = [&](std::size_t rank) {
    return static_cast<std::size_t>(topology.node(static_cast<int>(rank)));
  };
  double seconds = 0;
  for (std::size_t s = 0; s < n_stages; ++s) {
    std::vector<NodeLoad> sent(static_cast<std::size_t>(topology.n_nodes())), received = sent;
    NetworkLoad network = {.n_nodes = topology.n_nodes()};
    for (std::size_t r = 0; r < loads.size(); ++r) {
      const RankLoad& load = loads[r][s];
      network.messages += load.sent.off_node_messages;
      network.senders += load.sent.off_node_messages > 0 ? 1 : 0;
      sent[node_of(r)].messages += load.sent.off_node_messages;
      sent[node_of(r)].injection_s += load.sent.injection_s;
      received[node_of(r)].messages += load.received.off_node_messages;
      received[node_of(r)].injection_s += load.received.injection_s;
    }
    const Charges charges = model::charges(machine, Crowd::of(network));
    double slowest = 0;
    for (std::size_t r = 0; r < loads.size(); ++r) {
      slowest = std::max(slowest, overlapped_stage_s(machine, loads[r][s], charges,
                                                     sent[node_of(r)], received[node_of(r)]));
    }
    seconds += slowest;
  }
  return seconds;
}

}  // namespace nodewise::model
