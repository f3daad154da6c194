#include "nodewise/mpi/settings.hpp"

namespace nodewise::mpi {

std::span<const Field<CommSettings>> setting_fields() {
  static const std::vector<Field<CommSettings>> fields = {
      field("sparse_exchange", &CommSettings::sparse_exchange,
            "How ranks learn what others need of them: by a reduction, by synchronous sends, "
            "one-sided, or one of the first two with one message a rank and destination node",
            std::vector<std::string>{"automatic", "personalized", "nonblocking", "rma",
                                     "locality_personalized", "locality_nonblocking"}),
      field("allreduce", &CommSettings::allreduce,
            "How sums over all ranks are made: by MPI's own algorithm, or with the ranks of a node "
            "exchanging with different nodes",
            std::vector<std::string>{"automatic", "mpi", "node_aware"}),
      field("allgather", &CommSettings::allgather,
            "How every rank gets the blocks of all: by MPI's own algorithm, or each block once to "
            "each node",
            std::vector<std::string>{"automatic", "mpi", "node_aware"}),
      field("alltoallv", &CommSettings::alltoallv,
            "How every rank sends to every other: by MPI's own algorithm, or all that two nodes "
            "have for each other at once",
            std::vector<std::string>{"automatic", "mpi", "node_aware"}),
  };
  return fields;
}

}  // namespace nodewise::mpi
