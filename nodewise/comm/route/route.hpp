// The routes by name.
#pragma once

#include <memory>

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/planner.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

/// How entries travel between nodes.
enum class Route {
  direct,     ///< every owner sends straight to every rank that needs its entries
  two_step,   ///< every owner sends once to each node that needs them; they are spread there
  three_step  ///< gathered on the node, once across a pair of nodes, spread there
};

/// "direct", "two_step" or "three_step".
const char* to_string(Route route);

/// Local. The part of `rank` in planning a route, for the ranks of a communicator or for virtual
/// ones (route::run, route::run_virtually). `topology` must outlive the planner.
std::unique_ptr<route::Planner> make_planner(Route route, const Pattern& pattern,
                                             const mpi::Topology& topology, int rank);

/// Collective. The plan of a pattern over a route. Where all ranks are on one node every route is
/// `direct`, and planning takes no message. Otherwise two_step takes a sparse exchange over all
/// ranks and one within each node, three_step two over all ranks, four within each node and an
/// answer to each message between leaders of nodes; and each an allreduce.
Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, Route route);

}  // namespace nodewise::comm
