// Which domain of its node each rank runs in, found with hwloc.
#pragma once

#include <vector>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi {

/// What divides a node.
enum class DomainLevel {
  numa,    ///< the cores that share a memory
  package  ///< a socket
};

/// Whether this build was made with hwloc.
bool can_find_domains();

/// Collective. For every rank of `comm` the number of the domain it runs in, among those of its
/// node, as Topology::with_domains() takes it: that of the smallest domain with all cores that the
/// calling thread is bound to. A node where this is not one domain for some rank, because that rank
/// may run on the cores of several or the machine does not tell, is one domain: all its ranks
/// have 0. Reads the topology of the machine anew, in some milliseconds; one allgather. Throws
/// invalid_argument on every rank where the build was made without hwloc.
std::vector<int> find_domains(const Comm& comm, DomainLevel level);

}  // namespace nodewise::mpi
