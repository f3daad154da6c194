// Which rank each row of a matrix is to be on. methods.cpp lists the ways to find that.
#pragma once

#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/mpi/topology.hpp"

namespace nodewise::partition {

/// What is to be divided among which ranks.
struct PartitionTask {
  const matrix::DistMatrix<double>& A;  ///< square
  /// The ranks to divide it among, and their nodes: the communicator's, or virtual ones.
  const mpi::Topology& topology;
  int unknowns = 1;  ///< rows of a point, which stay together
  /// Whether ranks get equally many rows, where a method cares for balance; else nonzeros.
  bool equal_rows = false;
};

struct PartitionMethod;
using Partition = Choice<PartitionMethod>;

struct PartitionMethod : MethodInfo {
  using Owners = std::vector<int> (*)(const Partition& chosen, const PartitionTask& task);

  /// Whether rows may go to other ranks.
  Required<bool> moves_rows;
  /// Collective. The rank of the task's topology for each of this rank's rows. Throws the same
  /// Error on every rank, unsupported where a library is missing.
  Required<Owners> owners;
  /// Whether the graph of the matrix is made, which takes memory.
  bool makes_graph = false;

  static Family<PartitionMethod>& family();
};

/// Collective. The rank that each of this rank's rows is to be on. Throws, the same on every rank,
/// dimension_mismatch where the matrix is not square, what comm::require_whole_points() throws, and
/// what the method throws.
std::vector<int> owners(const Partition& partition, const PartitionTask& task);

}  // namespace nodewise::partition
