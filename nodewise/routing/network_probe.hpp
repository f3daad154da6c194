// A short look at the network: what a choice of routes needs to know where no machine file is
// given.
#pragma once

#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::routing {

/// Collective. The costs of messages on a node and between nodes, measured at the first call for a
/// communicator and remembered with it; the same on every rank, bit for bit. Up to four ranks of
/// each of the two fullest nodes exchange a few short and long messages: eight messages one
/// after the other between nodes, five on a node, and one reduction. The machine has latencies
/// and rates of two localities, the limit of injection, and the overheads that
/// model::overlapped_stage_s() takes. There must be more than one node.
const model::Machine& probe_network(const mpi::Comm& comm);

/// Local. Returns the earlier measurement of the network, or null: the same on every rank.
const model::Machine* probed_network(const mpi::Comm& comm);

/// Local, to be called by all ranks alike. From here on `automatic` sparse exchanges of the
/// communicator are chosen by this machine; probe_network() does so with what it saw.
void weigh_sparse_exchanges(const mpi::Comm& comm, const model::Machine& machine);

}  // namespace nodewise::routing
