#include "nodewise/predict/prediction.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nodewise/amg/messages/copy_messages.hpp"
#include "nodewise/amg/messages/setup_messages.hpp"
#include "nodewise/model/allreduce_cost.hpp"
#include "nodewise/model/cost_term.hpp"
#include "nodewise/predict/collective_messages.hpp"
#include "nodewise/predict/cycle_work.hpp"
#include "nodewise/predict/galerkin_work.hpp"
#include "nodewise/predict/level_messages.hpp"

namespace nodewise::predict {

namespace {

using model::MessageStages;
using Starts = std::span<const GlobalIndex>;

constexpr auto number_bytes = static_cast<std::int64_t>(sizeof(double));
/// Row, column and value of an entry, as the coarse solver gathers them.
constexpr std::int64_t entry_bytes = 3 * number_bytes;

GlobalIndex most_nonzeros(const Matrix& A, Starts rows) {
  GlobalIndex most = 0;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const auto& row_ptr = A.on().row_ptr;
    most = std::max<GlobalIndex>(most, row_ptr[static_cast<std::size_t>(rows[r + 1])] -
                                           row_ptr[static_cast<std::size_t>(rows[r])]);
  }
  return most;
}

/// Of the nonzeros of the rank with most of them, those in its own columns.
double own_part(const Matrix& A, Starts rows) {
  const kernels::Csr<double>& entries = A.on();
  GlobalIndex most = 0, own = 0;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const auto first = entries.cols.begin() + entries.row_ptr[static_cast<std::size_t>(rows[r])];
    const auto last = entries.cols.begin() + entries.row_ptr[static_cast<std::size_t>(rows[r + 1])];
    if (last - first <= most) continue;
    most = last - first;
    own = std::count_if(
        first, last, [&](LocalIndex column) { return column >= rows[r] && column < rows[r + 1]; });
  }
  return most > 0 ? static_cast<double>(own) / static_cast<double>(most) : 1;
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
  const std::shared_ptr<const Matrix> A = hierarchy.matrix(l);
  level.most_nonzeros = most_nonzeros(*A, rows);
  level.own_part = own_part(*A, rows);
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

/// Of the product that makes the next level, if there is one.
double galerkin_flops_of(const amg::Hierarchy<double>& hierarchy, std::size_t l) {
  const Matrix* P = hierarchy.interpolation(l);
  if (P == nullptr) return 0;
  return galerkin_flops(hierarchy.matrix(l)->on(), P->on(), hierarchy.virtual_starts(l));
}

/// Returns the times of gathering so many bytes of every rank, a part of a vector or not.
std::vector<ExchangeTime> gathering_times(const std::vector<std::int64_t>& bytes,
                                          const mpi::Topology& topology, const ExchangeTimer& costs,
                                          bool is_vector) {
  const auto most = static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
  const model::GpuBytes copied = is_vector ? model::GpuBytes{most, most} : model::GpuBytes{};
  return {costs.time_on_host(bruck_allgather(bytes), copied),
          costs.time_on_host(node_aware_allgather(topology, bytes), copied)};
}

/// The last level, solved directly: its right-hand side in a cycle, its matrix in the setup.
/// `is_alone` where nobody else waits for the rank that has it, or every copy is complete.
void add_gathering(const amg::Hierarchy<double>& hierarchy, const mpi::Topology& topology,
                   const ExchangeTimer& costs, bool of_setup, bool is_alone, PredictedLevel& last) {
  if (is_alone) {
    last.gathering = std::vector<ExchangeTime>(2, costs.time({}));
    if (of_setup) last.matrix_gathering = last.gathering;
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
  last.gathering = gathering_times(of_vector, topology, costs, true);
  if (of_setup) last.matrix_gathering = gathering_times(of_matrix, topology, costs, false);
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
    level.galerkin_flops = galerkin_flops_of(hierarchy, l);
    level.setup_work_s =
        costs.work_s(l, static_cast<double>(level.most_nonzeros), level.galerkin_flops);
    level.slowdown_beside = costs.slowdown_beside(l, static_cast<double>(level.most_nonzeros));
    levels.push_back(std::move(level));
  }
  return levels;
}

/// Without times of exchanges.
Prediction begin_prediction(const VirtualSetup& setup, const VirtualMachine& machine,
                            const ExchangeTimer& costs, bool direct_last) {
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
  prediction.allreduce = allreduce_times(machine.topology, costs);
  prediction.levels_are_exact =
      is_independent_of_ranks(setup.options) || prediction.levels.size() == 1;
  return prediction;
}

/// Whether the restriction of a level has plans of its own.
bool is_one_way(const amg::Hierarchy<double>& hierarchy, std::size_t level) {
  return hierarchy.restriction(level) != nullptr || amg::is_copied_below(hierarchy, level);
}

/// Predictions by several costs, of the same exchanges.
struct Predictions {
  const VirtualSetup& setup;
  const VirtualMachine& machine;
  std::span<const ExchangeTimer> costs;
  std::vector<amg::LevelSetup> setups = {};
  std::vector<Prediction> all = {};  ///< one by each of the costs
};

void add_times(const VirtualExchange& exchange, Predictions& p) {
  const amg::Hierarchy<double>& hierarchy = p.setup.hierarchy;
  const std::int64_t bytes = value_bytes(hierarchy, exchange.level);
  const auto times = [&](std::size_t k, Exchanged what) -> std::vector<ExchangeTime>& {
    return p.all[k].levels[exchange.level].times[static_cast<std::size_t>(what)];
  };
  for (const Exchanged what :
       exchanged_in_cycle(exchange.operation, is_one_way(hierarchy, exchange.level))) {
    const MessageStages stages = messages_of(exchange, p.machine, p.setups, bytes, what);
    const model::GpuBytes copied = most_copied(exchange, bytes, what);
    for (std::size_t k = 0; k < p.costs.size(); ++k) {
      times(k, what).push_back(p.costs[k].time_of_vectors(stages, copied));
      if (what != Exchanged::product) continue;
      p.all[k].levels[exchange.level].hidden_by_mpi.push_back(p.costs[k].hidden_by_mpi(stages));
    }
  }
  const bool has_restriction = hierarchy.restriction(exchange.level) != nullptr;
  for (const Exchanged what : exchanged_in_setup(exchange.operation, has_restriction)) {
    times(0, what).push_back(
        p.costs[0].time(messages_of(exchange, p.machine, p.setups, bytes, what)));
  }
}

}  // namespace

std::vector<Prediction> predict(const VirtualSetup& setup, const VirtualMachine& machine,
                                std::span<const ExchangeTimer> costs,
                                const CountObserver& observe) {
  const amg::Hierarchy<double>& hierarchy = setup.hierarchy;
  const bool direct_last = is_direct(hierarchy.levels().back());
  Predictions p = {setup, machine, costs};
  for (const ExchangeTimer& timer : costs) {
    p.all.push_back(begin_prediction(setup, machine, timer, direct_last));
  }
  p.setups = level_setups(setup, p.all.front());
  p.all.front().left_out_of_setup = left_out_of_setup(p.setups, setup.options);
  visit_exchanges(
      hierarchy, machine, [&](const VirtualExchange& exchange) { add_times(exchange, p); },
      observe);
  for (std::size_t k = 0; direct_last && k < costs.size(); ++k) {
    PredictedLevel& last = p.all[k].levels.back();
    const bool is_alone = setup.options.redistribution->moves_rows && last.active_ranks == 1;
    add_gathering(hierarchy, machine.topology, costs[k], k == 0, is_alone, last);
  }
  add_reductions(setup.books, p.all.front());
  add_moves(p.setups, p.all.front());
  return std::move(p.all);
}

}  // namespace nodewise::predict
