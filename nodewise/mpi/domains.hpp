// Finds the domain of its node that each rank runs in, with hwloc.
#pragma once

#include <vector>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi {

/// The kind of domain that a node is divided into.
enum class DomainLevel {
  numa,    ///< the cores that share a memory
  package  ///< a socket
};

/// Whether this build was made with hwloc.
bool can_find_domains();

/// Collective. Returns for every rank of `comm` the number of the domain it runs in, among those of
/// its node, as Topology::with_domains() takes it. That is the smallest domain with all cores that
/// the calling thread is bound to. A node is one domain, with 0 for all its ranks, where some rank
/// may run on the cores of several domains or the machine does not tell. Reads the topology of the
/// machine anew, in some milliseconds; one allgather. Throws invalid_argument on every rank where
/// the build was made without hwloc.
std::vector<int> find_domains(const Comm& comm, DomainLevel level);

}  // namespace nodewise::mpi
