// How often a cycle sweeps, restricts and solves on each level.
#pragma once

#include <cstddef>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/predict/result.hpp"

namespace nodewise::predict {

/// Local. Of one cycle from zero; `symmetric` decides what the order of sweeps `automatic` is,
/// `direct_last` how the last level is solved. Exchanges are those that amg::Cycle and the
/// smoothers make. Passes over the matrix are counted as if no sweep were combined with the
/// residual after it: sweeps before and after and one residual, as in the model of Gahvari et al.
/// 2014. Throws invalid_argument for the cycles k and additive: how often the first visits a level
/// depends on residuals, and the second visits all levels at once.
std::vector<Visits> work_of_cycle(const amg::Options& given, bool symmetric, std::size_t n_levels,
                                  bool direct_last);

}  // namespace nodewise::predict
