// The cost of a reduction whose result all ranks get, by its algorithm.
#pragma once

#include "nodewise/model/machine.hpp"

namespace nodewise::model {

enum class AllreduceAlgorithm {
  recursive_doubling,        ///< ceil(log2 P) rounds of the whole vector: for short ones
  reduce_scatter_allgather,  ///< 2 ceil(log2 P) rounds, 2 (P - 1)/P of the vector: for long ones
  node_aware                 ///< docs/collectives.md: messages of a node's ranks go to other nodes
};

/// Local. Seconds of an allreduce of `bytes` bytes on `nodes` nodes with `ranks_per_node` ranks
/// each. Arithmetic is left out: it is that of the vector.
/// Recursive doubling, with the ranks of a node next to each other: log2(ranks per node) rounds on
/// the node, each as expensive as between its sockets, and log2(nodes) between nodes, in which all
/// ranks of a node send at once (Thakur, Rabenseifner, Gropp 2005). Numbers that are no powers of
/// two count as the next one. Node-aware: ceil(log2 w) rounds on the node of w ranks; then, as
/// often as nodes united w + 1 at a time take to be one group, a message between nodes and as many
/// rounds on the node, the k-th of 2^k slots. Throws invalid_argument unless both counts are
/// positive.
double allreduce_s(const Machine& machine, AllreduceAlgorithm algorithm, int nodes,
                   int ranks_per_node, double bytes);

/// Local. Returns the factor from the formula's time of an allreduce of `bytes` bytes to the
/// measured one: the measured time over allreduce_s(), at the measured size nearest in its
/// logarithm. The MPI library's times stand for recursive_doubling and reduce_scatter_allgather,
/// and are compared with the former. Returns 1 where the machine has no times of the algorithm, or
/// the formula says 0.
double allreduce_scale(const Machine& machine, AllreduceAlgorithm algorithm, double bytes);

/// The number of those rounds: ceil(log2 n).
int rounds_of_doubling(int n);

}  // namespace nodewise::model
