// The routes and transports of one level.
#pragma once

#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/transport/transport.hpp"

namespace nodewise::routing {

/// The routes and transports of one level, in the setup and in the solve.
struct LevelRoutes {
  comm::Route setup = "direct";
  comm::Route solve = "direct";
  comm::Transport setup_transport = "point_to_point";
  comm::Transport solve_transport = "point_to_point";

  friend bool operator==(const LevelRoutes&, const LevelRoutes&) = default;
};
/// Whether a route is left to choose_routes().
inline bool is_automatic(const LevelRoutes& routes) {
  return routes.setup.is_automatic() || routes.solve.is_automatic();
}

}  // namespace nodewise::routing
