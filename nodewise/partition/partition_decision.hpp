// Whether a partition pays for so many products, foreseen before it is made (Bienz 2018, figure
// 5.14 has it measured afterwards).
#pragma once

#include <cstdint>
#include <string>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/mpi/topology.hpp"
#include "nodewise/partition/partition_method.hpp"

namespace nodewise::partition {

/// The same on every rank.
struct PartitionDecision {
  std::string chosen = "none";  ///< a partition
  double products = 0;          ///< that are expected
  double now_s = 0;             ///< messages of a product where rows are
  double then_s = 0;            ///< and where a partition would put them
  double cost_s = 0;            ///< of the partition, and of moving the rows
  double pays_after = 0;        ///< products; 0: never
  std::string reason;
};

/// What a graph and its parts have, as far as costs go.
struct PartitionSize {
  double points = 0;
  double nonzeros = 0;
  int unknowns = 1;  ///< rows of a point
};

/// Local. The seconds of the messages of a product whose parts are as compact as cubes of a grid
/// with as many couplings a point in each direction: the surface of a part, in messages to as many
/// parts as touch a cube. `n_parts` of them on ranks that share `n_nodes` nodes evenly. Where
/// `by_node` the messages of a node to each other go together.
double compact_parts_s(const PartitionSize& size, int n_parts, int n_nodes,
                       const model::Machine& machine, bool by_node);

/// Local. Seconds to find a partition, by a rate measured on one core, and to move the rows: once
/// to who finds it and once to their owners.
double partition_cost_s(const PartitionSize& size, const mpi::Topology& topology,
                        const model::Machine& machine, bool on_all_ranks);

/// What the messages of a product are to be decided by.
struct DecisionTask {
  const model::Machine* machine = nullptr;  ///< null: nothing is known of costs
  double products = 0;                      ///< that are expected
  bool by_node = false;  ///< routes may join the messages of a node to each other
};

/// Local. The cheaper of leaving rows where they are and of a partition.
PartitionDecision cheaper(PartitionDecision costs);

/// Collective. Chooses node_aware or none by costs, or ptscotch where METIS is missing. `owners` is
/// the rank of the task's topology that has each of this rank's rows now. What quotient_graph()
/// costs, twice. Throws unsupported where a machine is needed and there is none.
PartitionDecision decide_partition(const PartitionTask& task, std::span<const int> owners,
                                   const DecisionTask& by);

}  // namespace nodewise::partition
