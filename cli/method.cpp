#include "cli/method.hpp"

#include <fmt/format.h>

#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/routing/route_choice.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

namespace {

/// What of the multigrid options makes a preconditioner that is not symmetric; empty where nothing
/// does.
std::string asymmetry(const Settings& settings) {
  const bool amg = settings.method.preconditioner == PreconditionerChoice::amg;
  return amg ? amg::asymmetry_of(settings.amg) : std::string();
}

/// Whether nothing but the K-cycle stands against conjugate gradients.
bool is_symmetric_but_for_k(const Settings& settings) {
  amg::Options options = settings.amg;
  options.cycle = amg::CycleKind::v;
  return amg::asymmetry_of(options).empty();
}

/// Whether the preconditioner is another map for every vector.
bool varies(const Settings& settings) {
  return settings.method.preconditioner == PreconditionerChoice::amg &&
         settings.amg.cycle == amg::CycleKind::k;
}

}  // namespace

solve::Method choose_method(const Settings& settings, const MatrixFacts& matrix) {
  const SolverChoice choice = settings.method.solver;
  if (choice != SolverChoice::automatic) {
    return static_cast<solve::Method>(static_cast<int>(choice) - 1);
  }
  if (varies(settings)) return solve::Method::fgmres;
  const bool suits_cg = matrix.symmetric && !matrix.negative && asymmetry(settings).empty();
  return suits_cg ? solve::Method::cg : solve::Method::gmres;
}

void check_method(solve::Method method, const Settings& settings) {
  const solve::ResidualNorm norm = settings.solver.norm;
  const char* name = solve::to_string(method);
  const std::string against = asymmetry(settings);
  if (!solve::knows_norm(method, norm)) {
    throw Failure(ExitCode::usage,
                  fmt::format("--norm {}: {} can test the unpreconditioned norm only; the others "
                              "are known to the forms of cg, to minres and stationary",
                              solve::to_string(norm), name));
  }
  if (solve::needs_symmetric_preconditioner(method) && !against.empty()) {
    throw Failure(ExitCode::usage,
                  fmt::format("--solver {} needs a symmetric preconditioner, and {} makes "
                              "multigrid another; leave that, or take --solver {}",
                              name, against, varies(settings) ? "fgmres" : "gmres"));
  }
  if (solve::needs_fixed_preconditioner(method) && varies(settings)) {
    throw Failure(ExitCode::usage,
                  fmt::format("--solver {} needs a preconditioner that is the same map for every "
                              "vector, which cycle k is not; take --solver {}fgmres",
                              name, is_symmetric_but_for_k(settings) ? "flexible_cg or " : ""));
  }
}

const char* preconditioner_name(PreconditionerChoice choice) {
  switch (choice) {
    case PreconditionerChoice::amg:
      return "amg";
    case PreconditionerChoice::jacobi:
      return "jacobi";
    case PreconditionerChoice::none:
      return "none";
  }
  return "";
}

std::shared_ptr<const Matrix> matrix_of_solve(const std::shared_ptr<const Matrix>& A,
                                              const Settings& settings) {
  routing::LevelRoutes routes = amg::routes_of_level(settings.amg, 0);
  const bool for_hierarchy = settings.method.preconditioner == PreconditionerChoice::amg;
  const bool choose_route = routes.solve == comm::Route::automatic;
  const bool choose_transport = routes.solve_transport == comm::Transport::automatic;
  const int solves = settings.amg.expected_solves;
  if (choose_route) routes.solve = comm::Route::direct;
  if (choose_transport) routes.solve_transport = comm::Transport::point_to_point;
  std::shared_ptr<const Matrix> M = A;
  if (choose_route && !for_hierarchy) {
    const routing::LevelRoutes wanted = {comm::Route::direct, comm::Route::automatic};
    M = (settings.amg.machine ? routing::choose_routes(A, wanted, *settings.amg.machine, solves)
                              : routing::choose_routes(A, wanted, solves))
            .for_solve;
    routes.solve = M->route();
  }
  M = std::make_shared<const Matrix>(M->with_route(routes.solve, routes.solve_transport));
  if (choose_transport && !for_hierarchy) M = routing::choose_transport(M, solves).A;
  return matrix::with_blocks_where_full<double>(M, settings.amg.unknowns);
}

std::shared_ptr<const Matrix> matrix_as_chosen(const std::shared_ptr<const Matrix>& A,
                                               const amg::Hierarchy<double>& hierarchy,
                                               const Settings& settings) {
  const Matrix& finest = *hierarchy.matrix(0);
  if (finest.route() == A->route() && finest.transport() == A->transport()) return A;
  return matrix::with_blocks_where_full<double>(
      std::make_shared<const Matrix>(A->with_exchange_of(finest)), settings.amg.unknowns);
}

}  // namespace nodewise::cli
