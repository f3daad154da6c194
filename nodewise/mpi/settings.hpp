// The settings of a communicator: algorithms for operations that can be done in several ways.
#pragma once

#include <span>

#include "nodewise/base/options.hpp"

namespace nodewise::mpi {

/// The algorithm of the sparse dynamic data exchange.
enum class SparseExchange {
  automatic,              ///< chosen at each call from what all ranks know
  personalized,           ///< a reduction tells each rank how much it will receive
  nonblocking,            ///< synchronous sends and a nonblocking barrier
  rma,                    ///< one-sided; messages of one size only
  locality_personalized,  ///< one message a rank and destination node, then on the node
  locality_nonblocking    ///< the same with synchronous sends and a nonblocking barrier
};

/// The algorithm of a collective that exists node-aware and in MPI.
enum class Collective {
  automatic,  ///< by a rule that knows the placement of the ranks and the length
  mpi,        ///< MPI's own
  node_aware  ///< the ranks of a node share out the messages to other nodes
};

/// Chosen when a communicator is made, the same on every rank, and bound to it: two libraries, or
/// two solvers, in one program cannot disturb each other.
struct CommSettings {
  SparseExchange sparse_exchange = SparseExchange::automatic;
  Collective allreduce = Collective::automatic;  ///< sums, maxima and dot products too
  Collective allgather = Collective::automatic;
  Collective alltoallv = Collective::automatic;
};

/// The settings by name, for the command line and for messages.
std::span<const Field<CommSettings>> setting_fields();

}  // namespace nodewise::mpi
