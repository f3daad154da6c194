#include "nodewise/model/exchange_cost.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/model/contention.hpp"
#include "nodewise/model/cost_term.hpp"
#include "nodewise/model/gpu_transport.hpp"

namespace nodewise::model {

namespace {

/// The terms that Function computes from some arguments; the others are 0.
template <class Function, class... Arguments>
void set_terms(ExchangeCost& cost, const Arguments&... arguments) {
  for (const CostTerm& term : CostTerm::family()) {
    const auto* seconds = std::get_if<Function>(&*term.seconds);
    if (seconds != nullptr) cost.*(*term.member) = (*seconds)(arguments...);
  }
}

/// The links that a message between two nodes crosses.
double hops_between(const Machine& machine, const mpi::Topology& topology, int from, int to,
                    const ExchangeCostOptions& options) {
  if (options.average_hops) return *options.average_hops;
  return contention_hops(machine.network, topology.n_nodes(), topology.node(from),
                         topology.node(to));
}

}  // namespace

double ExchangeCost::total() const {
  double sum = 0;
  for (const CostTerm& term : CostTerm::family()) sum += this->*(*term.member);
  return sum;
}

ExchangeCost& ExchangeCost::operator+=(const ExchangeCost& other) {
  for (const CostTerm& term : CostTerm::family()) {
    this->*(*term.member) += other.*(*term.member);
  }
  return *this;
}

ExchangeCost operator*(double times, ExchangeCost cost) {
  for (const CostTerm& term : CostTerm::family()) cost.*(*term.member) *= times;
  return cost;
}

void RankLoad::Direction::add(const Machine& machine, Locality where, double bytes) {
  const MessageParameters& parameters = machine.parameters(where, bytes);
  latency_s += parameters.latency_s;
  longest_latency_s = std::max(longest_latency_s, parameters.latency_s);
  messages += 1;
  const double seconds = bytes / parameters.rate_bytes_per_s;
  if (where != Locality::other_node) {
    on_node_s += seconds;
    return;
  }
  off_node_latency_s += parameters.latency_s;
  longest_off_node_latency_s = std::max(longest_off_node_latency_s, parameters.latency_s);
  off_node_s += seconds;
  off_node_hardware_s += seconds * hardware_factor(machine, parameters);
  injection_s += bytes / parameters.injection_bytes_per_s;
  off_node_bytes += bytes;
  off_node_messages += 1;
}

RankLoad::Direction RankLoad::Direction::of_core(int cores) const {
  const double share = share_of_core(messages, cores);
  Direction part = *this;
  for (double Direction::*member :
       {&Direction::latency_s, &Direction::off_node_latency_s, &Direction::on_node_s,
        &Direction::off_node_s, &Direction::off_node_hardware_s, &Direction::messages,
        &Direction::off_node_messages}) {
    part.*member *= share;
  }
  return part;
}

RankLoad::Direction& RankLoad::Direction::operator+=(const Direction& other) {
  latency_s += other.latency_s;
  longest_latency_s = std::max(longest_latency_s, other.longest_latency_s);
  off_node_latency_s += other.off_node_latency_s;
  longest_off_node_latency_s =
      std::max(longest_off_node_latency_s, other.longest_off_node_latency_s);
  on_node_s += other.on_node_s;
  off_node_s += other.off_node_s;
  off_node_hardware_s += other.off_node_hardware_s;
  injection_s += other.injection_s;
  off_node_bytes += other.off_node_bytes;
  messages += other.messages;
  off_node_messages += other.off_node_messages;
  return *this;
}

Locality locality(const mpi::Topology& topology, const Machine& machine, int a, int b) {
  if (!topology.same_node(a, b)) return Locality::other_node;
  const bool same =
      topology.has_domains() ? topology.same_domain(a, b) : machine.sockets_per_node == 1;
  return same ? Locality::same_socket : Locality::same_node;
}

ExchangeCost stage_cost(const Machine& machine, const RankLoad& load, const Charges& charges,
                        double node_sent_s, double node_received_s, Arrival arrival, int cores) {
  RankLoad part = load;
  part.sent = load.sent.of_core(cores);
  part.received = load.received.of_core(cores);
  ExchangeCost sent, received;
  set_terms<CostTerm::OfDirection>(sent, part.sent, Surroundings{charges, node_sent_s});
  set_terms<CostTerm::OfDirection>(received, part.received, Surroundings{charges, node_received_s});
  ExchangeCost cost = sent.total() >= received.total() ? sent : received;
  set_terms<CostTerm::OfRank>(cost, machine, part, arrival);
  return cost;
}

ExchangeTally::ExchangeTally(const Machine& machine, const mpi::Topology& topology,
                             const ExchangeCostOptions& options)
    : machine_(&machine), topology_(&topology), options_(options) {
  check(machine);
}

void ExchangeTally::add(std::size_t stage, int from, int to, double bytes) {
  const int n_ranks = topology_->n_ranks();
  if (from < 0 || to < 0 || from >= n_ranks || to >= n_ranks) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a message from rank {} to {} among {} ranks", from, to, n_ranks));
  }
  while (stages_.size() <= stage) stages_.emplace_back(static_cast<std::size_t>(n_ranks));
  Stage& ranks = stages_[stage];
  const Locality where = locality(*topology_, *machine_, from, to);
  ranks[static_cast<std::size_t>(from)].sent.add(*machine_, where, bytes);
  ranks[static_cast<std::size_t>(to)].received.add(*machine_, where, bytes);
  if (where != Locality::other_node) return;
  ranks[static_cast<std::size_t>(from)].byte_hops +=
      bytes * hops_between(*machine_, *topology_, from, to, options_);
}

