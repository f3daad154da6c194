// The choices that a hierarchy is made by.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nodewise/amg/options/aggregation_options.hpp"
#include "nodewise/amg/options/classical_options.hpp"
#include "nodewise/amg/options/cycle_method.hpp"
#include "nodewise/amg/options/level_method.hpp"
#include "nodewise/amg/redistribute/group_method.hpp"
#include "nodewise/amg/redistribute/move_method.hpp"
#include "nodewise/amg/redistribute/redistribution_method.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/amg/sparsify/sparsification_method.hpp"
#include "nodewise/base/by_level.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/comm/overlap.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/routing/level_routes.hpp"

namespace nodewise::model {
struct Machine;
}  // namespace nodewise::model

namespace nodewise::amg {

/// The precision that the cycle is applied in; the setup is in that of the matrix.
enum class Precision {
  same,
  single,
  automatic  ///< single where rounding is harmless (rounding.hpp), for a symmetric matrix
};

struct Options {
  Choice<LevelMethod> method = "classical";  ///< that joins a level to the next
  int unknowns = 1;
  int seed = 0;
  Choice<relax::SmootherMethod> smoother = "l1_gauss_seidel";
  Choice<CycleMethod> cycle = "v";
  Precision precision = Precision::same;
  int max_levels = 25;
  int max_coarse_rows = 100;
  /// Of more than 600 rows (or max_coarse_rows, if that is more) it is relaxation, whatever is
  /// said.
  Choice<CoarseSolveMethod> coarse_solve = "auto";
  Redistribution redistribution = "none";  ///< of coarse levels to fewer ranks
  Choice<GroupMethod> redistribution_groups = "node";
  Choice<MoveMethod> redistribution_move = "direct";
  Sparsification sparsification = "none";    ///< of coarse matrices
  ByLevel<comm::Route> route = "direct";     ///< of the exchanges of the solve
  ByLevel<comm::Route> setup_route;          ///< of the setup; empty: as in the solve
  int route_from_level = 0;                  ///< finer levels are direct
  ByLevel<comm::Transport> transport;        ///< of the solve; empty: point_to_point
  ByLevel<comm::Transport> setup_transport;  ///< of the setup; empty: point_to_point
  /// Of products with vectors in the solve.
  ByLevel<comm::Overlap> overlap = comm::Overlap::naive;
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
/// Throws invalid_argument where the inverse of the coarsest matrix would be too large.
void check_coarse_rows(const Options& options);

/// The one table behind the command line, JSON and the reference page.
std::span<const Field<Options>> option_fields();

}  // namespace nodewise::amg
