#include "nodewise/model/event_costs.hpp"

#include <algorithm>
#include <cmath>

namespace nodewise::model {

namespace {

constexpr double assumed_share = 0.25;   // of the latency, at each end
constexpr double assumed_gap_s = 50e-9;  // docs/simulation.md
constexpr double large_gap_factor = 4;

/// The lengths from which another protocol carries a message, the first 0.
std::vector<std::int64_t> first_lengths(const Machine& machine, Locality locality) {
  std::vector<std::int64_t> lengths = {0};
  const SwitchSizes& sizes = machine.switches(machine.measured_as(locality));
  for (const std::int64_t last : {sizes.short_bytes, sizes.eager_bytes}) {
    if (last + 1 > lengths.back()) lengths.push_back(last + 1);
  }
  return lengths;
}

std::vector<MessageCost> costs_of(const Machine& machine, Locality locality, const Charges& charges,
                                  double send_overhead, double receive_overhead) {
  std::vector<MessageCost> table;
  for (const std::int64_t bytes : first_lengths(machine, locality)) {
    const MessageParameters p =
        charged(machine, machine.parameters(locality, static_cast<double>(bytes)), charges);
    const double latency = std::max(0.0, p.latency_s - send_overhead - receive_overhead);
    table.push_back({bytes, send_overhead, receive_overhead, latency, 1 / p.rate_bytes_per_s});
  }
  return table;
}

}  // namespace

MessageOverheads overheads_of(const Machine& machine) {
  if (machine.overheads) return *machine.overheads;
  const double on_node = assumed_share * machine.parameters(Locality::same_node, 1).latency_s;
  const double off_node = assumed_share * machine.parameters(Locality::other_node, 1).latency_s;
  return {on_node, on_node, off_node, off_node, assumed_gap_s};
}

MessageOverheads shared_by(MessageOverheads overheads, int cores) {
  for (double MessageOverheads::*member :
       {&MessageOverheads::send_on_node_s, &MessageOverheads::receive_on_node_s,
        &MessageOverheads::send_other_node_s, &MessageOverheads::receive_other_node_s}) {
    overheads.*member /= cores;
  }
  return overheads;
}

std::vector<EventScenario> event_scenarios(const Machine& machine) {
  const MessageOverheads base = overheads_of(machine);
  const double gap = base.nic_gap_s > 0 ? base.nic_gap_s : assumed_gap_s;
  std::vector<EventScenario> all = {{"base", base}};
  for (const bool large_gap : {false, true}) {
    for (const bool costly : {false, true}) {
      MessageOverheads corner = base;
      corner.nic_gap_s = large_gap ? large_gap_factor * gap : 0;
      corner.send_on_node_s = costly ? base.send_other_node_s : 0;
      corner.receive_on_node_s = costly ? base.receive_other_node_s : 0;
      all.push_back({std::string(large_gap ? "large gap" : "no gap") +
                         (costly ? ", costly on-node messages" : ", free on-node messages"),
                     corner});
    }
  }
  return all;
}

EventCosts event_costs(const Machine& machine, const MessageOverheads& overheads,
                       const Charges& charges) {
  EventCosts costs;
  costs.on_domain = costs_of(machine, Locality::same_socket, {}, overheads.send_on_node_s,
                             overheads.receive_on_node_s);
  costs.on_node = costs_of(machine, Locality::same_node, {}, overheads.send_on_node_s,
                           overheads.receive_on_node_s);
  costs.off_node = costs_of(machine, Locality::other_node, charges, overheads.send_other_node_s,
                            overheads.receive_other_node_s);
  costs.gap = overheads.nic_gap_s;
  const double longest = static_cast<double>(first_lengths(machine, Locality::other_node).back());
  const double injection = machine.parameters(Locality::other_node, longest).injection_bytes_per_s;
  if (std::isfinite(injection)) costs.nic_seconds_per_byte = 1 / injection;
  return costs;
}

}  // namespace nodewise::model
