#include "nodewise/mpi/settings.hpp"

namespace nodewise::mpi {

std::span<const Field<CommSettings>> setting_fields() {
  return all_setting_fields().first(4);
}

std::span<const Field<CommSettings>> all_setting_fields() {
  static const std::vector<Field<CommSettings>> fields = {
      field("sparse_exchange", &CommSettings::sparse_exchange,
            "How ranks learn what others need of them: by a reduction, by synchronous sends, "
            "one-sided (rma, for messages of one size alone: refused for a solve), or one of the "
            "first two with one message a rank and destination node"),
      field("sparse_exchange_region", &CommSettings::sparse_exchange_region,
            "The ranks among which that joins messages: those of a node, or of a domain of it "
            "(`domains`)",
            {"node", "domain"}),
      field("allreduce", &CommSettings::allreduce,
            "How sums over all ranks are made: by MPI's own algorithm, with the ranks of a node "
            "exchanging with different nodes, by the first rank of each node for all of it, or by "
            "recursive doubling"),
      field(
          "node_mapping", &CommSettings::node_mapping,
          "Which ranks of a node handle its exchange with each other node, over route three_step"),
      field("allgather", &CommSettings::allgather, "Of MPIX_Allgather[v]"),
      field("alltoallv", &CommSettings::alltoallv, "Of MPIX_Alltoallv"),
  };
  return fields;
}

}  // namespace nodewise::mpi
