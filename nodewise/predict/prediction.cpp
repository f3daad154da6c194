#include "nodewise/predict/prediction.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nodewise/amg/messages/copy_messages.hpp"
#include "nodewise/amg/messages/setup_messages.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/model/cost_term.hpp"
#include "nodewise/model/message_recorder.hpp"
#include "nodewise/predict/collective_messages.hpp"
#include "nodewise/predict/cycle_work.hpp"

namespace nodewise::predict {

namespace {

using model::MessageStages;
using Starts = std::span<const GlobalIndex>;

constexpr auto number_bytes = static_cast<std::int64_t>(sizeof(double));
/// Row, column and value of an entry, as the coarse solver gathers them.
constexpr std::int64_t entry_bytes = 3 * number_bytes;

/// The bytes of a value as the cycle sends it; the setup is in double precision.
std::int64_t value_bytes(const amg::Hierarchy<double>& hierarchy, std::size_t level) {
  const bool is_single_precision = hierarchy.levels()[level].is_single_precision;
  return static_cast<std::int64_t>(is_single_precision ? sizeof(float) : sizeof(double));
}

/// What a setup sends is known of each level but the last; of that nobody asks. A restriction is a
/// product of its own, or one with the interpolation transposed.
MessageStages messages_of(const VirtualExchange& exchange, const VirtualMachine& machine,
                          std::span<const amg::LevelSetup> setups, std::int64_t bytes_of_value,
                          Exchanged what) {
  model::MessageRecorder recorder(static_cast<int>(exchange.plans.size()));
  const mpi::Topology& topology = machine.topology;
  const auto& plans = exchange.setup_plans.empty() ? exchange.plans : exchange.setup_plans;
  const amg::VirtualPlans planned = {plans, topology, machine.routes[exchange.route]};
  switch (what) {
    case Exchanged::product:
    case Exchanged::prolongation:
      break;
    case Exchanged::restriction:
      if (exchange.operation == CountedExchange::restriction && !exchange.is_reversed) break;
      comm::visit_reversed_messages(exchange.plans, topology, recorder.visitor(bytes_of_value));
      return recorder.take();
    case Exchanged::splitting:
      return setups[exchange.level].splitting(planned);
    case Exchanged::spectral_radius:
      return setups[exchange.level].spectral_radius(planned);
    case Exchanged::row_scales:
      return setups[exchange.level].row_scales(planned);
    case Exchanged::interpolation:
      return setups[exchange.level].interpolation(planned);
    case Exchanged::interpolation_rows:
      return setups[exchange.level].interpolation_rows(planned);
    case Exchanged::product_rows:
      return setups[exchange.level].product_rows(planned);
    case Exchanged::requests:
      return setups[exchange.level].requests(planned.route, topology);
    case Exchanged::redistribution:
      return setups[exchange.level].redistribution(topology);
  }
  comm::visit_messages(exchange.plans, topology, recorder.visitor(bytes_of_value));
  return recorder.take();
}

/// The exchanges of a level's operation in a cycle, in the words of the report. `is_one_way` where
/// the restriction has plans of its own.
std::vector<Exchanged> exchanged_in_cycle(CountedExchange operation, bool is_one_way) {
  switch (operation) {
    case CountedExchange::product:
      return {Exchanged::product};
    case CountedExchange::interpolation:
      if (is_one_way) return {Exchanged::prolongation};
      return {Exchanged::restriction, Exchanged::prolongation};
    case CountedExchange::restriction:
      return {Exchanged::restriction};
    case CountedExchange::interpolation_rows:
      break;
  }
  return {};
}

/// Likewise in the setup, over the same plans.
std::vector<Exchanged> exchanged_in_setup(CountedExchange operation, bool has_restriction) {
  switch (operation) {
    case CountedExchange::interpolation_rows:
      return {Exchanged::splitting, Exchanged::spectral_radius, Exchanged::row_scales,
              Exchanged::interpolation, Exchanged::interpolation_rows};
    case CountedExchange::interpolation:
      if (has_restriction) return {Exchanged::requests, Exchanged::redistribution};
      return {Exchanged::product_rows, Exchanged::requests, Exchanged::redistribution};
    case CountedExchange::restriction:
      if (!has_restriction) return {};
      return {Exchanged::product_rows};
    case CountedExchange::product:
      break;
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
  level.copies = hierarchy.levels()[l].copies;
  level.redistribution_choice = hierarchy.levels()[l].redistribution_choice;
  level.sparsity_choice = hierarchy.levels()[l].sparsity_choice;
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

/// Returns the times of gathering so many bytes of every rank.
std::vector<ExchangeTime> gathering_times(const std::vector<std::int64_t>& bytes,
                                          const mpi::Topology& topology,
                                          const ExchangeTimer& costs) {
  return {costs.time(bruck_allgather(bytes)), costs.time(node_aware_allgather(topology, bytes))};
}

/// The last level, solved directly: its right-hand side in a cycle, its matrix in the setup.
/// `is_alone` where nobody else waits for the rank that has it, or every copy is complete.
void add_gathering(const amg::Hierarchy<double>& hierarchy, const mpi::Topology& topology,
                   const ExchangeTimer& costs, bool with_setup, bool is_alone,
                   PredictedLevel& last) {
  if (is_alone) {
    last.gathering = std::vector<ExchangeTime>(2, costs.time({}));
    if (with_setup) last.matrix_gathering = last.gathering;
    return;
  }
  const std::size_t l = hierarchy.levels().size() - 1;
  const Starts rows = hierarchy.virtual_starts(l);
  const auto& row_ptr = hierarchy.matrix(l)->on().row_ptr;
  std::vector<std::int64_t> of_vector, of_matrix;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    of_vector.push_back(value_bytes(hierarchy, l) * (rows[r + 1] - rows[r]));
    const Offset entries =
        row_ptr[static_cast<std::size_t>(rows[r + 1])] - row_ptr[static_cast<std::size_t>(rows[r])];
    of_matrix.push_back(entry_bytes * (entries + rows[r + 1] - rows[r]));  // sizes of rows, too
  }
  last.gathering = gathering_times(of_vector, topology, costs);
  if (with_setup) last.matrix_gathering = gathering_times(of_matrix, topology, costs);
}

std::vector<ExchangeTime> allreduce_times(const mpi::Topology& topology,
                                          const ExchangeTimer& costs) {
  const auto as_measured = [&](const MessageStages& stages, model::AllreduceAlgorithm algorithm) {
    return ExchangeTimer::scaled(costs.time(stages),
                                 model::allreduce_scale(costs.machine(), algorithm, number_bytes));
  };
  return {as_measured(recursive_doubling(topology.n_ranks(), number_bytes),
                      model::AllreduceAlgorithm::recursive_doubling),
          as_measured(node_aware_allreduce(topology, number_bytes),
                      model::AllreduceAlgorithm::node_aware)};
}

/// Adds how often a setup reduces: as often as on one rank.
void add_reductions(std::span<const mpi::Account> books, Prediction& prediction) {
  for (const mpi::Account& account : books) {
    if (account.level == mpi::no_level) {
      prediction.setup_reductions += account.counts.collectives;
    } else {
      prediction.levels.at(static_cast<std::size_t>(account.level)).setup_reductions +=
          account.counts.collectives;
    }
  }
  PredictedLevel& last = prediction.levels.back();
  if (!last.matrix_gathering.empty() && last.setup_reductions > 0) --last.setup_reductions;
}

/// Adds the reductions of moving levels, which one rank does not make: an agreement and a sum of
/// what is known of a level, and making its group of ranks; with copies those of the matrices that
/// lead to them, and of what is known; at the end what all are told.
void add_moves(std::span<const amg::LevelSetup> setups, Prediction& prediction) {
  constexpr std::int64_t of_a_level = 3, of_copies = 7, of_all = 4;
  bool some_moved = false;
  for (std::size_t l = 0; l < setups.size(); ++l) {
    if (setups[l].is_copied()) prediction.levels[l].setup_reductions += of_copies;
    if (!setups[l].is_moved()) continue;
    prediction.levels[l].setup_reductions += of_a_level;
    some_moved = true;
  }
  if (some_moved) prediction.setup_reductions += of_all;
}

/// The operations of levels that LevelSetup does not know.
std::vector<std::string> left_out_of_setup(std::span<const amg::LevelSetup> setups,
                                           const amg::Options& options) {
  std::vector<std::string> operations;
  if (setups.empty()) return operations;
  if (setups.front().leaves_restriction_out()) operations.emplace_back("restriction_setup");
  if (options.sparsification->drops_entries) operations.emplace_back("sparsification");
  return operations;
}

/// Every level but the last, with its rounds in the prediction.
std::vector<amg::LevelSetup> level_setups(const VirtualSetup& setup, Prediction& prediction) {
  std::vector<amg::LevelSetup> setups;
  for (std::size_t l = 0; l + 1 < prediction.levels.size(); ++l) {
    setups.emplace_back(setup.hierarchy, l, setup.options, setup.symmetric, setup.books);
    prediction.levels[l].splitting_rounds = setups.back().rounds();
  }
  return setups;
}

/// Without times.
std::vector<PredictedLevel> levels_of(const VirtualSetup& setup, bool direct_last,
                                      const ExchangeTimer& costs) {
  const amg::Hierarchy<double>& hierarchy = setup.hierarchy;
  const std::size_t n_levels = hierarchy.levels().size();
  const std::vector<Visits> visits =
      work_of_cycle(setup.options, setup.symmetric, n_levels, direct_last);
  std::vector<PredictedLevel> levels;
  for (std::size_t l = 0; l < n_levels; ++l) {
    PredictedLevel level = sizes_of(hierarchy, l);
    level.visits = visits[l];
    level.work_s =
        costs.work_s(l, static_cast<double>(level.most_nonzeros), flops_of(hierarchy, l, level));
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace

Prediction predict(const VirtualSetup& setup, const VirtualMachine& machine,
                   const ExchangeTimer& costs, const CountObserver& observe, bool with_setup) {
  const amg::Hierarchy<double>& hierarchy = setup.hierarchy;
  const bool direct_last = is_direct(hierarchy.levels().back());
  Prediction prediction;
  prediction.routes = machine.routes;
  prediction.threads_per_rank = costs.threads();
  for (int node = 0; node < machine.topology.n_nodes(); ++node) {
    prediction.ranks_per_node.push_back(static_cast<int>(machine.topology.ranks_on(node).size()));
  }
  for (const model::CostTerm& term : model::CostTerm::family()) {
    if (term.is_charged(costs.machine())) prediction.terms.push_back(&term);
  }
  for (const model::EventScenario& s : costs.scenarios()) prediction.scenarios.push_back(s.name);
  prediction.levels = levels_of(setup, direct_last, costs);
  std::vector<amg::LevelSetup> setups;
  if (with_setup) {
    setups = level_setups(setup, prediction);
    prediction.left_out_of_setup = left_out_of_setup(setups, setup.options);
  }
  const auto add_times = [&](const VirtualExchange& exchange) {
    const bool has_restriction = hierarchy.restriction(exchange.level) != nullptr;
    const bool is_one_way = has_restriction || amg::is_copied_below(hierarchy, exchange.level);
    std::vector<Exchanged> all = exchanged_in_cycle(exchange.operation, is_one_way);
    if (with_setup) {
      const auto more = exchanged_in_setup(exchange.operation, has_restriction);
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const Exchanged what : all) {
      prediction.levels[exchange.level].times[static_cast<std::size_t>(what)].push_back(costs.time(
          messages_of(exchange, machine, setups, value_bytes(hierarchy, exchange.level), what)));
    }
  };
  visit_exchanges(hierarchy, machine, add_times, observe);
  if (direct_last) {
    PredictedLevel& last = prediction.levels.back();
    const bool is_alone = setup.options.redistribution->moves_rows && last.active_ranks == 1;
    add_gathering(hierarchy, machine.topology, costs, with_setup, is_alone, last);
  }
  if (with_setup) {
    add_reductions(setup.books, prediction);
    add_moves(setups, prediction);
  }
  prediction.allreduce = allreduce_times(machine.topology, costs);
  prediction.levels_are_exact =
      is_independent_of_ranks(setup.options) || prediction.levels.size() == 1;
  return prediction;
}

}  // namespace nodewise::predict
