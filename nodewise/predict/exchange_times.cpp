#include "nodewise/predict/exchange_times.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/model/cycle_cost.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/hybrid_cost.hpp"

namespace nodewise::predict {

namespace {

/// Successive ranks of a node fill one socket after the other.
mpi::Topology on_sockets(const mpi::Topology& topology, int sockets_per_node) {
  if (topology.has_domains() || sockets_per_node < 2) return topology;
  std::vector<int> socket_of_rank;
  for (int r = 0; r < topology.n_ranks(); ++r) {
    const std::size_t ranks = topology.ranks_on(topology.node(r)).size();
    const std::size_t place = topology.place_on_node(r);
    socket_of_rank.push_back(
        static_cast<int>(place * static_cast<std::size_t>(sockets_per_node) / ranks));
  }
  return topology.with_domains(socket_of_rank);
}

/// The messages that the busiest rank sends to other nodes.
std::int64_t most_messages_off_node(const model::MessageStages& stages,
                                    const mpi::Topology& topology) {
  std::vector<std::int64_t> of_rank(static_cast<std::size_t>(topology.n_ranks()), 0);
  for (const auto& stage : stages) {
    for (std::size_t r = 0; r < stage.size(); ++r) {
      for (const model::SentMessage& m : stage[r]) {
        of_rank[r] += topology.same_node(static_cast<int>(r), m.to) ? 0 : 1;
      }
    }
  }
  return of_rank.empty() ? 0 : *std::max_element(of_rank.begin(), of_rank.end());
}

/// Of the rank that takes part in most, the stages with messages from or to other nodes: each is a
/// wait for the network.
std::int64_t most_waits(const model::MessageStages& stages, const mpi::Topology& topology) {
  std::vector<std::int64_t> of_rank(static_cast<std::size_t>(topology.n_ranks()), 0);
  std::vector<std::size_t> last(of_rank.size(), stages.size());  // stage that was counted
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto count = [&](std::size_t rank) {
      of_rank[rank] += std::exchange(last[rank], s) != s;
    };
    for (std::size_t r = 0; r < stages[s].size(); ++r) {
      for (const model::SentMessage& m : stages[s][r]) {
        if (topology.same_node(static_cast<int>(r), m.to)) continue;
        count(r);
        count(static_cast<std::size_t>(m.to));
      }
    }
  }
  return of_rank.empty() ? 0 : *std::max_element(of_rank.begin(), of_rank.end());
}

}  // namespace

ExchangeTimer::Seen ExchangeTimer::seen_by(const model::Machine& machine,
                                           const model::GpuTransport* way) {
  Seen seen = {machine, {}, 1};
  if (way != nullptr) {
    seen.machine = require((*way->messages)(machine), "gpu transport " + *way->name);
    seen.cores = (*way->cores)(machine);
  }
  seen.scenarios = model::event_scenarios(seen.machine);
  return seen;
}

ExchangeTimer::ExchangeTimer(model::Machine machine, const mpi::Topology& topology,
                             model::Arrival arrival, int threads, const model::GpuTransport* way)
    : machine_(std::move(machine)),
      topology_(on_sockets(topology, machine_.sockets_per_node)),
      arrival_(arrival),
      threads_(threads),
      way_(way),
      host_(seen_by(machine_, nullptr)),
      vectors_(seen_by(machine_, way)) {}

ExchangeTime ExchangeTimer::time(const model::MessageStages& stages) const {
  return time(stages, host_);
}

ExchangeTime ExchangeTimer::time_of_vectors(const model::MessageStages& stages,
                                            const model::GpuBytes& most) const {
  ExchangeTime result = time(stages, vectors_);
  if (way_ != nullptr) result.add_copies(model::copies(*way_, machine_, most).total());
  return result;
}

ExchangeTime ExchangeTimer::time_on_host(const model::MessageStages& stages,
                                         const model::GpuBytes& most) const {
  ExchangeTime result = time(stages, host_);
  if (way_ != nullptr) {
    result.add_copies(model::copies(model::plain_gpu_transport(), machine_, most).total());
  }
  return result;
}

ExchangeTime ExchangeTimer::time(const model::MessageStages& stages, const Seen& seen) const {
  ExchangeTime time;
  model::ExchangeTally tally(seen.machine, topology_,
                             {.arrival = arrival_, .average_hops = {}, .cores = seen.cores});
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (std::size_t r = 0; r < stages[s].size(); ++r) {
      for (const model::SentMessage& m : stages[s][r]) {
        tally.add(s, static_cast<int>(r), m.to, static_cast<double>(m.bytes));
        ++time.messages;
        time.bytes += m.bytes;
      }
    }
  }
  time.formula = tally.total();
  const model::Charges charges = model::charges(seen.machine, tally.most_crowded());
  for (const model::EventScenario& scenario : seen.scenarios) {
    const auto overheads = model::shared_by(scenario.overheads, seen.cores);
    const auto costs = model::event_costs(seen.machine, overheads, charges);
    time.simulated.push_back(
        model::simulate_events(stages, topology_, costs, model::usual_order).end());
  }
  time.max_off_node = most_messages_off_node(stages, topology_);
  time.waits = most_waits(stages, topology_);
  return time;
}

ExchangeTime ExchangeTimer::scaled(ExchangeTime time, double factor) {
  time.formula = factor * time.formula;
  time.copies_s *= factor;
  for (double& seconds : time.simulated) seconds *= factor;
  return time;
}

double ExchangeTimer::work_s(std::size_t level, double nonzeros, double flops) const {
  if (machine_.s_per_flop_by_level.empty() && machine_.s_per_flop_by_size.empty()) return 0;
  return flops / threads_ * model::flop_s(machine_, level, nonzeros / threads_, threads_);
}

double ExchangeTimer::slowdown_beside(std::size_t level, double nonzeros) const {
  return model::slowdown_beside(machine_, level, nonzeros / threads_, threads_);
}

double ExchangeTimer::hidden_by_mpi(const model::MessageStages& stages) const {
  double bytes = 0, messages = 0;
  for (const auto& stage : stages) {
    for (const auto& of_rank : stage) {
      for (const model::SentMessage& message : of_rank) {
        bytes += static_cast<double>(message.bytes);
        messages += 1;
      }
    }
  }
  return messages > 0 ? model::hidden_by_mpi(machine_, bytes / messages) : 0;
}

}  // namespace nodewise::predict
