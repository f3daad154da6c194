// The transports by name: with which means of MPI a stage's messages are carried.
#pragma once

#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

/// How the messages of a stage are carried. What arrives is the same, bit for bit.
enum class Transport {
  point_to_point,  ///< nonblocking sends and receives
  persistent,      ///< requests made once and started again while the arrays stay where they are
  neighborhood,    ///< a nonblocking neighbourhood collective
  persistent_neighborhood,  ///< the same, made once and started again; needs MPI 4
  rma,                      ///< puts into the receivers' windows, synchronised among neighbours
  shared_memory,  ///< on a node: through memory that it shares; between nodes: point_to_point
  automatic       ///< none of these yet: whoever makes an exchange must have chosen one
};

/// The name, such as "point_to_point".
const char* to_string(Transport transport);

/// Whether making and destroying an exchange over this transport, and its first run in each
/// direction, synchronise all ranks.
bool is_collective(Transport transport);

/// Collective. Throws unsupported, the same on every rank, where this MPI lacks what the transport
/// needs, or for shared_memory where the ranks that the topology puts on a node cannot share
/// memory; invalid_argument for automatic. No message for point_to_point and persistent.
void require_available(const mpi::Comm& comm, Transport transport);

}  // namespace nodewise::comm
