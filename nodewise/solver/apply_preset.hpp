// Which preset a solve takes, and what it makes of the options.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solver/record.hpp"

namespace nodewise::solver {

/// What the choice of a preset depends on beside the matrix and the options.
struct PresetContext {
  bool symmetric = false;              ///< the matrix
  bool knows_near_null_space = false;  ///< vectors of it, or coordinates to make them of
  bool solves = true;      ///< a solve follows; only that has a use for single precision
  bool on_device = false;  ///< it is for a device, whether the options name one or not
  /// Whether `auto` may choose what is not multigrid, if nothing given asks for that.
  bool may_leave_multigrid = false;
};

/// Collective. Puts what the preset sets into the options, except what is in `given`. Looks at the
/// matrix only where the preset depends on it.
PresetRecord apply_preset(const matrix::DistMatrix<double>& A, const PresetContext& context,
                          Options& options);

}  // namespace nodewise::solver
