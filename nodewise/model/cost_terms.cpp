// The list of cost terms, and those of the max-rate model.
#include <algorithm>

#include "nodewise/model/cost_term.hpp"

namespace nodewise::model {

const CostTerm& queue_term();
const CostTerm& contention_term();

namespace {

bool always_known(const Machine& /*machine*/) {
  return true;
}

double latency(const RankLoad::Direction& load, double /*node_s*/) {
  return load.latency_s;
}

const CostTerm& latency_term() {
  static const CostTerm term = {
      {"latency", "alpha of every message of the busiest rank", "Bienz 2018, eq. 2.2"},
      &ExchangeCost::latency_s,
      "latency",
      latency,
      always_known};
  return term;
}

double bandwidth(const RankLoad::Direction& load, double /*node_s*/) {
  return load.on_node_s + load.off_node_s;
}

const CostTerm& bandwidth_term() {
  static const CostTerm term = {
      {"bandwidth", "its bytes, at the rate at which one rank can send them",
       "Bienz 2018, eq. 2.2"},
      &ExchangeCost::bandwidth_s,
      "band-\nwidth",
      bandwidth,
      always_known};
  return term;
}

/// A rank with nothing to send between nodes does not wait for those that have.
double injection(const RankLoad::Direction& load, double node_s) {
  return load.off_node_bytes > 0 ? std::max(0.0, node_s - load.off_node_s) : 0;
}

const CostTerm& injection_term() {
  static const CostTerm term = {
      {"injection", "what the limit of its node adds to that", "Bienz 2018, eq. 2.2"},
      &ExchangeCost::injection_s,
      "injec-\ntion",
      injection,
      always_known};
  return term;
}

}  // namespace

Family<CostTerm>& CostTerm::family() {
  static Family<CostTerm> family(
      "cost term",
      {&latency_term(), &bandwidth_term(), &injection_term(), &queue_term(), &contention_term()});
  return family;
}

}  // namespace nodewise::model
