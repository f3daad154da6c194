// Which route the exchanges of a level take, by what a model says that they would cost.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/routing/level_routes.hpp"

namespace nodewise::model {
struct Machine;
}  // namespace nodewise::model

namespace nodewise::routing {

/// What one route would cost.
struct RoutePrediction {
  comm::Route route = "direct";
  double seconds = 0;
  std::int64_t off_node_messages = 0;  ///< of the rank that sends most of them to other nodes
};

/// The choice for one operation of a level, the same on every rank.
struct RouteDecision {
  comm::Route chosen = "direct";
  std::vector<RoutePrediction> predictions;  ///< of the routes that were looked at, direct first
  /// "predicted 41 us against 118 us direct: 212 messages to other nodes become 9"
  std::string reason;
  std::string basis;  ///< where the costs are from; empty where nothing was predicted
};

/// Direct, unless another route takes a tenth less and saves in so many exchanges more than
/// planning it takes: `planning_s` of each prediction. There must be one, and the first must be
/// direct.
RouteDecision cheapest(std::vector<RoutePrediction> predictions, double exchanges,
                       std::span<const double> planning_s);
/// Direct, without a prediction.
RouteDecision straight(std::string reason);

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
/// on average. The messages of the routes are foreseen from the direct plan (comm::forecast), and
/// only those that are taken are planned. Costs, besides, two gatherings and a reduction on each
/// node and one reduction over all ranks; nothing where all ranks are on one node without domains,
/// or each on a node of its own. What is planned for the solve must be paid back in so many solves.
/// Throws, on every rank, invalid_argument where the machine is none.
template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted, const model::Machine& machine,
                              int solves = 1);

/// Collective. Likewise by what probe_network() sees, the first time that a level of the
/// communicator might gain, for which that level takes another reduction.
template <class T>
ChosenRoutes<T> choose_routes(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                              const LevelRoutes& wanted, int solves = 1);

}  // namespace nodewise::routing
