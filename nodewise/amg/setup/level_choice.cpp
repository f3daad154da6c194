#include "nodewise/amg/setup/level_choice.hpp"

#include <algorithm>

#include "nodewise/amg/setup/level.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

/// Direct solution beyond this size would cost more than the rest of the setup, unless asked for.
constexpr GlobalIndex max_direct_rows = 600;

constexpr const char* nothing_exchanged = "a level that is solved directly exchanges nothing";

/// Local. What is left to a choice, where there is nothing to choose: direct, point to point.
template <class T>
void leave_as_it_is(LevelChoice<T>& choice) {
  routing::LevelRoutes& routes = choice.routes.routes;
  const auto take = [](comm::Route& route, std::shared_ptr<const routing::RouteDecision>& why) {
    if (!route.is_automatic()) return;
    route = comm::Route();
    why = std::make_shared<const routing::RouteDecision>(routing::straight(nothing_exchanged));
  };
  take(routes.solve, choice.routes.solve);
  take(routes.setup, choice.routes.setup);
  if (routes.solve_transport.is_automatic()) {
    auto why = std::make_shared<routing::TransportDecision>();
    why->reason = nothing_exchanged;
    routes.solve_transport = why->chosen;
    choice.transport = std::move(why);
  }
}

}  // namespace

bool may_coarsen(GlobalIndex rows, const Options& options, int level) {
  return rows > options.max_coarse_rows && level + 1 < options.max_levels;
}
bool may_solve_directly(GlobalIndex rows, const Options& options) {
  const CoarseSolveMethod& how = chosen(options.coarse_solve);
  return how.has_factors ||
         (how.is_direct() &&
          rows <= std::max<GlobalIndex>(max_direct_rows, options.max_coarse_rows));
}

template <class T>
MatrixPointer<T> routed(const MatrixPointer<T>& A, const comm::Route& route,
                        const comm::Transport& transport) {
  if (A->route() == route && A->transport() == transport) return A;
  return std::make_shared<const DistMatrix<T>>(A->with_route(route, transport));
}

bool is_left_to_direct_solver(GlobalIndex rows, const Options& options, int level) {
  return level > 0 && !may_coarsen(rows, options, level) && may_solve_directly(rows, options);
}

/// The product with the finest matrix is the Krylov method's, too.
template <class T>
LevelChoice<T> choose_for(const MatrixPointer<T>& A, const Options& options, int level) {
  const routing::LevelRoutes wanted = routes_of_level(options, level);
  LevelChoice<T> choice = {{wanted, nullptr, nullptr, A, A}, nullptr};
  routing::ChosenRoutes<T>& routes = choice.routes;
  const GlobalIndex rows = A->rows().n_global();
  if (is_left_to_direct_solver(rows, options, level)) {
    leave_as_it_is(choice);
  } else if (is_automatic(wanted)) {
    routes = options.machine
                 ? routing::choose_routes(A, wanted, *options.machine, options.expected_solves)
                 : routing::choose_routes(A, wanted, options.expected_solves);
  }
  if (routes.routes.solve_transport.is_automatic()) {
    const auto chosen = routing::choose_transport(
        routed(routes.for_solve, routes.routes.solve, comm::Transport()), options.expected_solves);
    routes.for_solve = chosen.A;
    routes.routes.solve_transport = chosen.decision->chosen;
    choice.transport = chosen.decision;
  }
  routes.for_solve = routed(routes.for_solve, routes.routes.solve, routes.routes.solve_transport);
  return choice;
}

template <class T>
std::shared_ptr<const routing::OverlapDecision> choose_overlap_for(const DistMatrix<T>& A,
                                                                   const Options& options,
                                                                   int level) {
  routing::OverlapDecision decision;
  const comm::Overlap wanted = options.overlap.on(level);
  if (wanted != comm::Overlap::automatic) {
    decision.chosen = wanted;
  } else if (is_left_to_direct_solver(A.rows().n_global(), options, level)) {
    decision.reason = "solved directly";
  } else {
    return routing::choose_overlap(A);
  }
  return std::make_shared<const routing::OverlapDecision>(std::move(decision));
}

#define NODEWISE_INSTANTIATE(T)                                                     \
  template MatrixPointer<T> routed(const MatrixPointer<T>&, const comm::Route&,     \
                                   const comm::Transport&);                         \
  template LevelChoice<T> choose_for(const MatrixPointer<T>&, const Options&, int); \
  template std::shared_ptr<const routing::OverlapDecision> choose_overlap_for(      \
      const DistMatrix<T>&, const Options&, int)
NODEWISE_INSTANTIATE(float);
NODEWISE_INSTANTIATE(double);
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg
