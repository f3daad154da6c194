// The distance at which a second pass through the rows of a matrix can follow the first.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::amg::relax {

/// When the first pass has come to the row `first`, the second may go on to the row `second`; both
/// go the same way. Neither row is included upwards, both are downwards.
struct Stretch {
  LocalIndex first, second;
};

/// Local. Returns the stretches of two passes. The first goes from the row `begin` on to one of
/// `ends` after the other. The second waits at every stretch until the first has passed the last
/// row that it sees there, last_seen[k] in stretch k. It does nothing after the last one: the rest
/// can be done at any time.
std::vector<Stretch> stretches(LocalIndex begin, std::span<const LocalIndex> ends,
                               std::span<const LocalIndex> last_seen);

}  // namespace nodewise::amg::relax
