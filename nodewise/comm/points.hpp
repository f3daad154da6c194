// Rows that come in points: several unknowns each, interleaved.
#pragma once

#include "nodewise/comm/layout.hpp"

namespace nodewise::comm {

/// Local. uniform_starts() of whole points: n rows, of which the last rank has those that are no
/// complete point. Throws invalid_argument unless n >= 0, n_ranks > 0 and unknowns > 0.
std::vector<GlobalIndex> uniform_point_starts(GlobalIndex n, int n_ranks, int unknowns);

/// Local. n rows in these ranges. Throws where a rank would own 2^31 rows or more, too.
Layout uniform_points(std::shared_ptr<const mpi::Comm> comm, GlobalIndex n, int unknowns);

/// Local; the same on every rank. Whether the rows are whole points of `unknowns` rows, each of
/// them on one rank.
bool has_whole_points(const Layout& rows, int unknowns);

/// Local; throws the same Error on every rank. invalid_argument where a point's rows are not all
/// of one rank, or the last point is not complete.
void require_whole_points(const Layout& rows, int unknowns);

/// Local. The layout of the points, the first being 0: rank r owns those whose rows it owns. Throws
/// what require_whole_points() throws.
Layout points_of(const Layout& rows, int unknowns);

}  // namespace nodewise::comm
