#include "nodewise/predict/matrix_statistics.hpp"
#include "nodewise/predict/placed_rows.hpp"
#include "nodewise/predict/predict.hpp"
#include "nodewise/predict/virtual_counts.hpp"
#include "nodewise/run/timed.hpp"

namespace nodewise::predict {

namespace {

using OptionalHierarchy = std::unique_ptr<const amg::Hierarchy<double>>;  // or null

void describe(const amg::Hierarchy<double>& hierarchy, Inspection& found) {
  found.levels.assign(hierarchy.levels().begin(), hierarchy.levels().end());
  for (std::size_t l = 0; l < found.levels.size(); ++l) {
    found.level_statistics.push_back({longest_row(*hierarchy.matrix(l))});
  }
  found.grid_complexity = hierarchy.grid_complexity();
  found.operator_complexity = hierarchy.operator_complexity();
}

/// Null where multigrid cannot treat the matrix, which the inspection then says.
OptionalHierarchy try_hierarchy(const Problem& problem, const Progress& progress,
                                Inspection& found) {
  try {
    OptionalHierarchy hierarchy = std::make_unique<const amg::Hierarchy<double>>(
        problem.A, problem.options, problem.info, progress.level);
    describe(*hierarchy, found);
    return hierarchy;
  } catch (const Error& error) {  // the same on every rank
    if (error.code() != ErrorCode::unsuitable_matrix &&
        error.code() != ErrorCode::dimension_mismatch) {
      throw;
    }
    found.no_hierarchy = error.what();
    return nullptr;
  }
}

VirtualCounts count(const Problem& problem, const OptionalHierarchy& hierarchy,
                    const VirtualMachine& machine, const Progress& progress) {
  VirtualCounts counted = hierarchy ? count_virtually(*hierarchy, machine, progress.exchange)
                                    : count_virtually(*problem.A, problem.info.virtual_starts,
                                                      machine, progress.exchange);
  counted.levels_are_exact = is_independent_of_ranks(problem.options) || counted.levels.size() == 1;
  return counted;
}

}  // namespace

Inspection inspect(const Problem& problem, const VirtualMachine* machine,
                   const Progress& progress) {
  const mpi::Comm& comm = problem.A->comm();
  if (machine != nullptr) check_one_process(comm, "counts");
  Inspection found;
  found.statistics = matrix_statistics(*problem.A);
  OptionalHierarchy hierarchy;
  Problem placed;
  found.partition_s = run::timed(comm, [&] { placed = with_placed_rows(problem, machine); });
  found.placement_gain = placed.placement_gain;
  found.reordering_gain = placed.reordering_gain;
  found.largest_rank = largest_rank(*placed.A, placed.info.virtual_starts);
  if (machine != nullptr) placed.options = with_every_route(std::move(placed.options));
  found.setup_s = run::timed(comm, [&] { hierarchy = try_hierarchy(placed, progress, found); });
  if (machine != nullptr) {
    found.count_s =
        run::timed(comm, [&] { found.counted = count(placed, hierarchy, *machine, progress); });
  }
  return found;
}

}  // namespace nodewise::predict
