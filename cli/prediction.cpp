#include "cli/prediction.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/model/message_recorder.hpp"

#include "cli/collective_messages.hpp"
#include "cli/cycle_visits.hpp"

namespace nodewise::cli {

namespace {

using model::MessageStages;
using Starts = std::span<const GlobalIndex>;

constexpr auto number_bytes = static_cast<std::int64_t>(sizeof(double));
constexpr auto length_bytes = static_cast<std::int64_t>(sizeof(Offset));
constexpr auto row_entry_bytes = static_cast<std::int64_t>(sizeof(matrix::RowEntry<double>));

/// A restriction is a product of its own, or one with the interpolation transposed.
MessageStages messages_of(const VirtualExchange& exchange, const mpi::Topology& topology,
                          Exchanged what) {
  model::MessageRecorder recorder(static_cast<int>(exchange.plans.size()));
  switch (what) {
    case Exchanged::product:
    case Exchanged::prolongation:
      comm::visit_messages(exchange.plans, topology, recorder.visitor(number_bytes));
      break;
    case Exchanged::restriction:
      if (exchange.operation == Operation::restriction) {
        comm::visit_messages(exchange.plans, topology, recorder.visitor(number_bytes));
        break;
      }
      comm::visit_reversed_messages(exchange.plans, topology, recorder.visitor(number_bytes));
      break;
    case Exchanged::interpolation_rows:  // the lengths of all, then the rows
      comm::visit_messages(exchange.plans, topology, recorder.visitor(length_bytes));
      comm::visit_record_messages(exchange.plans, topology, exchange.rows,
                                  recorder.visitor(row_entry_bytes));
      break;
  }
  return recorder.take();
}

/// What an operation of a level exchanges, in the words of the report.
std::vector<Exchanged> exchanged_by(Operation operation, bool has_restriction) {
  switch (operation) {
    case Operation::product:
      return {Exchanged::product};
    case Operation::interpolation:
      if (has_restriction) return {Exchanged::prolongation};
      return {Exchanged::restriction, Exchanged::prolongation};
    case Operation::interpolation_rows:
      return {Exchanged::interpolation_rows};
    case Operation::restriction:
      return {Exchanged::restriction};
  }
  return {};
}

GlobalIndex most_nonzeros(const Matrix& A, Starts rows) {
  GlobalIndex most = 0;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const auto& row_ptr = A.on().row_ptr;
    most = std::max<GlobalIndex>(most, row_ptr[static_cast<std::size_t>(rows[r + 1])] -
                                           row_ptr[static_cast<std::size_t>(rows[r])]);
  }
  return most;
}

PredictedLevel sizes_of(const amg::Hierarchy<double>& hierarchy, std::size_t l) {
  const Starts rows = hierarchy.virtual_starts(l);
  PredictedLevel level;
  level.rows = hierarchy.levels()[l].rows;
  level.nonzeros = hierarchy.levels()[l].nonzeros;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const GlobalIndex n = rows[r + 1] - rows[r];
    level.active_ranks += n > 0 ? 1 : 0;
    level.most_rows = std::max(level.most_rows, n);
  }
  level.most_nonzeros = most_nonzeros(*hierarchy.matrix(l), rows);
  return level;
}

bool is_direct(const amg::LevelInfo& last) {
  return last.coarse_solver.starts_with("direct");
}

/// Two operations for each nonzero of a pass.
double flops_of(const amg::Hierarchy<double>& hierarchy, std::size_t l,
                const PredictedLevel& level) {
  double flops = 2 * level.visits.passes * static_cast<double>(level.most_nonzeros);
  if (const Matrix* P = hierarchy.interpolation(l)) {
    const Matrix* R = hierarchy.restriction(l);
    const GlobalIndex to = most_nonzeros(*P, hierarchy.virtual_starts(l));
    const GlobalIndex from = R ? most_nonzeros(*R, hierarchy.virtual_starts(l + 1)) : to;
    flops += 2 * level.visits.transfers * static_cast<double>(to + from);
  }
  // The inverse is dense.
  return flops + 2 * level.visits.solves * static_cast<double>(level.most_rows) *
                     static_cast<double>(level.rows);
}

std::vector<ExchangeTime> gathering_times(Starts rows, const mpi::Topology& topology,
                                          const ExchangeTimer& costs) {
  std::vector<std::int64_t> bytes;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    bytes.push_back(number_bytes * (rows[r + 1] - rows[r]));
  }
  return {costs.time(bruck_allgather(bytes)), costs.time(node_aware_allgather(topology, bytes))};
}

std::vector<ExchangeTime> allreduce_times(const mpi::Topology& topology,
                                          const ExchangeTimer& costs) {
  return {costs.time(recursive_doubling(topology.n_ranks(), number_bytes)),
          costs.time(node_aware_allreduce(topology, number_bytes))};
}

}  // namespace

Prediction predict(const amg::Hierarchy<double>& hierarchy, bool symmetric,
                   const amg::Options& options, const VirtualMachine& machine,
                   const ExchangeTimer& costs, const CountObserver& observe) {
  const std::size_t n_levels = hierarchy.levels().size();
  const bool direct_last = is_direct(hierarchy.levels().back());
  const std::vector<Visits> visits = visits_of_cycle(options, symmetric, n_levels, direct_last);
  Prediction prediction;
  prediction.routes = machine.routes;
  for (int node = 0; node < machine.topology.n_nodes(); ++node) {
    prediction.ranks_per_node.push_back(static_cast<int>(machine.topology.ranks_on(node).size()));
  }
  for (const model::EventScenario& s : costs.scenarios()) prediction.scenarios.push_back(s.name);
  for (std::size_t l = 0; l < n_levels; ++l) {
    PredictedLevel level = sizes_of(hierarchy, l);
    level.visits = visits[l];
    level.work_s =
        costs.work_s(l, static_cast<double>(level.most_nonzeros), flops_of(hierarchy, l, level));
    prediction.levels.push_back(std::move(level));
  }
  const auto add_times = [&](const VirtualExchange& exchange) {
    const bool has_restriction = hierarchy.restriction(exchange.level) != nullptr;
    for (const Exchanged what : exchanged_by(exchange.operation, has_restriction)) {
      prediction.levels[exchange.level].times[static_cast<std::size_t>(what)].push_back(
          costs.time(messages_of(exchange, machine.topology, what)));
    }
  };
  visit_exchanges(hierarchy, machine, add_times, observe);
  if (direct_last) {
    prediction.levels.back().gathering =
        gathering_times(hierarchy.virtual_starts(n_levels - 1), machine.topology, costs);
  }
  prediction.allreduce = allreduce_times(machine.topology, costs);
  prediction.levels_are_exact = is_independent_of_ranks(options) || n_levels == 1;
  return prediction;
}

}  // namespace nodewise::cli
