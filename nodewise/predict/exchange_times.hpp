// The cost of virtual ranks' messages on a machine.
#pragma once

#include <vector>

#include "nodewise/model/event_costs.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/model/queue_search.hpp"
#include "nodewise/mpi/topology.hpp"
#include "nodewise/predict/result.hpp"

namespace nodewise::predict {

/// A machine with virtual ranks on it.
class ExchangeTimer {
 public:
  /// Nodes are divided as `topology` says, or else successive ranks of a node over the sockets of
  /// the machine, evenly. `threads` share the arithmetic of a rank.
  ExchangeTimer(model::Machine machine, const mpi::Topology& topology, model::Arrival arrival,
                int threads = 1);
  ExchangeTimer(const ExchangeTimer&) = delete;
  ExchangeTimer& operator=(const ExchangeTimer&) = delete;

  /// By the formulas, and simulated under every scenario.
  ExchangeTime time(const model::MessageStages& stages) const;
  /// Returns the seconds of so many floating-point operations on a rank that has `nonzeros` of a
  /// level, shared evenly by its threads; 0 where the machine does not tell.
  double work_s(std::size_t level, double nonzeros, double flops) const;
  /// A collective that takes `factor` times as long, whoever reckons.
  static ExchangeTime scaled(ExchangeTime time, double factor);
  const model::Machine& machine() const { return machine_; }
  int threads() const { return threads_; }
  const std::vector<model::EventScenario>& scenarios() const { return scenarios_; }

 private:
  model::Machine machine_;
  mpi::Topology topology_;
  model::Arrival arrival_;
  int threads_;
  std::vector<model::EventScenario> scenarios_;
};

}  // namespace nodewise::predict
