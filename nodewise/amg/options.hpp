// The choices that a hierarchy is made by.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/base/by_level.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/routing/level_routes.hpp"

namespace nodewise::amg {

enum class Coarsening { hmis, pmis, cljp, falgout, ruge_stueben, ruge_stueben_first_pass };
enum class Interpolation {
  automatic,  ///< extended_i; one_point with method air
  extended_i,
  extended,
  standard,
  modified_classical,
  classical,
  direct,
  multipass,
  one_point
};
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

/// Which family of methods joins a level to the next. Local approximate ideal restriction (air) is
/// classical coarsening with a restriction of its own. It relaxes by fc_jacobi, forwards and after
/// the coarse correction only, whatever smoother, sweep_order and pre_sweeps say.
enum class Method { classical, aggregation, air };
enum class AggregateKind {
  independent_set,
  standard,
  standard_first,  ///< the same, but for what is left joining the first neighbour that it can
  automatic        ///< standard on one rank, and on levels with at least 2,000 points a rank
};

/// How the near null space is improved before it is aggregated: by damped Jacobi, the same on any
/// number of ranks, or by symmetric Gauss-Seidel, of points where the smoother is one of blocks.
enum class CandidateRelaxation { jacobi, gauss_seidel };

/// From where an aggregation's restriction is: the prolongation, transposed, or left candidates and
/// the transposed matrix, as the prolongation is from candidates and the matrix.
enum class Restriction { transposed, smoothed };

struct Options {
  Method method = Method::classical;
  int unknowns = 1;
  double strength_threshold = 0.25;
  StrengthMeasure strength_measure = StrengthMeasure::automatic;
  double max_row_sum = 0.9;
  Coarsening coarsening = Coarsening::hmis;
  int seed = 0;
  int aggressive_levels = 0;  ///< so many of the finest are coarsened in two stages
  int aggressive_paths = 1;
  Interpolation interpolation = Interpolation::automatic;
  int max_interpolation_entries = 4;
  double interpolation_truncation = 0.0;
  interpolate::ToIsolated isolated_couplings = interpolate::ToIsolated::dropped;
  int restriction_distance = 2;
  double restriction_threshold = 0.05;
  double restriction_truncation = 0.0;
  double coarse_filter = 0.001;  ///< of the coarse matrices of air
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
  double aggregation_threshold = -1;  ///< negative: by the number of unknowns
  AggregateKind aggregates = AggregateKind::independent_set;
  int aggregation_distance = 2;
  int prolongation_sweeps = 1;
  double prolongation_weight = 1.3333333333333333;
  bool filter_prolongation = false;
  int candidate_sweeps = 0;
  CandidateRelaxation candidate_relaxation = CandidateRelaxation::jacobi;
  Restriction restriction = Restriction::transposed;  ///< of an aggregation
  ByLevel<comm::Route> route = comm::Route::direct;   ///< of the exchanges of the solve
  ByLevel<comm::Route> setup_route;                   ///< of the setup; empty: as in the solve
  int route_from_level = 0;                           ///< finer levels are direct
  ByLevel<comm::Transport> transport;                 ///< of the solve; empty: point_to_point
  ByLevel<comm::Transport> setup_transport;           ///< of the setup; empty: point_to_point
  int expected_solves = 1;  ///< in which what automatic routes and transports cost is paid back
  /// What route `automatic` chooses by, the same on every rank; null: by a short look at the
  /// network (routing/network_probe.hpp).
  std::shared_ptr<const model::Machine> machine;
};

/// The routes and transports that a level, 0 being the finest, is to take.
routing::LevelRoutes routes_of_level(const Options& options, int level);

/// Local. Replaces what the method says for itself: air relaxes by fc_jacobi, forwards and after
/// the coarse correction only; the others keep every entry of coarse matrices.
void complete(Options& options);

/// Whether an aggregation makes a restriction that is not its transposed prolongation.
inline bool has_smoothed_restriction(const Options& options) {
  return options.method == Method::aggregation && options.restriction == Restriction::smoothed;
}

/// Which of the options keep a hierarchy from being a symmetric operator for a symmetric matrix, as
/// a preconditioner of conjugate gradients has to be; empty where none does.
std::string asymmetry_of(const Options& options);

/// Throws invalid_argument for smoothers and methods that know no order of coarse and fine points.
void check_sweep_order(const Options& options);

/// The one table behind the command line, JSON and the reference page.
std::span<const Field<Options>> option_fields();

}  // namespace nodewise::amg
