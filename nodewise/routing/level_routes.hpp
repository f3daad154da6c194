// The routes and transports of one level.
#pragma once

#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/transport/transport.hpp"

namespace nodewise::routing {

/// The routes and transports of one level, in the setup and in the solve.
struct LevelRoutes {
  comm::Route setup = comm::Route::direct;
  comm::Route solve = comm::Route::direct;
  comm::Transport setup_transport = comm::Transport::point_to_point;
  comm::Transport solve_transport = comm::Transport::point_to_point;

  friend bool operator==(const LevelRoutes&, const LevelRoutes&) = default;
};
/// Whether a route is left to choose_routes().
inline bool is_automatic(const LevelRoutes& routes) {
  return routes.setup == comm::Route::automatic || routes.solve == comm::Route::automatic;
}

}  // namespace nodewise::routing
