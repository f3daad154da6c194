// The model of Gahvari, Gropp, Jordan, Schulz and Yang, "Algebraic multigrid on a dragonfly
// network", 2014, section 6.1.
#include <algorithm>

#include <fmt/format.h>

#include "nodewise/amg/redistribute/redistribution_method.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/model/cycle_cost.hpp"
#include "nodewise/model/switch_cost.hpp"

namespace nodewise::amg {

namespace {

/// The level as the model sees it, and the messages of all ranks.
struct ModelView {
  model::LevelOnProcesses level;
  double messages = 0;
};

/// Collective.
ModelView view_of(NextLevel& next) {
  double most[] = {0, 0};
  double messages[] = {0};
  for (const RankExchanges& rank : next.exchanges()) {
    double entries = 0;
    for (const comm::MessageSize& message : rank.product) {
      entries += static_cast<double>(message.entries);
    }
    most[0] = std::max(most[0], static_cast<double>(rank.product.size()));
    most[1] = std::max(most[1], entries);
    messages[0] += static_cast<double>(rank.product.size());
  }
  next.max(most);
  next.sum(messages);
  ModelView view;
  view.level.unknowns = next.rows();
  view.level.nonzeros_per_row = next.nonzeros() / std::max(1.0, next.rows());
  view.level.sends = most[0];
  view.level.elements = most[1];
  view.level.active_processes = next.active_ranks();
  view.messages = messages[0];
  return view;
}

model::NetworkParameters network_of(const model::Machine& machine, const mpi::Topology& topology,
                                    const ModelView& view) {
  model::JobShape job;
  job.processes = topology.n_ranks();
  job.processes_per_node = std::max(1, topology.n_ranks() / topology.n_nodes());
  const double sends = std::max(1.0, view.level.sends);
  return model::network_parameters(machine, machine.scenario->penalties, job,
                                   view.level.active_processes, view.messages,
                                   view.level.elements / sends * sizeof(double));
}

/// The last level of cache, shared by as many ranks as sit on its cores.
model::CacheRule cache_of(const model::Machine& machine, const mpi::Topology& topology) {
  if (machine.caches.empty()) return {};
  const model::Cache& last = machine.caches.back();
  const double ranks_per_node =
      static_cast<double>(topology.n_ranks()) / std::max(1, topology.n_nodes());
  const double share =
      std::max(1.0, last.cores * ranks_per_node / std::max(1, machine.cores_per_node));
  return {last.bytes / share};
}

std::string say(const model::SwitchDecision& decision, int ranks_before) {
  const std::string stay = duration(decision.stay_s);
  if (!decision.best) {
    return fmt::format(
        "predicted {} in a cycle on {} ranks; no rank has two messages to send, or "
        "none can hold more rows in its cache",
        stay, ranks_before);
  }
  const std::string moved = duration(decision.best->seconds);
  if (decision.pays) {
    return fmt::format("predicted {} in a cycle on {} ranks against {} on {}", moved,
                       decision.best->groups, stay, ranks_before);
  }
  return fmt::format("predicted {} in a cycle on {} ranks against {} on {}", stay, ranks_before,
                     moved, decision.best->groups);
}

RedistributionDecision decide_by_model_2014(NextLevel& next, FinerLevels& finer) {
  RedistributionDecision decision;
  decision.ranks_before = decision.ranks = next.active_ranks();
  const model::Machine* machine = next.machine();
  if (machine == nullptr || finer.moved) {
    decision.reason = finer.moved ? "a finer level has been moved" : "all ranks are on one node";
    return decision;
  }
  const ModelView view = view_of(next);
  const double processes = next.topology().n_ranks();
  // t_i is frozen when it rises.
  const double measured = flop_s(*machine, next.level(), next.nonzeros() / processes);
  const double t = finer.flop_s > 0 ? std::min(finer.flop_s, measured) : measured;
  const model::SwitchDecision found =
      model::decide_switch(view.level, processes, t, network_of(*machine, next.topology(), view),
                           cache_of(*machine, next.topology()), finer.stay_s);
  finer.stay_s += found.stay_s;
  finer.flop_s = t;
  decision.stay_s = found.stay_s;
  decision.moved_s = found.best ? found.best->seconds : 0;
  decision.reason = say(found, decision.ranks_before);
  if (next.level() > 0 && found.pays) {
    decision.ranks = found.best->groups;
    finer.moved = true;
  }
  return decision;
}

}  // namespace

const RedistributionMethod& redistribution_by_model_2014() {
  static const RedistributionMethod method = {
      {"model_2014",
       "once, on the first level where the model of Gahvari et al. says that it gains",
       "Gahvari, Gropp, Jordan, Schulz, Yang 2014, section 6.1"},
      true,
      ranks_as_before,
      nullptr,
      decide_by_model_2014,
      true};
  return method;
}

}  // namespace nodewise::amg
