// What a splitting in one stage sends, counted on one rank for virtual ranks.
#pragma once

#include <cstdint>
#include <span>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

/// Local. How many reductions the ledger has under an operation of a level.
std::int64_t collectives_of(std::span<const mpi::Account> books, const char* operation,
                            std::int64_t level);

/// Local. What a coarsening says of its messages; throws unsupported where it does not.
const SplittingMessages& messages_of(const Choice<CoarseningMethod>& coarsening);

}  // namespace nodewise::amg
