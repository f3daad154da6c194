#include "nodewise/model/penalties.hpp"

#include <algorithm>
#include <cmath>

#include "nodewise/model/cost_term.hpp"
#include "nodewise/model/network.hpp"

namespace nodewise::model {

namespace {

const Penalties& penalties_of(const Machine& machine) {
  return machine.scenario->penalties;
}

bool knows_distance(const Machine& machine) {
  return is_known(machine.network) && machine.hop_latency_s > 0;
}

bool knows_bandwidth(const Machine& machine) {
  return is_known(machine.network) || machine.hardware_bytes_per_s.has_value();
}

double distance_term_s(const RankLoad::Direction& load, const Surroundings& around) {
  return load.off_node_messages * around.charges.distance_s;
}

double multicore_term_s(const RankLoad::Direction& load, const Surroundings& around) {
  const Charges& c = around.charges;
  return (c.latency_factor - 1) * load.off_node_latency_s +
         (c.distance_factor - 1) * load.off_node_messages * c.distance_s;
}

}  // namespace

Crowd Crowd::of(const NetworkLoad& load) {
  return {load.n_nodes, load.messages,
          std::max(1.0, std::ceil(load.senders / load.n_nodes - 1e-12))};
}

Charges charges(const Machine& machine, const Crowd& crowd) {
  return charges(machine, penalties_of(machine), crowd);
}

Charges charges(const Machine& machine, const Penalties& penalties, const Crowd& crowd) {
  Charges c;
  if (penalties.multicore_latency) c.latency_factor = crowd.ranks_a_node;
  if (penalties.distance && is_known(machine.network)) {
    const int beyond = charged_hops(machine.network, crowd.n_nodes) - fewest_hops(machine.network);
    c.distance_s = beyond * machine.hop_latency_s;
  }
  if (penalties.multicore_distance) c.distance_factor = crowd.ranks_a_node;
  if (penalties.bandwidth) {
    c.hardware = true;
    c.shared_links = crowd.messages / available_links(machine.network, crowd.n_nodes);
  }
  return c;
}

double hardware_factor(const Machine& machine, const MessageParameters& parameters) {
  return machine.hardware_bytes_per_s.value_or(parameters.rate_bytes_per_s) /
         parameters.rate_bytes_per_s;
}

MessageParameters charged(const Machine& machine, const MessageParameters& parameters,
                          const Charges& charges) {
  MessageParameters result = parameters;
  result.latency_s = charges.latency(parameters.latency_s);
  if (charges.hardware) {
    result.rate_bytes_per_s /= hardware_factor(machine, parameters) + charges.shared_links;
  }
  return result;
}

std::optional<double> hop_latency_s(const Machine& machine, int n_nodes, double largest_latency_s) {
  if (!is_known(machine.network)) return std::nullopt;
  const int beyond = charged_hops(machine.network, n_nodes) - fewest_hops(machine.network);
  if (beyond <= 0) return std::nullopt;
  const double least_s = machine.parameters(Locality::other_node, 0).latency_s;
  return std::max(0.0, largest_latency_s - least_s) / beyond;
}

void take_scenario(Machine& machine, const Choice<Scenario>& wanted) {
  if (!wanted.is_automatic()) machine.scenario = wanted;
}

const CostTerm& distance_term() {
  static const CostTerm term = {
      {"distance", "hops of each of its messages beyond the fewest possible",
       "Gahvari et al. 2014, section 4.1"},
      &ExchangeCost::distance_s,
      "dis-\ntance",
      distance_term_s,
      [](const Machine& machine) { return penalties_of(machine).distance; },
      knows_distance};
  return term;
}

const CostTerm& multicore_term() {
  static const CostTerm term = {
      {"multicore", "what other ranks of its node that send add to its latencies",
       "Gahvari et al. 2014, section 4.1"},
      &ExchangeCost::multicore_s,
      "multi-\ncore",
      multicore_term_s,
      [](const Machine& machine) {
        return penalties_of(machine).multicore_latency || penalties_of(machine).multicore_distance;
      },
      [](const Machine& machine) {
        return penalties_of(machine).multicore_latency || knows_distance(machine);
      }};
  return term;
}

const CostTerm& limited_bandwidth_term() {
  static const CostTerm term = {
      {"limited_bandwidth", "what unused hardware and shared links add to its bytes",
       "Gahvari et al. 2014, section 4.1"},
      &ExchangeCost::limited_bandwidth_s,
      "limited\nbandw.",
      [](const RankLoad::Direction& load, const Surroundings& around) {
        return around.charges.more_bandwidth_s(load.off_node_s, load.off_node_hardware_s);
      },
      [](const Machine& machine) { return penalties_of(machine).bandwidth; },
      knows_bandwidth};
  return term;
}

}  // namespace nodewise::model
