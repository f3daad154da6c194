// Which route the exchanges of a level take, by what a model says that they would cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/model/machine.hpp"

namespace nodewise::amg {

/// What one route would cost.
struct RoutePrediction {
  comm::Route route = comm::Route::direct;
  double seconds = 0;
  std::int64_t off_node_messages = 0;  ///< of the rank that sends most of them to other nodes
};

/// The choice for one operation of a level, the same on every rank.
struct RouteDecision {
  comm::Route chosen = comm::Route::direct;
  std::vector<RoutePrediction> predictions;  ///< of the routes that were looked at, direct first
  /// "predicted 41 us against 118 us direct: 212 messages to other nodes become 9"
  std::string reason;
  std::string basis;  ///< where the costs are from; empty where nothing was predicted
};

/// The cheapest of some predictions, the first of equal ones, and why. There must be one, and the
/// first must be direct.
RouteDecision cheapest(std::vector<RoutePrediction> predictions);
/// Likewise if it takes a tenth less than direct and saves planning_s in so many exchanges;
/// otherwise direct.
RouteDecision cheapest_that_pays(std::vector<RoutePrediction> predictions, double exchanges,
                                 double planning_s);

/// The routes of a level where some were left to the model.
template <class T>
struct ChosenRoutes {
  LevelRoutes routes;
  /// Null where the route was given.
  std::shared_ptr<const RouteDecision> solve, setup;
  /// The matrix with an exchange over each of them, point to point.
  std::shared_ptr<const matrix::DistMatrix<T>> for_solve, for_setup;
};

/// Collective. Chooses where `wanted` says automatic, by the costs of a machine. Of the solve, one
/// exchange of a vector is costed; of the setup, one exchange of the rows of A, as long as they are
/// on average. Costs the planning of the routes that are not taken (comm::make_plan) and five
/// reductions; one reduction where no route can be better than direct, since no rank sends more
/// than one message to another node. Where all ranks are on one node without domains all routes are
/// direct, and nothing is asked. Throws, on every rank, invalid_argument where the machine is none.
template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted, const model::Machine& machine);

/// Collective. Likewise by what look_at_network() sees, the first time that a level of the
/// communicator might gain: messages of a rank overlap, and another route is taken only where it
/// saves a tenth, and in one solve more than planning it costs. Without a message where all ranks
/// are on one node, or each has a node for itself; otherwise one reduction before, and two after
/// the planning of the other routes, which happens only where they could pay for it.
template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted);

}  // namespace nodewise::amg
