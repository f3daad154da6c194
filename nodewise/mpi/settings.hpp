// The settings of a communicator: algorithms for operations that can be done in several ways.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/base/types.hpp"

namespace nodewise::comm::sdde {
struct Call;
}  // namespace nodewise::comm::sdde

namespace nodewise::comm::route {
struct PartnerNode;
enum class Direction;
}  // namespace nodewise::comm::route

namespace nodewise::mpi {

class Comm;
class Topology;

namespace collectives {
class BlockExchange;
struct Blocks;
struct Schedule;
}  // namespace collectives

/// An algorithm of the sparse dynamic data exchange. comm/sdde has them and their list: this layer
/// only keeps which one a communicator takes.
struct SparseExchangeMethod : MethodInfo {
  using Run = void (*)(comm::sdde::Call& call);

  Required<bool> needs_equal_counts;  ///< whether every message must have the same size
  /// The algorithm that takes its place where no messages can be joined on a node; else empty.
  Required<std::string> unjoined;
  Required<Run> run;  ///< collective

  /// "automatic" is replaced at each call, by what all ranks know (comm::choose_sparse_exchange()).
  static Family<SparseExchangeMethod>& family();
};
using SparseExchange = Choice<SparseExchangeMethod>;

/// Makes one rank's part of a schedule; none where MPI's own algorithm is meant.
using MakeSchedule = collectives::Schedule (*)(const Topology& topology, int rank);

/// An algorithm of the allreduce. Each combines contributions in one order on all ranks.
struct AllreduceMethod : MethodInfo {
  Required<bool> is_node_aware;  ///< the ranks of a node share out the messages to other nodes
  Required<MakeSchedule> schedule;
  Required<Offset> piece_bytes;  ///< of a longer vector that travel at once; without a schedule 0

  /// "automatic" is by a rule that knows the placement of the ranks and the length.
  static Family<AllreduceMethod>& family();
};

/// An algorithm of the allgather.
struct AllgatherMethod : MethodInfo {
  Required<bool> is_node_aware;
  Required<MakeSchedule> schedule;  ///< one whose slots say whose blocks they are

  static Family<AllgatherMethod>& family();
};

/// An algorithm of the alltoallv.
struct AlltoallvMethod : MethodInfo {
  /// Local. Makes what brings the blocks of this rank; none where MPI's own algorithm is meant.
  using Make = std::unique_ptr<collectives::BlockExchange> (*)(const Comm& comm,
                                                               const collectives::Blocks& to,
                                                               const collectives::Blocks& from);

  Required<bool> is_node_aware;
  Required<Make> make;

  static Family<AlltoallvMethod>& family();
};

/// The ranks among which a sparse exchange joins what goes to the same place.
enum class Region {
  node,
  domain  ///< of the topology, such as a socket; the node where it is not divided
};

/// What decides whether a sparse exchange joins messages. Only the ratios matter. As long as no
/// machine is known, they are those measured on an emulated cluster (docs/sparse-exchange.md).
struct SparseCosts {
  double message_s = 1;          ///< a message of the busiest rank to another region
  double step_s = 6;             ///< the exchange in the region that joining takes
  double byte_s = 1.0 / 0x4000;  ///< what that adds for each byte of the busiest rank
};

/// Which ranks of a node handle its exchange with each other node, where a route joins what a node
/// has for another. comm/route/node_mapping has them and their list.
struct NodeMappingMethod : MethodInfo {
  /// Local. Gives for each partner of `node` the places of its ranks that handle it.
  using Map = std::function<std::vector<std::vector<int>>(
      int node, std::span<const comm::route::PartnerNode> partners, int n_ranks,
      comm::route::Direction direction)>;
  using Make = Map (*)(const Choice<NodeMappingMethod>& mapping);

  Required<Make> make;

  static Family<NodeMappingMethod>& family();
};

/// Chosen when a communicator is made, the same on every rank, and bound to it: two libraries, or
/// two solvers, in one program cannot disturb each other.
struct CommSettings {
  SparseExchange sparse_exchange = "automatic";
  Region sparse_exchange_region = Region::node;
  Choice<AllreduceMethod> allreduce = "automatic";     ///< sums, maxima and dot products too
  Choice<NodeMappingMethod> node_mapping = "by_size";  ///< of the route three_step
  Choice<AllgatherMethod> allgather = "automatic";
  Choice<AlltoallvMethod> alltoallv = "automatic";
};

/// The settings that a solve depends on, by name, for the command line and for messages.
std::span<const Field<CommSettings>> setting_fields();
/// All of them, those of collectives that only the C interface calls behind the others.
std::span<const Field<CommSettings>> all_setting_fields();

}  // namespace nodewise::mpi
