#include "nodewise/model/gpu_exchange.hpp"

#include <algorithm>

namespace nodewise::model {

namespace {

using MessagesCost = ExchangeCost (*)(std::span<const comm::Plan> plans,
                                      const mpi::Topology& topology, const Machine& machine,
                                      const ExchangeCostOptions& options);

Answer<GpuExchangeCost> cost_by(const GpuTransport& way, std::span<const comm::Plan> plans,
                                const mpi::Topology& topology, const Machine& machine,
                                ExchangeCostOptions options, const GpuBytes& most,
                                MessagesCost cost_of) {
  const Answer<Machine> seen = (*way.messages)(machine);
  if (const auto* none = std::get_if<Unanswered>(&seen)) return *none;
  options.cores = (*way.cores)(machine);
  return GpuExchangeCost{copies(way, machine, most),
                         cost_of(plans, topology, std::get<Machine>(seen), options)};
}

}  // namespace

GpuBytes gpu_bytes(const comm::Plan& plan, double bytes_per_entry) {
  return {static_cast<double>(plan.exported_entries().size()) * bytes_per_entry,
          static_cast<double>(plan.n_ghosts) * bytes_per_entry};
}

GpuBytes most_bytes(std::span<const comm::Plan> plans, double bytes_per_entry) {
  GpuBytes most;
  for (const comm::Plan& plan : plans) {
    const GpuBytes bytes = gpu_bytes(plan, bytes_per_entry);
    most = {std::max(most.out, bytes.out), std::max(most.in, bytes.in)};
  }
  return most;
}

Answer<GpuExchangeCost> gpu_forward_cost(const GpuTransport& way, std::span<const comm::Plan> plans,
                                         const mpi::Topology& topology, const Machine& machine,
                                         const ExchangeCostOptions& options) {
  return cost_by(way, plans, topology, machine, options, most_bytes(plans, options.bytes_per_entry),
                 forward_cost);
}

Answer<GpuExchangeCost> gpu_reversed_cost(const GpuTransport& way,
                                          std::span<const comm::Plan> plans,
                                          const mpi::Topology& topology, const Machine& machine,
                                          const ExchangeCostOptions& options) {
  return cost_by(way, plans, topology, machine, options,
                 most_bytes(plans, options.bytes_per_entry).reversed(), reversed_cost);
}

}  // namespace nodewise::model
