// The routes and transports of a level.
#pragma once

#include <memory>

#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/routing/overlap_choice.hpp"
#include "nodewise/routing/route_choice.hpp"
#include "nodewise/routing/transport_choice.hpp"

namespace nodewise::amg {

/// What the exchanges of a level take, and why, where that was chosen.
template <class T>
struct LevelChoice {
  routing::ChosenRoutes<T> routes;
  std::shared_ptr<const routing::TransportDecision> transport;
};

/// Whether a level with so many rows may have a coarser one.
bool may_coarsen(GlobalIndex rows, const Options& options, int level);
/// Whether a level that has none is solved directly.
bool may_solve_directly(GlobalIndex rows, const Options& options);

/// Collective. The matrix with another route and transport; itself where it has these.
template <class T>
std::shared_ptr<const matrix::DistMatrix<T>> routed(
    const std::shared_ptr<const matrix::DistMatrix<T>>& A, const comm::Route& route,
    const comm::Transport& transport);

/// Collective. As the options have it, or the model, or a trial. The matrix for the solve then goes
/// over all of it. Nothing is chosen for a coarse level that is solved directly.
template <class T>
LevelChoice<T> choose_for(const std::shared_ptr<const matrix::DistMatrix<T>>& A,
                          const Options& options, int level);

/// Collective. What products of a level compute while their messages travel, as the options have
/// it, or a trial of A; naive where that was chosen for a level that is solved directly.
template <class T>
std::shared_ptr<const routing::OverlapDecision> choose_overlap_for(const matrix::DistMatrix<T>& A,
                                                                   const Options& options,
                                                                   int level);

}  // namespace nodewise::amg
