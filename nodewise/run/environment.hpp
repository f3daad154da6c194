// Where a run takes place: its ranks, nodes and processors, and the MPI library.
#pragma once

#include <string>
#include <vector>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::run {

struct Environment {
  int hosts = 0;  ///< distinct host names
  int ranks = 0;
  std::vector<int> ranks_per_node;  ///< as the plans see it
  bool placement_given = false;     ///< by the caller, not found by asking MPI
  int domains = 0;                  ///< of all nodes; one a node where they are not divided
  bool domains_wanted = false;      ///< the caller asked for nodes to be divided
  int threads = 1;                  ///< of each rank
  std::string bound_to;             ///< of this rank's threads: "cores 0-3"; empty: not bound here
  int crowd = 0;        ///< threads of all ranks on the host that has most a core; 0: none has more
  int crowd_cores = 0;  ///< of that host
  std::string processor;
  std::string mpi_library;
  std::string mpi_standard;
};

/// Whether some node has several domains.
bool has_domains(const Environment& environment);

/// Collective; one allgather of host names. What the caller gave or asked for is left at false.
Environment describe_environment(const mpi::Comm& comm);

/// Local. The first line of what the MPI library says of itself.
std::string mpi_library();
/// Local. The version of the standard, such as "3.1".
std::string mpi_standard();

}  // namespace nodewise::run
