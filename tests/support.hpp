// What many tests share. MPI_COMM_WORLD is used here, in tests, and nowhere in the library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::test {

/// The communicator of all ranks of the test run, made once. Collective on the first call, which
/// main() makes; a test may then call it anywhere.
std::shared_ptr<const mpi::Comm> test_comm();

/// Frees what test_comm() holds; main() calls it before MPI_Finalize.
void release_test_comm();

/// A placement of ranks on nodes, as Comm::create takes it.
struct NodeMap {
  std::string name;
  std::vector<int> node_of_rank;
};

/// Local. Placements of `n_ranks` ranks to try: all on one node, one node each, consecutive ranks
/// with a last node only partly filled, round robin, uneven with gaps in the numbers of the nodes,
/// and shuffled. Some coincide for few ranks; those are left out.
std::vector<NodeMap> node_maps(int n_ranks);

}  // namespace nodewise::test
