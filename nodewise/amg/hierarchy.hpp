// The multigrid hierarchy: set up once for a matrix, applied as a preconditioner.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodewise/amg/strength.hpp"
#include "nodewise/base/by_level.hpp"
#include "nodewise/base/options.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::amg {

enum class Coarsening { hmis, pmis };
enum class SmootherKind { l1_gauss_seidel, gauss_seidel, l1_jacobi, jacobi };
/// How one Gauss-Seidel sweep runs through the rows.
enum class SweepOrder {
  automatic,         ///< forward_backward for a symmetric matrix, symmetric for another
  forward_backward,  ///< forward before the coarse correction, backward after it
  symmetric          ///< forward, then backward, both times: twice the work
};

struct Options {
  double strength_threshold = 0.25;
  StrengthMeasure strength_measure = StrengthMeasure::automatic;
  double max_row_sum = 0.9;
  Coarsening coarsening = Coarsening::hmis;
  int seed = 0;
  int max_interpolation_entries = 4;
  double interpolation_truncation = 0.0;
  SmootherKind smoother = SmootherKind::l1_gauss_seidel;
  SweepOrder sweep_order = SweepOrder::automatic;
  int pre_sweeps = 1;
  int post_sweeps = 1;
  double jacobi_weight = 0.6666666666666666;
  int max_levels = 25;
  int max_coarse_rows = 100;
  ByLevel<comm::Route> route = comm::Route::direct;  ///< of the exchanges of the solve
  ByLevel<comm::Route> setup_route;                  ///< of the setup; empty: as in the solve
  int route_from_level = 0;                          ///< finer levels are direct
  ByLevel<comm::Transport> transport;                ///< of the solve; empty: point_to_point
  ByLevel<comm::Transport> setup_transport;          ///< of the setup; empty: point_to_point
};

/// The routes and transports that a level, 0 being the finest, is to take.
struct LevelRoutes {
  comm::Route setup = comm::Route::direct;
  comm::Route solve = comm::Route::direct;
  comm::Transport setup_transport = comm::Transport::point_to_point;
  comm::Transport solve_transport = comm::Transport::point_to_point;

  friend bool operator==(const LevelRoutes&, const LevelRoutes&) = default;
};
LevelRoutes routes_of_level(const Options& options, int level);

/// The one table behind the command line, JSON and the reference page.
std::span<const Field<Options>> option_fields();

/// What is known of one level; the same on every rank.
struct LevelInfo {
  GlobalIndex rows = 0;
  GlobalIndex nonzeros = 0;
  GlobalIndex interpolation_nonzeros =
      0;                 ///< of the prolongation from the next level; 0 on the last
  int active_ranks = 0;  ///< ranks that own rows
  LevelRoutes routes;
  comm::Traffic traffic;          ///< of one product with the level's matrix, over all ranks
  std::int64_t max_messages = 0;  ///< sent by the busiest rank in one product
  std::string coarse_solver;      ///< on the last level: how it is solved
};

/// Called on every rank when a level is complete; its traffic, ranks and messages are then of the
/// calling rank alone, and those of all when the hierarchy is.
using LevelObserver = std::function<void(int level, const LevelInfo& info)>;

template <class T>
struct Level;

/// Classical (Ruge-Stüben) multigrid in the parallel form of De Sterck, Yang, Heys 2006 (PMIS,
/// HMIS) and De Sterck, Falgout, Nolting, Yang 2008 (extended+i interpolation). apply() is one
/// V-cycle from a zero guess: a fixed linear map, symmetric when A is and pre_sweeps equals
/// post_sweeps.
template <class T>
class Hierarchy : public solve::Operator<T> {
 public:
  /// Collective. Throws the same Error on every rank: unsuitable_matrix where A is not square, has
  /// an entry that is not finite, an empty row, or a missing or zero diagonal entry. A's entries
  /// are shared, not copied; its exchange() keeps its route, whatever the options say. A level
  /// whose setup takes another route than its solve plans both.
  Hierarchy(std::shared_ptr<const matrix::DistMatrix<T>> A, const Options& options,
            const LevelObserver& observe = {});
  /// The same on one rank, coarsened as P ranks would that own the rows [starts[r], starts[r + 1])
  /// of A: to study the hierarchy of a machine that is not at hand (amg/virtual_ranks.hpp). Throws
  /// invalid_argument on a communicator of several ranks or where the ranges are not all rows.
  Hierarchy(std::shared_ptr<const matrix::DistMatrix<T>> A, const Options& options,
            std::vector<GlobalIndex> starts, const LevelObserver& observe);
  ~Hierarchy() override;
  Hierarchy(Hierarchy&&) noexcept;

  /// Collective. Sets up again for a matrix with the same pattern and other values, as in a time
  /// step. What depends on the values is computed again: coarse matrices, smoothers, coarse solver;
  /// splittings and interpolations, the routes, and what `automatic` options were resolved to stay
  /// those of the first setup. With the values of the first setup it is, bit for bit, as it was
  /// then. Discovers nothing: the first call plans (for each level about the messages of a Galerkin
  /// product), every later one costs a reversed exchange of values on each level but the last, and
  /// what the coarse solver's setup does. Throws, on every rank, what the constructor throws, or
  /// dimension_mismatch or unsuitable_matrix where the pattern is another; the hierarchy is then as
  /// it was before. Copies of matrix() stay as they are.
  void rebuild(std::shared_ptr<const matrix::DistMatrix<T>> A);

  const comm::Layout& layout() const override;
  void apply(std::span<const T> b, std::span<T> x) const override;

  std::span<const LevelInfo> levels() const;
  /// The matrix of a level, 0 being the finest.
  std::shared_ptr<const matrix::DistMatrix<T>> matrix(std::size_t level) const;
  /// The prolongation to a level from the next; null on the last level.
  const matrix::DistMatrix<T>* interpolation(std::size_t level) const;
  /// Local. This rank's rows of a level that are its rows of the next, ascending: number k is row k
  /// there. Empty on the last level.
  std::span<const LocalIndex> coarse_rows(std::size_t level) const;
  /// Sum of rows (nonzeros) over the levels divided by those of the finest.
  double grid_complexity() const;
  double operator_complexity() const;
  /// Where the rows of the virtual ranks begin on a level; empty where there are none.
  std::span<const GlobalIndex> virtual_starts(std::size_t level) const;
  /// Bytes this rank holds for the levels; the finest matrix and what rebuild() keeps for the next
  /// time are not counted.
  std::size_t memory_bytes() const;

 private:
  std::vector<std::unique_ptr<Level<T>>> levels_;
  std::vector<LevelInfo> info_;
  Options options_;
};

}  // namespace nodewise::amg
