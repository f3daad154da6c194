// What a machine says of joining the messages of a sparse data exchange.
#pragma once

#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::model {

/// Local. The costs by which comm::choose_sparse_exchange() weighs: a short message to another
/// node, for the rank and where the machine's gap is known for the card that the ranks of the
/// fullest region share; the step in the largest region, a reduction and a message to every other
/// rank; and a byte copied and passed on there. Messages follow each other as message_costs() of
/// the machine has it: where overheads are known, more messages cost these, else a latency each.
mpi::SparseCosts sparse_costs(const Machine& machine, const mpi::Topology& regions,
                              mpi::Region region);

}  // namespace nodewise::model
