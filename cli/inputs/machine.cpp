#include "cli/inputs/machine.hpp"

namespace nodewise::cli {

run::Environment describe_machine(const mpi::Comm& comm, const Settings& settings) {
  const run::PlacementOptions& placement = settings.placement;
  run::Environment machine = run::describe_environment(comm);
  machine.domains_wanted =
      placement.domains != run::DomainChoice::none || !placement.domain_map.empty();
  machine.placement_given = !placement.node_map.empty() || placement.ranks_per_node > 0;
  return machine;
}

}  // namespace nodewise::cli
