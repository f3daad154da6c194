// The messages of the interpolation formulas, counted on one rank for virtual ranks.
#pragma once

#include <span>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/amg/messages/virtual_exchanges.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Local. Adds the exchanges of a formula, not `automatic`, over the plans of A, which is on one
/// rank: which ghosts are coarse, and their links to coarse points; by multipass the rows of each
/// pass. Virtual ranks begin at `ranks`.
void interpolation_exchanges(Interpolation formula, const matrix::DistMatrix<double>& A,
                             const Strength& strength, std::span<const LocalIndex> coarse_rows,
                             std::span<const GlobalIndex> ranks, VirtualExchanges& exchanges);

}  // namespace nodewise::amg
