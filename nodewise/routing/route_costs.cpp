#include "nodewise/routing/route_costs.hpp"

#include <algorithm>

#include "nodewise/model/contention.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/overlapped_cost.hpp"

namespace nodewise::routing {

namespace {

/// The work of this rank in a stage.
struct StageWork {
  model::RankLoad load;
  const model::Machine& machine;
  int cores;
};

/// In the stages of all exchanges, one after the other.
std::vector<StageWork> work_of(const mpi::Comm& comm, const model::Machine& machine,
                               std::span<const ExchangeQuestion> questions) {
  std::vector<StageWork> works;
  for (const ExchangeQuestion& question : questions) {
    const model::Machine& seen = question.machine != nullptr ? *question.machine : machine;
    model::ExchangeCostOptions options;
    options.bytes_per_entry = question.bytes_per_entry;
    for (const model::RankLoad& load :
         model::rank_loads(question.stages, comm.topology(), comm.rank(), seen, options)) {
      works.push_back({load, seen, question.cores});
    }
  }
  return works;
}

/// Collective on each node.
std::vector<NodeStage> node_sums(const mpi::Comm& comm, std::span<const StageWork> works) {
  std::vector<double> sums;
  for (const auto& [load, machine, cores] : works) {
    sums.insert(sums.end(), {load.sent.off_node_messages, load.sent.injection_s,
                             load.received.off_node_messages, load.received.injection_s});
  }
  mpi::sum_in_place(comm.node(), std::span(sums));
  std::vector<NodeStage> stages;
  for (std::size_t k = 0; k < sums.size(); k += 4) {
    stages.push_back({{sums[k], sums[k + 1]}, {sums[k + 2], sums[k + 3]}});
  }
  return stages;
}

/// Whether a cost depends on what all ranks send.
bool needs_network_loads(const model::Machine& machine, MessageCosts costs) {
  const model::Penalties& p = machine.scenario->penalties;
  const bool waits = costs == MessageCosts::added && machine.contention_s_per_byte_per_link > 0;
  return waits || p.bandwidth || p.multicore_latency || p.multicore_distance;
}

/// Collective where a cost depends on it. What crosses the network in each stage.
std::vector<model::NetworkLoad> network_loads(const mpi::Comm& comm, const model::Machine& machine,
                                              MessageCosts costs,
                                              std::span<const StageWork> works) {
  std::vector<double> sums;
  for (const auto& [load, seen, cores] : works) {
    const double messages = load.sent.off_node_messages;
    sums.insert(sums.end(), {load.sent.off_node_bytes, load.byte_hops, messages,
                             std::min<double>(messages, cores)});
  }
  if (needs_network_loads(machine, costs)) mpi::sum_in_place(comm, std::span(sums));
  std::vector<model::NetworkLoad> networks;
  for (std::size_t k = 0; k < sums.size(); k += 4) {
    networks.push_back({sums[k], sums[k + 1], comm.topology().n_nodes(), sums[k + 2], sums[k + 3]});
  }
  return networks;
}

}  // namespace

MessageCosts message_costs(const model::Machine& machine) {
  return machine.overheads ? MessageCosts::overlapped : MessageCosts::added;
}

double stage_seconds(const model::Machine& machine, MessageCosts costs, const model::RankLoad& load,
                     const NodeStage& node, const model::NetworkLoad& network, int cores) {
  const model::Charges charges = model::charges(machine, model::Crowd::of(network));
  if (costs == MessageCosts::overlapped) {
    return model::overlapped_stage_s(machine, load, charges, node.sent, node.received);
  }
  return model::stage_cost(machine, load, charges, node.sent.injection_s, node.received.injection_s,
                           model::ExchangeCostOptions().arrival, cores)
      .total();
}

std::vector<double> exchange_seconds(const mpi::Comm& comm, const model::Machine& machine,
                                     MessageCosts costs,
                                     std::span<const ExchangeQuestion> questions,
                                     std::span<double> most) {
  const std::vector<StageWork> works = work_of(comm, machine, questions);
  const std::vector<NodeStage> nodes = node_sums(comm, works);
  const std::vector<model::NetworkLoad> networks = network_loads(comm, machine, costs, works);
  std::vector<double> maxima(most.begin(), most.end());
  for (std::size_t k = 0; k < works.size(); ++k) {
    const auto& [load, seen, cores] = works[k];
    maxima.push_back(stage_seconds(seen, costs, load, nodes[k], networks[k], cores));
  }
  mpi::max_in_place(comm, std::span(maxima));
  std::copy_n(maxima.begin(), most.size(), most.begin());
  std::vector<double> seconds(questions.size());
  std::size_t k = 0;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    for (std::size_t s = 0; s < questions[q].stages.size(); ++s, ++k) {
      const bool waits = costs == MessageCosts::added;
      seconds[q] +=
          maxima[most.size() + k] + (waits ? model::contention_s(machine, networks[k]) : 0);
    }
  }
  return seconds;
}

}  // namespace nodewise::routing
