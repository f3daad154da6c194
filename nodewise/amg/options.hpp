// The choices that a hierarchy is made by.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nodewise/amg/setup/aggregation_options.hpp"
#include "nodewise/amg/setup/classical_options.hpp"
#include "nodewise/amg/setup/level_method.hpp"
#include "nodewise/base/by_level.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/routing/level_routes.hpp"

namespace nodewise::amg {

enum class SmootherKind {
  l1_gauss_seidel,
  gauss_seidel,
  l1_jacobi,
  jacobi,
  chebyshev,
  ilu0,
  l1_block_gauss_seidel,  ///< those of blocks solve for all unknowns of a point at once
  block_gauss_seidel,
  l1_block_jacobi,
  block_jacobi,
  fc_jacobi
};
/// How one Gauss-Seidel sweep runs through the rows; other sweeps know no order.
enum class SweepOrder {
  automatic,             ///< forward_backward for a symmetric matrix, alternating for another
  forward_backward,      ///< forward before the coarse correction, backward after it
  symmetric,             ///< forward, then backward, both times: twice the work of one exchange
  alternating,           ///< the same, with the newest values of other ranks for the way back, too
  forward,               ///< forward before and after: not for conjugate gradients
  backward,              ///< backward before and after: not for conjugate gradients
  coarse_fine,           ///< coarse points first before the coarse correction, last after it
  coarse_fine_symmetric  ///< the same, with a symmetric sweep through each kind of points
};
/// Whether the order is one of coarse and fine points.
inline bool goes_by_points(SweepOrder order) {
  return order == SweepOrder::coarse_fine || order == SweepOrder::coarse_fine_symmetric;
}
/// The order in which a cycle visits the levels.
enum class CycleKind { v, w, f, k, additive };

/// The precision that the cycle is applied in; the setup is in that of the matrix.
enum class Precision {
  same,
  single,
  automatic  ///< single where rounding is harmless (rounding.hpp), for a symmetric matrix
};

/// Who solves the coarsest system. More than 600 rows (or max_coarse_rows, if that is more) are
/// relaxed, whatever is said.
enum class CoarseSolve {
  automatic,   ///< every_rank
  every_rank,  ///< each its own rows of the inverse: one gathering of the right-hand side
  every_node,  ///< a rank of each node for all of it: fewer messages between nodes, two on each
  one_rank,    ///< rank 0 for all
  relaxation   ///< nobody: the last level is smoothed
};

struct Options {
  Choice<LevelMethod> method = "classical";  ///< that joins a level to the next
  int unknowns = 1;
  int seed = 0;
  SmootherKind smoother = SmootherKind::l1_gauss_seidel;
  SweepOrder sweep_order = SweepOrder::automatic;
  int pre_sweeps = 1;
  int post_sweeps = 1;
  double jacobi_weight = 0.6666666666666666;
  double sor_weight = 1.0;
  int chebyshev_degree = 2;
  double chebyshev_fraction = 0.3;
  int fine_sweeps = 2;  ///< of fc_jacobi
  int coarse_sweeps = 1;
  CycleKind cycle = CycleKind::v;
  Precision precision = Precision::same;
  int max_levels = 25;
  int max_coarse_rows = 100;
  CoarseSolve coarse_solve = CoarseSolve::automatic;
  ByLevel<comm::Route> route = comm::Route::direct;  ///< of the exchanges of the solve
  ByLevel<comm::Route> setup_route;                  ///< of the setup; empty: as in the solve
  int route_from_level = 0;                          ///< finer levels are direct
  ByLevel<comm::Transport> transport;                ///< of the solve; empty: point_to_point
  ByLevel<comm::Transport> setup_transport;          ///< of the setup; empty: point_to_point
  int expected_solves = 1;  ///< in which what automatic routes and transports cost is paid back
  /// What route `automatic` chooses by, the same on every rank; null: by a short look at the
  /// network (routing/network_probe.hpp).
  std::shared_ptr<const model::Machine> machine;

  /// Sets an option by its flat name (snake_case), also one of a chosen method. Throws as
  /// set_option() does.
  Options& set(std::string_view name, std::string_view value);
  Options& set(std::string_view name, const char* value) {
    return set(name, std::string_view(value));
  }
  Options& set(std::string_view name, bool value) { return set(name, value ? "true" : "false"); }
  Options& set(std::string_view name, int value) { return set(name, std::to_string(value)); }
  Options& set(std::string_view name, double value) {
    return set(name, detail::print_number(value));
  }
  /// The value as text; empty where no chosen method has such an option.
  std::string get(std::string_view name) const;
  /// Whether it is an option of this configuration.
  bool has(std::string_view name) const;
};

/// The routes and transports that a level, 0 being the finest, is to take.
routing::LevelRoutes routes_of_level(const Options& options, int level);

/// Local. Replaces what the method wants of options that are not its own.
void complete(Options& options);

/// The options of classical coarsening, which air has, too. Throws internal for other methods.
ClassicalOptions& classical_options(Options& options);
const ClassicalOptions& classical_options(const Options& options);
/// Null where the method is another.
const AirOptions* air_options(const Options& options);

/// Whether an aggregation makes a restriction that is not its transposed prolongation.
bool has_smoothed_restriction(const Options& options);

/// Which interpolation a level has where it is classically coarsened: that of the options, or
/// multipass where the level is coarsened in two stages.
Choice<InterpolationMethod> interpolation_of_level(const Options& options, int level);

/// Which of the options keep a hierarchy from being a symmetric operator for a symmetric matrix, as
/// a preconditioner of conjugate gradients has to be; empty where none does.
std::string asymmetry_of(const Options& options);

/// Throws invalid_argument for smoothers and methods that know no order of coarse and fine points.
void check_sweep_order(const Options& options);

/// The one table behind the command line, JSON and the reference page.
std::span<const Field<Options>> option_fields();

}  // namespace nodewise::amg
