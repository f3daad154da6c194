// By which way the data of GPUs are exchanged on a level, by what a model says that each would
// cost.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/comm/plan.hpp"
#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::routing {

/// What an exchange would take by one way, copies among it.
struct GpuTransportPrediction {
  Choice<model::GpuTransport> transport;
  double seconds = 0;
};

/// The choice for a level, the same on every rank.
struct GpuTransportDecision {
  Choice<model::GpuTransport> chosen = model::plain_gpu_transport();
  std::vector<GpuTransportPrediction> predictions;  ///< of those that the machine tells of
  std::string reason;  ///< "predicted 41.2 us against 62.0 us one_core"
};

/// Whether a caller can go a way; the same on every rank. Empty: all of them. The plain one
/// (model::plain_gpu_transport) is always among them.
using UsableGpuTransport = std::function<bool(const model::GpuTransport& way)>;

/// Local. Of the least time; the plain one where that is among those.
GpuTransportDecision quickest_way(std::vector<GpuTransportPrediction> predictions);

/// Local. For an exchange forwards by the plans of all ranks, each with a GPU. The plain way where
/// all ranks are on one node, or the machine has no `gpu`.
GpuTransportDecision choose_gpu_transport(std::span<const comm::Plan> plans,
                                          const mpi::Topology& topology,
                                          const model::Machine& machine, double bytes_per_entry,
                                          const UsableGpuTransport& usable = {});

/// Collective. The same from each rank's own plan, at the cost of an agreement, a reduction on each
/// node and one over all ranks, and another where the machine's links make messages wait; of no
/// message where the plain way goes without saying. Throws, on every rank, invalid_argument where
/// the machine is none.
GpuTransportDecision choose_gpu_transport(const mpi::Comm& comm, const comm::Plan& plan,
                                          const model::Machine& machine, double bytes_per_entry,
                                          const UsableGpuTransport& usable = {});

}  // namespace nodewise::routing
