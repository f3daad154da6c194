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

}  // namespace

Division divide(const DivisionOptions& options, const PartitionTask& task) {
  Division division;
  const bool is_divided = options.partition->moves_rows || !options.is_virtual;
  division.owners = is_divided ? owners(options.partition, task) : virtual_owners(task);
  if (options.places_parts()) {
    division.placement =
        place_parts(options.placement, task.A, task.topology, options.machine, division.owners);
  }
  return division;
}

}  // namespace nodewise::partition
