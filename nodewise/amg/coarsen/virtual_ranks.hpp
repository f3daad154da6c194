// A hierarchy that one process holds, as if it were spread over many ranks.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::amg {

/// Local. Returns where the rows of the virtual ranks begin on the next level. Rank r has the rows
/// [starts[r], starts[r + 1]) of this level, of which coarse_rows (ascending) go to the next. A
/// coarse point lives on the rank of its fine point, as in a hierarchy of so many real ranks.
std::vector<GlobalIndex> virtual_coarse_starts(std::span<const GlobalIndex> starts,
                                               std::span<const LocalIndex> coarse_rows);

}  // namespace nodewise::amg
