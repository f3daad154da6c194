// The cost of virtual ranks' messages on a machine.
#pragma once

#include <vector>

#include "nodewise/model/event_costs.hpp"
#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/model/queue_search.hpp"
#include "nodewise/mpi/topology.hpp"
#include "nodewise/predict/result.hpp"

namespace nodewise::predict {

/// A machine with virtual ranks on it.
class ExchangeTimer {
 public:
  /// Nodes are divided as `topology` says, or else successive ranks of a node over the sockets of
  /// the machine, evenly. `threads` share the arithmetic of a rank. Vectors lie on GPUs, one a
  /// rank, and are exchanged by `way`; null: they lie where the host's messages begin. Throws
  /// unsupported where the machine does not tell what the way needs.
  ExchangeTimer(model::Machine machine, const mpi::Topology& topology, model::Arrival arrival,
                int threads = 1, const model::GpuTransport* way = nullptr);

  /// Of what lies on the host. By the formulas, and simulated under every scenario.
  ExchangeTime time(const model::MessageStages& stages) const;
  /// Likewise of vectors, wherever they lie; `most` is the largest part that a rank copies.
  ExchangeTime time_of_vectors(const model::MessageStages& stages,
                               const model::GpuBytes& most) const;
  /// Of what lies on the host, where it must be brought from vectors first, by one core, and back.
  ExchangeTime time_on_host(const model::MessageStages& stages, const model::GpuBytes& most) const;
  /// Returns the seconds of so many floating-point operations on a rank that has `nonzeros` of a
  /// level, shared evenly by its threads; 0 where the machine does not tell.
  double work_s(std::size_t level, double nonzeros, double flops) const;
  /// model::slowdown_beside() of a rank's threads.
  double slowdown_beside(std::size_t level, double nonzeros) const;
  /// model::hidden_by_mpi() of messages as long as these are on average.
  double hidden_by_mpi(const model::MessageStages& stages) const;
  /// A collective that takes `factor` times as long, whoever reckons.
  static ExchangeTime scaled(ExchangeTime time, double factor);
  const model::Machine& machine() const { return machine_; }
  int threads() const { return threads_; }
  const std::vector<model::EventScenario>& scenarios() const { return host_.scenarios; }

 private:
  /// A machine as messages meet it.
  struct Seen {
    model::Machine machine;
    std::vector<model::EventScenario> scenarios;
    int cores = 1;  ///< that share the messages of a rank
  };
  static Seen seen_by(const model::Machine& machine, const model::GpuTransport* way);
  ExchangeTime time(const model::MessageStages& stages, const Seen& seen) const;

  model::Machine machine_;
  mpi::Topology topology_;
  model::Arrival arrival_;
  int threads_;
  const model::GpuTransport* way_;
  Seen host_, vectors_;
};

}  // namespace nodewise::predict
