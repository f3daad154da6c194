// What a machine file says, as costs of the event simulation, and what it leaves open.
#pragma once

#include <string>
#include <vector>

#include "nodewise/model/event_simulation.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/model/penalties.hpp"

namespace nodewise::model {

/// Local. The machine's overheads. Where it has none: a quarter of the latency of the shortest
/// messages at each end, on the node and between nodes, and a gap of 50 ns. That is an assumption.
MessageOverheads overheads_of(const Machine& machine);

/// Local. What a message costs the processors of a rank on average where several cores share its
/// messages.
MessageOverheads shared_by(MessageOverheads overheads, int cores);

/// One assumption on what decides between routes and is known of few machines: the gap of the
/// network card, which many messages suffer from, and what messages on a node cost its processors,
/// which routes over the node suffer from.
struct EventScenario {
  std::string name;
  MessageOverheads overheads;
};

/// Local. First overheads_of(), then the corners of a band: no gap or four times as much (from no
/// gap: 200 ns), each with messages on the node that cost the processors nothing or as much as
/// those between nodes.
std::vector<EventScenario> event_scenarios(const Machine& machine);

/// Local. Costs of a flat network: latencies less the overheads (but not negative), rates of single
/// messages by locality and protocol, the card's rate from the rate of injection of the longest
/// messages where there is one. Messages between nodes have their charges: of the latency what hops
/// and other ranks add, and of the rate. Memory and links are not limited: machine files do not
/// tell.
EventCosts event_costs(const Machine& machine, const MessageOverheads& overheads,
                       const Charges& charges);

}  // namespace nodewise::model
