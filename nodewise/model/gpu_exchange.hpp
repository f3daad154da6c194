// What an exchange costs whose data lie on GPUs: that of model/exchange_cost, over any route, with
// the messages and the copies of a way.
#pragma once

#include <span>

#include "nodewise/base/answer.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/gpu_transport.hpp"

namespace nodewise::model {

/// Seconds of an exchange.
struct GpuExchangeCost {
  GpuCopies copies;  ///< of the ranks that copy most
  ExchangeCost messages;

  double total() const { return copies.total() + messages.total(); }
};

/// Local. What a plan's rank copies in a forward run: what it exports, each entry once, and its
/// ghosts, over whatever route. What it passes on for others does not reach its GPU.
GpuBytes gpu_bytes(const comm::Plan& plan, double bytes_per_entry);
/// Local. The largest of each over the ranks.
GpuBytes most_bytes(std::span<const comm::Plan> plans, double bytes_per_entry);

/// Local. The plans of all ranks, each with a GPU (comm::virtual_plans), run forwards: copies to
/// where messages leave from, all stages of messages, copies back. Options say nothing of cores:
/// the way does. Unanswered as GpuTransport::messages is.
Answer<GpuExchangeCost> gpu_forward_cost(const GpuTransport& way, std::span<const comm::Plan> plans,
                                         const mpi::Topology& topology, const Machine& machine,
                                         const ExchangeCostOptions& options = {});
/// Local. Run reversed, with addition.
Answer<GpuExchangeCost> gpu_reversed_cost(const GpuTransport& way,
                                          std::span<const comm::Plan> plans,
                                          const mpi::Topology& topology, const Machine& machine,
                                          const ExchangeCostOptions& options = {});

}  // namespace nodewise::model
