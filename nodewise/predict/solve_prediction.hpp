// What the messages of a solve on real ranks should have cost on a machine.
#pragma once

#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/model/machine.hpp"
#include "nodewise/predict/result.hpp"

namespace nodewise::predict {

/// The exchanges of one level, over the routes that they take.
struct LevelExchanges {
  double product_s = 0;                          ///< of one vector, in the precision of the cycle
  double restriction_s = 0, prolongation_s = 0;  ///< to the next level and back; 0 on the last
  Visits visits;                                 ///< of one cycle

  double of_a_cycle_s() const {
    return visits.products * product_s + visits.transfers * (restriction_s + prolongation_s);
  }
};

struct SolvePrediction {
  std::string machine;
  double krylov_product_s = 0;         ///< the messages of one product of the Krylov method
  std::vector<LevelExchanges> levels;  ///< empty without multigrid, and where there is a reason
  std::string not_predicted;           ///< why nothing is said of the cycle; empty if it is
};

/// Collective. By the formulas that choose routes, from the plans of all ranks; each its most
/// expensive rank. `A` is the matrix of the Krylov method, `hierarchy` null without multigrid. Two
/// small reductions for each level and one of a number; no other message. A direct solve on the
/// last level is not predicted, nor are dot products. Throws invalid_argument, on every rank, as
/// model::check() does.
SolvePrediction predict_solve(const matrix::DistMatrix<double>& A,
                              const amg::Hierarchy<double>* hierarchy, bool is_symmetric,
                              const model::Machine& machine);

}  // namespace nodewise::predict
