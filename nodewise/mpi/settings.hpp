// The settings of a communicator: algorithms for operations that can be done in several ways.
#pragma once

#include <span>

#include "nodewise/base/family.hpp"

namespace nodewise::comm::sdde {
struct Call;
}  // namespace nodewise::comm::sdde

namespace nodewise::mpi {

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

/// An algorithm of the collectives that exist node-aware and in MPI.
struct CollectiveMethod : MethodInfo {
  Required<bool> is_node_aware;  ///< the ranks of a node share out the messages to other nodes

  /// "automatic" is by a rule that knows the placement of the ranks and the length.
  static Family<CollectiveMethod>& family();
};
using Collective = Choice<CollectiveMethod>;

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

/// Chosen when a communicator is made, the same on every rank, and bound to it: two libraries, or
/// two solvers, in one program cannot disturb each other.
struct CommSettings {
  SparseExchange sparse_exchange = "automatic";
  Region sparse_exchange_region = Region::node;
  Collective allreduce = "automatic";  ///< sums, maxima and dot products too
  Collective allgather = "automatic";
  Collective alltoallv = "automatic";
};

/// The settings that a solve depends on, by name, for the command line and for messages.
std::span<const Field<CommSettings>> setting_fields();
/// All of them, those of collectives that only the C interface calls behind the others.
std::span<const Field<CommSettings>> all_setting_fields();

}  // namespace nodewise::mpi
