// What exchanges cost by a model, found by all ranks together, each from its own plans.
#pragma once

#include <span>
#include <vector>

#include "nodewise/comm/plan.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::amg {

/// A plan, and the bytes that each of its entries is to have.
struct ExchangeQuestion {
  const comm::Plan* plan = nullptr;
  double bytes_per_entry = 0;
};

/// Collective. The seconds of each exchange, which model::forward_cost() would say of the plans of
/// all ranks, the same bit for bit everywhere. An agreement, three reductions over all ranks and
/// one over each node.
std::vector<double> exchange_seconds(const mpi::Comm& comm, const model::Machine& machine,
                                     std::span<const ExchangeQuestion> questions);

/// Collective. Likewise where the messages of a rank overlap, by model::overlapped_stage_s(). The
/// numbers `most` become their maxima over the ranks by the way. With n_stages, which no plan may
/// exceed, one reduction over all ranks and one over each node; 0 costs another to find it out.
std::vector<double> overlapped_seconds(const mpi::Comm& comm, const model::Machine& machine,
                                       std::span<const ExchangeQuestion> questions,
                                       std::span<double> most, std::size_t n_stages = 0);

}  // namespace nodewise::amg
