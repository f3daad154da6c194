// What interpolation formulas send, counted on one rank for virtual ranks.
#pragma once

#include <span>

#include "nodewise/amg/interpolate/neighbourhood.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"

namespace nodewise::amg::interpolate {

/// Local. Adds the exchanges of a formula that goes through such entries of other rows: which
/// ghosts are coarse, and their links to coarse points. A is on one rank; virtual ranks begin at
/// `ranks`.
void link_exchanges(Signs signs, const matrix::DistMatrix<double>& A, const Strength& strength,
                    std::span<const LocalIndex> coarse_rows, std::span<const GlobalIndex> ranks,
                    VirtualExchanges& exchanges);

/// Local. Those of a formula that needs no rows of others: which ghosts are coarse.
void number_exchanges(VirtualExchanges& exchanges);

}  // namespace nodewise::amg::interpolate
