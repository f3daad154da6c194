// A hierarchy that one process holds, as if it were spread over many ranks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::amg {

/// Local. Where the rows of the virtual ranks begin on the next level, if rank r has the rows
/// [starts[r], starts[r + 1]) of a level, of which coarse_rows (ascending) go to the next: a coarse
/// point lives on the rank of its fine point, as it does in a hierarchy of so many real ranks.
std::vector<GlobalIndex> virtual_coarse_starts(std::span<const GlobalIndex> starts,
                                               std::span<const LocalIndex> coarse_rows);

}  // namespace nodewise::amg
