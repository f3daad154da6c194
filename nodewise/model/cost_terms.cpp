// The list of cost terms, and those of the max-rate model. Those of scenarios stand beside the
// terms that they add to.
#include <algorithm>

#include "nodewise/model/cost_term.hpp"

namespace nodewise::model {

const CostTerm& distance_term();
const CostTerm& multicore_term();
const CostTerm& limited_bandwidth_term();
const CostTerm& queue_term();
const CostTerm& contention_term();

namespace {

bool always_true(const Machine& /*machine*/) {
  return true;
}

double latency(const RankLoad::Direction& load, const Surroundings& /*around*/) {
  return load.latency_s;
}

const CostTerm& latency_term() {
  static const CostTerm term = {
      {"latency", "alpha of every message of the busiest rank", "Bienz 2018, eq. 2.2"},
      &ExchangeCost::latency_s,
      "latency",
      latency,
      always_true,
      always_true};
  return term;
}

double bandwidth(const RankLoad::Direction& load, const Surroundings& /*around*/) {
  return load.on_node_s + load.off_node_s;
}

const CostTerm& bandwidth_term() {
  static const CostTerm term = {
      {"bandwidth", "its bytes, at the rate at which one rank can send them",
       "Bienz 2018, eq. 2.2"},
      &ExchangeCost::bandwidth_s,
      "band-\nwidth",
      bandwidth,
      always_true,
      always_true};
  return term;
}

/// A rank with nothing to send between nodes does not wait for those that have.
double injection(const RankLoad::Direction& load, const Surroundings& around) {
  if (load.off_node_bytes == 0) return 0;
  const double own_s =
      load.off_node_s + around.charges.more_bandwidth_s(load.off_node_s, load.off_node_hardware_s);
  return std::max(0.0, around.node_s - own_s);
}

const CostTerm& injection_term() {
  static const CostTerm term = {
      {"injection", "what the limit of its node adds to that", "Bienz 2018, eq. 2.2"},
      &ExchangeCost::injection_s,
      "injec-\ntion",
      injection,
      always_true,
      always_true};
  return term;
}

}  // namespace

Family<CostTerm>& CostTerm::family() {
  static Family<CostTerm> family(
      "cost term",
      {&latency_term(), &distance_term(), &multicore_term(), &bandwidth_term(),
       &limited_bandwidth_term(), &injection_term(), &queue_term(), &contention_term()});
  return family;
}

}  // namespace nodewise::model
