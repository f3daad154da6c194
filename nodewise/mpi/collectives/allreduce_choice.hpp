// Which algorithm an allreduce takes.
#pragma once

#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/mpi/settings.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::mpi::collectives {

/// The longest vector, in bytes, that `automatic` does not leave to MPI's own algorithm. By the
/// algorithms here every message has the whole vector; MPI's own halves long ones.
constexpr Offset automatic_allreduce_bytes = 8192;

/// A schedule, and the longest vector in bytes that it is for.
struct AllreduceRange {
  const AllreduceMethod* method;
  Offset longest;
};

/// Local; a pure function, the same on every rank, of O(nodes + ranks of a node) time. What brings
/// vectors up to which length, the shortest first; longer ones go by MPI's own algorithm. Empty
/// where that is set. `automatic` wants several nodes and a node of several ranks: otherwise there
/// is nothing to share out, and MPI's own is no worse. There node_aware has fewer waits for the
/// network, but all vectors of a node's ranks, and of the nodes met, come to every rank;
/// node_leaders take over where longest_shared_out() says that this outweighs the waits.
std::vector<AllreduceRange> allreduce_ranges(const Choice<AllreduceMethod>& setting,
                                             const Topology& topology);

/// Local. What is taken of these for so many bytes.
const AllreduceMethod& chosen_allreduce(const Choice<AllreduceMethod>& setting,
                                        const Topology& topology, Offset bytes);

/// Local. The longest vector, in bytes, for which node_leaders are not clearly sooner than
/// node_aware, by a tenth at least, by a formula. A message of b bytes between nodes takes
/// 1 + b/h (1 + s/10) where s ranks of its node send, with h = 12 KiB, in units of an empty one;
/// one on the node takes 3/10 of one that is alone. Such round numbers do for any machine, since
/// waits are compared with bytes; tests/predict_allreduce_choice_test.cpp holds them against the
/// machine files. At least 256 bytes, of which no algorithm feels the length.
Offset longest_shared_out(const Topology& topology);

}  // namespace nodewise::mpi::collectives
