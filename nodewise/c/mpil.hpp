// The objects behind nodewise_mpil.h, and the algorithms that its switches name.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nodewise/c/nodewise_mpil.h"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::c {

/// Whom this process hears from and sends to, in the caller's order.
struct Neighbours {
  std::vector<int> sources;
  std::vector<int> destinations;
};

class NeighbourExchange;

/// Throws with MPI_ERR_COMM, on this process, where there is no communicator to agree on.
const mpi::Comm& comm_of(const MPIL_Comm* xcomm);

/// The algorithms that are set. Of a value that is none, written to the variable, the default.
Choice<mpi::AlltoallvMethod> alltoall_algorithm();
Choice<mpi::AlltoallvMethod> alltoallv_algorithm();
Choice<mpi::AllreduceMethod> allreduce_algorithm();
Choice<mpi::AllgatherMethod> allgather_algorithm();
mpi::SparseExchange alltoall_crs_algorithm();
mpi::SparseExchange alltoallv_crs_algorithm();

}  // namespace nodewise::c

struct MPIL_Comm {
  std::shared_ptr<const nodewise::mpi::Comm> comm;
  std::optional<nodewise::c::Neighbours> neighbours = {};
  int next_tag = 0;
};

struct MPIL_Info {};

struct MPIL_Topo {
  nodewise::c::Neighbours neighbours;
};

struct MPIL_Request {
  std::unique_ptr<nodewise::c::NeighbourExchange> exchange;
};
