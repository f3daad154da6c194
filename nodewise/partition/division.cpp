#include "nodewise/partition/division.hpp"

#include "nodewise/comm/points.hpp"

namespace nodewise::partition {

namespace {

/// Virtual ranks have successive rows where no partition says otherwise.
std::vector<int> virtual_owners(const PartitionTask& task) {
  const std::vector<GlobalIndex> starts =
      comm::uniform_point_starts(task.A.rows().n_global(), task.topology.n_ranks(), task.unknowns);
  std::vector<int> owners;
  for (int rank = 0; rank < task.topology.n_ranks(); ++rank) {
    owners.resize(static_cast<std::size_t>(starts[static_cast<std::size_t>(rank) + 1]), rank);
  }
  return owners;
}

/// Where the rows are.
std::vector<int> owners_now(const DivisionOptions& options, const PartitionTask& task) {
  return options.is_virtual ? virtual_owners(task) : owners("none", task);
}

}  // namespace

Division divide(const DivisionOptions& options, const PartitionTask& given) {
  Division division;
  if (options.is_plain()) return division;
  PartitionTask task = given;
  task.equal_rows = options.balance == Balance::rows;
  Partition chosen = options.partition;
  if (chosen.is_automatic()) {
    division.decision = decide_partition(task, owners_now(options, task),
                                         {options.machine, options.products, options.by_node});
    chosen = Partition(division.decision->chosen);
  }
  if (!chosen->moves_rows && options.balance != Balance::automatic) chosen = "contiguous";
  division.moves_rows = chosen->moves_rows || options.places_parts();
  if (!division.moves_rows) return division;
  division.owners = chosen->moves_rows ? owners(chosen, task) : owners_now(options, task);
  if (options.places_parts()) {
    division.placement =
        place_parts(options.placement, task.A, task.topology, options.machine, division.owners);
  }
  return division;
}

}  // namespace nodewise::partition
