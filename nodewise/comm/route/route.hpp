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
  direct,      ///< every owner sends straight to every rank that needs its entries
  two_step,    ///< every owner sends once to each node that needs them; they are spread there
  three_step,  ///< gathered on the node, once across a pair of nodes, spread there
  automatic    ///< no route, but the wish that a model choose one: see routing::choose_routes()
};

/// "direct", "two_step", "three_step" or "automatic".
const char* to_string(Route route);

/// Whether entries go straight to where they are needed: over `direct`, and over every route where
/// all ranks are on one node and this has no domains.
bool goes_straight(Route route, const mpi::Topology& topology);

/// Local. Throws invalid_argument for `automatic`, which has to be resolved before anything is
/// planned.
void require_route(Route route);

/// Local. The part of `rank` in planning a route, for the ranks of a communicator or for virtual
/// ones (route::run, route::run_virtually). Where nodes have domains, two_step and three_step are
/// applied twice: between nodes, then inside each node between its domains; `direct` stays as it
/// is. `pattern` and `topology` must outlive the planner, which is small: what takes memory is made
/// in its rounds, where a failure is everybody's.
std::unique_ptr<route::Planner> make_planner(Route route, const Pattern& pattern,
                                             const mpi::Topology& topology, int rank);

/// Collective. The plan of a pattern over a route. Where the route goes straight planning takes no
/// message. Otherwise two_step takes the time of one message between nodes and of two sparse
/// exchanges within each node, three_step that of three messages in turn and two such exchanges;
/// and each an allreduce. With domains two_step takes three sparse exchanges more within each node,
/// three_step seven. Throws the same Error on every rank.
Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, Route route);

}  // namespace nodewise::comm
