// What a caller knows of a problem besides its matrix.
#pragma once

#include <functional>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/run/records.hpp"
#include "nodewise/solver/field_rows.hpp"
#include "nodewise/solver/options.hpp"

namespace nodewise::solver {

/// Arrays are this rank's parts, in the order of its rows.
struct Problem {
  run::MatrixSummary matrix;  ///< where the matrix is from; the rest is found
  /// Vectors that the matrix, and the transposed one, nearly map to zero.
  amg::NearNullSpace<double> near_null_space, left_near_null_space;
  /// Of this rank's points, `dimensions` a point, row-major: the near null space is then that of
  /// linear elasticity, with as many unknowns a point.
  std::vector<double> coordinates;
  int dimensions = 0;  ///< 0: there are no coordinates
  /// Which rows are of which field, for the preconditioner `fields`.
  RowFields fields;

  /// For what is better made when it is needed, in place of the vectors above: collective, called
  /// once the preset has been applied, where multigrid is set up. `has_near_null_space` then says
  /// whether there is one, which the choice of a preset depends on.
  std::function<amg::ProblemInfo<double>(const Options& options)> make;
  bool has_near_null_space = false;
  /// Likewise whether it was given by the caller, for an aggregation, which alone has a use for it.
  bool gives_near_null_space = false;

  bool is_for_aggregation() const {
    return gives_near_null_space || near_null_space.n_vectors > 0 || dimensions > 0;
  }
  bool knows_near_null_space() const { return has_near_null_space || is_for_aggregation(); }
};

/// Collective. What multigrid is told. Throws invalid_argument where the coordinates do not fit the
/// number of unknowns, and what amg::rigid_body_modes() throws.
amg::ProblemInfo<double> problem_info(const comm::Layout& rows, const Problem& problem,
                                      const Options& options, bool symmetric);

}  // namespace nodewise::solver
