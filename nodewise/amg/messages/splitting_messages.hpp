// What a splitting in one stage sends, counted on one rank for virtual ranks.
#pragma once

#include <cstdint>
#include <span>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/amg/messages/virtual_exchanges.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

/// Local. How many reductions the ledger has under an operation of a level.
std::int64_t collectives_of(std::span<const mpi::Account> books, const char* operation,
                            std::int64_t level);

/// Local. How often a splitting that made so many reductions looked for points that outweigh their
/// neighbours; 0 for Ruge-Stüben.
int splitting_rounds(Coarsening coarsening, std::int64_t collectives);

/// Local. Adds the exchanges of a splitting of A that made so many reductions: states, weights and
/// counts, round by round.
void splitting_exchanges(Coarsening coarsening, std::int64_t collectives,
                         const kernels::Csr<double>& A, const Strength& strength,
                         VirtualExchanges& exchanges);

}  // namespace nodewise::amg
