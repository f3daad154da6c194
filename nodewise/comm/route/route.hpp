// The routes: how entries travel between nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "nodewise/base/family.hpp"
#include "nodewise/comm/pattern.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/node_mapping.hpp"
#include "nodewise/comm/route/planner.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

struct NodeExchanges;
struct StageSizes;

/// What it takes to plan a route for one pattern: steps that follow each other.
struct PlanningSteps {
  int messages_between_nodes = 0;
  int sparse_exchanges = 0;  ///< on each node
  int agreements = 0;        ///< of all ranks
};

/// A route. All its functions are local.
struct RouteMethod : MethodInfo {
  using MakePlanner = std::unique_ptr<route::Planner> (*)(const Pattern& pattern,
                                                          const mpi::Topology& topology, int rank,
                                                          const route::NodeMapping& mapping);
  using Estimate = std::vector<StageSizes> (*)(const NodeExchanges& known);

  Required<std::string> title;   ///< for the heads of tables
  Required<bool> goes_straight;  ///< every owner sends to every rank that needs its entries
  Required<MakePlanner> planner;
  Required<int> n_stages;  ///< of its plan where there are several nodes
  /// Those of them in which ranks may have messages for their own node, ascending.
  Required<std::vector<std::size_t>> on_node_stages;
  Required<Estimate> estimate;  ///< the messages of this rank, without planning the route
  Required<PlanningSteps> planning;

  /// Routes, the straight one first: the others have to be better. "automatic" is for
  /// routing::choose_routes() to replace.
  static Family<RouteMethod>& family();
};

/// How entries travel between nodes.
using Route = Choice<RouteMethod>;

/// Whether entries go straight to where they are needed: over `direct`, and over every route where
/// all ranks are on one node and this has no domains.
bool goes_straight(const Route& route, const mpi::Topology& topology);

/// Local. Throws invalid_argument for `automatic`, which has to be resolved before anything is
/// planned.
void require_route(const Route& route);

/// Local. The part of `rank` in planning a route, for the ranks of a communicator or for virtual
/// ones (route::run, route::run_virtually). Where nodes have domains, two_step and three_step are
/// applied twice: between nodes, then inside each node between its domains; `direct` stays as it
/// is. `pattern` and `topology` must outlive the planner, which is small: what takes memory is made
/// in its rounds, where a failure is everybody's. `mapping`, the same on every rank, is what
/// three_step asks.
std::unique_ptr<route::Planner> make_planner(
    const Route& route, const Pattern& pattern, const mpi::Topology& topology, int rank,
    const route::NodeMapping& mapping = route::map_by_size);

/// Collective. The plan of a pattern over a route, with the node mapping of the communicator. Where
/// the route goes straight planning takes no message. Otherwise it takes the steps that the route
/// names (RouteMethod::planning). With domains two_step takes three sparse exchanges more within
/// each node, three_step seven. Throws the same Error on every rank.
Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, const Route& route);

}  // namespace nodewise::comm
