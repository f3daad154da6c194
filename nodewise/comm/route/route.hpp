// The routes by name.
#pragma once

#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
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

/// Collective. The plan of a pattern over a route. Where all ranks are on one node every route is
/// `direct`, and planning takes no message; otherwise two_step takes two sparse exchanges, one of
/// them within the nodes, three_step seven, four of them within the nodes, and each an allreduce.
Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, Route route);

}  // namespace nodewise::comm
