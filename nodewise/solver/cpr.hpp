// The constrained pressure residual method, for flow in reservoirs.
#pragma once

#include <memory>
#include <span>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"
#include "nodewise/solver/preconditioner.hpp"

namespace nodewise::solver {

struct CprOptions {
  int cpr_unknown = 0;  ///< of each point, counted from 0: its pressure
};
std::span<const Field<CprOptions>> cpr_options();

/// Collective. Two stages for a system whose points have 2 to 6 unknowns each, interleaved, one of
/// them a pressure: a cycle of multigrid (invert_field()) for the pressures, and a symmetric sweep
/// of block Gauss-Seidel for what is left of the residual. The pressure equation of a point is the
/// combination of its rows in which its other unknowns have no entry at the point itself: its
/// weights are the pressure's row of the inverse of the diagonal block (quasi-IMPES), over that of
/// the pressure's own row. Options of multigrid are for the cycle, `unknowns` for the points; where
/// they are 1 the number is looked for in the pattern. An application costs the messages of the
/// cycle and of the sweep, an exchange. Throws on every rank unsuitable_matrix where an entry is
/// not finite, invalid_argument where the rows are not whole points or `cpr_unknown` is none of
/// theirs, and what invert_field() throws.
/// Sources: Wallis 1983; Lacroix, Vassilevski, Wheeler 2001.
std::unique_ptr<solve::Operator<double>> reduce_to_pressure(
    const std::shared_ptr<const matrix::DistMatrix<double>>& A, const CprOptions& cpr,
    const amg::Options& options);

/// The preconditioner `cpr`.
const PreconditionerMethod& cpr_preconditioner();

}  // namespace nodewise::solver
