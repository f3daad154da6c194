#include "nodewise/comm/transport/transport.hpp"

#include <string>

#include "nodewise/mpi/version.hpp"

namespace nodewise::comm {

const char* to_string(Transport transport) {
  switch (transport) {
    case Transport::point_to_point:
      return "point_to_point";
    case Transport::persistent:
      return "persistent";
    case Transport::neighborhood:
      return "neighborhood";
    case Transport::persistent_neighborhood:
      return "persistent_neighborhood";
    case Transport::rma:
      return "rma";
    case Transport::shared_memory:
      return "shared_memory";
    case Transport::automatic:
      return "automatic";
  }
  return "";
}

bool is_collective(Transport transport) {
  return transport != Transport::point_to_point && transport != Transport::persistent;
}

namespace {

[[noreturn]] void refuse(Transport transport, const std::string& reason) {
  throw Error(ErrorCode::unsupported,
              std::string("transport ") + to_string(transport) + ": " + reason);
}

/// Of what the library was compiled with and what it runs with, the lesser.
int standard_version() {
  int version = 0;
  int subversion = 0;
  mpi::check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
  return std::min(version, MPI_VERSION);
}

/// Whether the ranks of every node, as the topology has it, can share memory.
bool nodes_share_memory(const mpi::Comm& comm) {
  const mpi::Comm& node = comm.node();
  MPI_Comm sharing = MPI_COMM_NULL;
  mpi::check(
      MPI_Comm_split_type(node.get(), MPI_COMM_TYPE_SHARED, node.rank(), MPI_INFO_NULL, &sharing),
      "MPI_Comm_split_type");
  int size = 0;
  MPI_Comm_size(sharing, &size);
  MPI_Comm_free(&sharing);
  return mpi::min(comm, size == node.size() ? 1 : 0) == 1;
}

}  // namespace

void require_available(const mpi::Comm& comm, Transport transport) {
  if (transport == Transport::automatic) {
    throw Error(
        ErrorCode::invalid_argument,
        "transport automatic is no transport: it must be chosen before an exchange is made");
  }
  if (transport == Transport::persistent_neighborhood && standard_version() < 4) {
    refuse(transport, "needs MPI 4, which " + mpi::library_version() +
                          " is not; choose neighborhood or persistent");
  }
#ifndef NODEWISE_HAS_NEIGHBORHOOD_COLLECTIVES
  if (transport == Transport::neighborhood) {
    refuse(transport, "this MPI has no neighbourhood collectives; choose point_to_point");
  }
#endif
  if (transport == Transport::shared_memory && !nodes_share_memory(comm)) {
    refuse(transport,
           "the ranks of a node, as the topology has it, cannot share memory; choose another "
           "transport");
  }
}

}  // namespace nodewise::comm
