#include "nodewise/comm/route/route.hpp"

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/route/three_step.hpp"
#include "nodewise/comm/route/two_step.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

const char* to_string(Route route) {
  switch (route) {
    case Route::direct:
      return "direct";
    case Route::two_step:
      return "two_step";
    case Route::three_step:
      return "three_step";
  }
  return "";
}

namespace {

/// On one node every route is the direct one.
bool goes_straight(Route route, const mpi::Topology& topology) {
  return route == Route::direct || topology.n_nodes() <= 1;
}

}  // namespace

std::unique_ptr<route::Planner> make_planner(Route route, const Pattern& pattern,
                                             const mpi::Topology& topology, int rank) {
  if (goes_straight(route, topology)) return route::direct_planner(pattern);
  return route == Route::two_step ? route::two_step(pattern, topology, rank)
                                  : route::three_step(pattern, topology, rank);
}

Plan make_plan(const mpi::Comm& comm, const Pattern& pattern, Route route) {
  if (goes_straight(route, comm.topology())) return route::direct(pattern);
  const auto planner = mpi::collectively(
      comm, [&] { return make_planner(route, pattern, comm.topology(), comm.rank()); });
  return route::run(comm, *planner);
}

}  // namespace nodewise::comm