ExchangeTally::Busiest ExchangeTally::busiest(const Stage& stage) const {
  std::vector<double> sent(static_cast<std::size_t>(topology_->n_nodes()));
  std::vector<double> received(sent.size());
  for (int r = 0; r < topology_->n_ranks(); ++r) {
    const auto node = static_cast<std::size_t>(topology_->node(r));
    sent[node] += stage[static_cast<std::size_t>(r)].sent.injection_s;
    received[node] += stage[static_cast<std::size_t>(r)].received.injection_s;
  }
  const Charges charges = model::charges(*machine_, Crowd::of(network_load(stage)));
  Busiest found;
  for (int r = 0; r < topology_->n_ranks(); ++r) {
    const auto node = static_cast<std::size_t>(topology_->node(r));
    const ExchangeCost cost =
        stage_cost(*machine_, stage[static_cast<std::size_t>(r)], charges, sent[node],
                   received[node], options_.arrival, options_.cores);
    if (cost.total() > found.cost.total()) found = {r, cost};
  }
  return found;
}

NetworkLoad ExchangeTally::network_load(const Stage& stage) const {
  NetworkLoad load;
  load.n_nodes = topology_->n_nodes();
  for (const RankLoad& rank : stage) {
    load.bytes += rank.sent.off_node_bytes;
    load.byte_hops += rank.byte_hops;
    load.messages += rank.sent.off_node_messages;
    load.senders += std::min<double>(rank.sent.off_node_messages, options_.cores);
  }
  return load;
}

ExchangeCost ExchangeTally::stage(std::size_t s) const {
  ExchangeCost cost = busiest(stages_.at(s)).cost;
  set_terms<CostTerm::OfStage>(cost, *machine_, network_load(stages_[s]));
  return cost;
}

ExchangeCost ExchangeTally::total() const {
  ExchangeCost cost;
  for (std::size_t s = 0; s < stages_.size(); ++s) cost += stage(s);
  return cost;
}

int ExchangeTally::busiest_rank(std::size_t s) const {
  return busiest(stages_.at(s)).rank;
}

Crowd ExchangeTally::most_crowded() const {
  Crowd most = {topology_->n_nodes()};
  for (const Stage& stage : stages_) {
    const Crowd crowd = Crowd::of(network_load(stage));
    most.messages = std::max(most.messages, crowd.messages);
    most.ranks_a_node = std::max(most.ranks_a_node, crowd.ranks_a_node);
  }
  return most;
}

ExchangeCost forward_cost(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                          const Machine& machine, const ExchangeCostOptions& options) {
  ExchangeTally tally(machine, topology, options);
  comm::visit_messages(
      plans, topology, [&](std::size_t stage, int from, int to, std::int64_t entries) {
        tally.add(stage, from, to, static_cast<double>(entries) * options.bytes_per_entry);
      });
  return tally.total();
}

ExchangeCost reversed_cost(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                           const Machine& machine, const ExchangeCostOptions& options) {
  ExchangeTally tally(machine, topology, options);
  comm::visit_reversed_messages(
      plans, topology, [&](std::size_t stage, int from, int to, std::int64_t entries) {
        tally.add(stage, from, to, static_cast<double>(entries) * options.bytes_per_entry);
      });
  return tally.total();
}

ExchangeCost record_cost(std::span<const comm::Plan> plans, const mpi::Topology& topology,
                         const Machine& machine, std::span<const Offset> offsets,
                         const ExchangeCostOptions& options) {
  std::map<std::tuple<std::size_t, int, int>, double> messages;  // bytes
  const auto count = [&](double bytes_of_one) {
    return [&messages, bytes_of_one](std::size_t stage, int from, int to, std::int64_t n) {
      messages[{stage, from, to}] += static_cast<double>(n) * bytes_of_one;
    };
  };
  comm::visit_messages(plans, topology, count(sizeof(Offset)));
  comm::visit_record_messages(plans, topology, offsets, count(options.bytes_per_entry));
  ExchangeTally tally(machine, topology, options);
  for (const auto& [message, bytes] : messages) {
    tally.add(std::get<0>(message), std::get<1>(message), std::get<2>(message), bytes);
  }
  return tally.total();
}

std::vector<RankLoad> rank_loads(const comm::Plan& plan, const mpi::Topology& topology, int rank,
                                 const Machine& machine, const ExchangeCostOptions& options) {
  return rank_loads(comm::sizes_of(plan), topology, rank, machine, options);
}

std::vector<RankLoad> rank_loads(std::span<const comm::StageSizes> stages,
                                 const mpi::Topology& topology, int rank, const Machine& machine,
                                 const ExchangeCostOptions& options) {
  std::vector<RankLoad> loads;
  const auto bytes_of = [&](const comm::MessageSize& m) {
    return static_cast<double>(m.entries) * options.bytes_per_entry;
  };
  for (const comm::StageSizes& stage : stages) {
    RankLoad& load = loads.emplace_back();
    for (const comm::MessageSize& m : stage.sent) {
      const Locality where = locality(topology, machine, rank, m.rank);
      load.sent.add(machine, where, bytes_of(m));
      if (where != Locality::other_node) continue;
      load.byte_hops += bytes_of(m) * hops_between(machine, topology, rank, m.rank, options);
    }
    for (const comm::MessageSize& m : stage.received) {
      load.received.add(machine, locality(topology, machine, rank, m.rank), bytes_of(m));
    }
  }
  return loads;
}

}  // namespace nodewise::model
