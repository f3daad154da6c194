#include "nodewise/amg/route_costs.hpp"

#include <algorithm>

#include "nodewise/model/contention.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/overlapped_cost.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

/// What each rank finds out about its part of all exchanges, stage by stage.
using Loads = std::vector<std::vector<model::RankLoad>>;

Loads loads_of(const mpi::Comm& comm, const model::Machine& machine,
               std::span<const ExchangeQuestion> questions) {
  Loads loads;
  for (const ExchangeQuestion& question : questions) {
    model::ExchangeCostOptions options;
    options.bytes_per_entry = question.bytes_per_entry;
    loads.push_back(
        model::rank_loads(*question.plan, comm.topology(), comm.rank(), machine, options));
  }
  return loads;
}

/// Collective. The most stages of any exchange on any rank.
std::size_t most_stages(const mpi::Comm& comm, const Loads& loads) {
  std::size_t most = 0;
  for (const auto& stages : loads) most = std::max(most, stages.size());
  return static_cast<std::size_t>(mpi::max(comm, static_cast<std::int64_t>(most)));
}

/// The seconds of the exchanges from those of all their stages.
std::vector<double> totals(std::span<const double> stage_s, std::size_t n_questions) {
  std::vector<double> seconds(n_questions);
  if (n_questions == 0) return seconds;
  const std::size_t n_stages = stage_s.size() / n_questions;
  for (std::size_t k = 0; k < stage_s.size(); ++k) seconds[k / n_stages] += stage_s[k];
  return seconds;
}

}  // namespace

std::vector<double> exchange_seconds(const mpi::Comm& comm, const model::Machine& machine,
                                     std::span<const ExchangeQuestion> questions) {
  Loads loads = mpi::collectively(comm, [&] { return loads_of(comm, machine, questions); });
  const std::size_t n_stages = most_stages(comm, loads);
  std::vector<double> of_node, of_all;
  for (auto& stages : loads) {
    stages.resize(n_stages);
    for (const model::RankLoad& load : stages) {
      of_node.insert(of_node.end(), {load.sent.injection_s, load.received.injection_s});
      of_all.insert(of_all.end(), {load.sent.off_node_bytes, load.byte_hops});
    }
  }
  mpi::sum_in_place(comm.node(), std::span(of_node));
  mpi::sum_in_place(comm, std::span(of_all));
  std::vector<double> stage_s;
  std::size_t k = 0;
  for (const auto& stages : loads) {
    for (const model::RankLoad& load : stages) {
      const double rank_s = model::stage_cost(machine, load, of_node[k], of_node[k + 1],
                                              model::ExchangeCostOptions().arrival)
                                .total();
      const model::NetworkLoad network = {of_all[k], of_all[k + 1], comm.topology().n_nodes()};
      stage_s.push_back(rank_s + model::contention_s(machine, network));
      k += 2;
    }
  }
  mpi::max_in_place(comm, std::span(stage_s));
  return totals(stage_s, loads.size());
}

std::vector<double> overlapped_seconds(const mpi::Comm& comm, const model::Machine& machine,
                                       std::span<const ExchangeQuestion> questions,
                                       std::span<double> most, std::size_t n_stages) {
  Loads loads = loads_of(comm, machine, questions);
  if (n_stages == 0) n_stages = most_stages(comm, loads);
  std::vector<double> of_node;
  for (auto& stages : loads) {
    stages.resize(n_stages);
    for (const model::RankLoad& load : stages) {
      of_node.insert(of_node.end(), {load.sent.off_node_messages, load.sent.injection_s,
                                     load.received.off_node_messages, load.received.injection_s});
    }
  }
  mpi::sum_in_place(comm.node(), std::span(of_node));
  std::vector<double> maxima;
  std::size_t k = 0;
  for (const auto& stages : loads) {
    for (const model::RankLoad& load : stages) {
      maxima.push_back(model::overlapped_stage_s(machine, load, {of_node[k], of_node[k + 1]},
                                                 {of_node[k + 2], of_node[k + 3]}));
      k += 4;
    }
  }
  const std::size_t n_stage_times = maxima.size();
  maxima.insert(maxima.end(), most.begin(), most.end());
  mpi::max_in_place(comm, std::span(maxima));
  std::copy(maxima.begin() + static_cast<std::ptrdiff_t>(n_stage_times), maxima.end(),
            most.begin());
  return totals(std::span(maxima).first(n_stage_times), loads.size());
}

}  // namespace nodewise::amg
