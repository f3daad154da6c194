#include "nodewise/routing/route_costs.hpp"

#include <algorithm>

#include "nodewise/model/contention.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/overlapped_cost.hpp"

namespace nodewise::routing {

namespace {

/// The work of this rank in the stages of all exchanges, one after the other.
std::vector<model::RankLoad> loads_of(const mpi::Comm& comm, const model::Machine& machine,
                                      std::span<const ExchangeQuestion> questions) {
  std::vector<model::RankLoad> loads;
  for (const ExchangeQuestion& question : questions) {
    model::ExchangeCostOptions options;
    options.bytes_per_entry = question.bytes_per_entry;
    const auto stages =
        model::rank_loads(question.stages, comm.topology(), comm.rank(), machine, options);
    loads.insert(loads.end(), stages.begin(), stages.end());
  }
  return loads;
}

/// The messages that the ranks of a node send in a stage, and receive.
struct NodeStage {
  model::NodeLoad sent, received;
};

/// Collective on each node.
std::vector<NodeStage> node_sums(const mpi::Comm& comm, std::span<const model::RankLoad> loads) {
  std::vector<double> sums;
  for (const model::RankLoad& load : loads) {
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

/// Collective where links are known. What waiting for them adds to each stage.
std::vector<double> contention_of(const mpi::Comm& comm, const model::Machine& machine,
                                  std::span<const model::RankLoad> loads) {
  std::vector<double> seconds(loads.size());
  if (machine.contention_s_per_byte_per_link == 0) return seconds;
  std::vector<double> sums;
  for (const model::RankLoad& load : loads) {
    sums.insert(sums.end(), {load.sent.off_node_bytes, load.byte_hops});
  }
  mpi::sum_in_place(comm, std::span(sums));
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    seconds[k] =
        model::contention_s(machine, {sums[2 * k], sums[2 * k + 1], comm.topology().n_nodes()});
  }
  return seconds;
}

double stage_seconds(const model::Machine& machine, MessageCosts costs, const model::RankLoad& load,
                     const NodeStage& node) {
  if (costs == MessageCosts::overlapped) {
    return model::overlapped_stage_s(machine, load, node.sent, node.received);
  }
  return model::stage_cost(machine, load, node.sent.injection_s, node.received.injection_s,
                           model::ExchangeCostOptions().arrival)
      .total();
}

}  // namespace

std::vector<double> exchange_seconds(const mpi::Comm& comm, const model::Machine& machine,
                                     MessageCosts costs,
                                     std::span<const ExchangeQuestion> questions,
                                     std::span<double> most) {
  const std::vector<model::RankLoad> loads = loads_of(comm, machine, questions);
  const std::vector<NodeStage> nodes = node_sums(comm, loads);
  std::vector<double> maxima(most.begin(), most.end());
  for (std::size_t k = 0; k < loads.size(); ++k) {
    maxima.push_back(stage_seconds(machine, costs, loads[k], nodes[k]));
  }
  std::vector<double> contention(loads.size());
  if (costs == MessageCosts::added) contention = contention_of(comm, machine, loads);
  mpi::max_in_place(comm, std::span(maxima));
  std::copy_n(maxima.begin(), most.size(), most.begin());
  std::vector<double> seconds(questions.size());
  std::size_t k = 0;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    for (std::size_t s = 0; s < questions[q].stages.size(); ++s, ++k) {
      seconds[q] += maxima[most.size() + k] + contention[k];
    }
  }
  return seconds;
}

}  // namespace nodewise::routing
