#include "nodewise/comm/points.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::comm {

bool has_whole_points(const Layout& rows, int unknowns) {
  return unknowns >= 1 &&
         std::all_of(rows.starts().begin(), rows.starts().end(),
                     [&](GlobalIndex start) { return (start - rows.first()) % unknowns == 0; });
}

void require_whole_points(const Layout& rows, int unknowns) {
  if (unknowns < 1) {
    throw Error(ErrorCode::invalid_argument,
                "unknowns a point: must be 1 or more, not " + std::to_string(unknowns));
  }
  const std::string what = std::to_string(unknowns) + " unknowns a point: ";
  if (rows.n_global() % unknowns != 0) {
    throw Error(ErrorCode::invalid_argument, what + "the matrix has " +
                                                 std::to_string(rows.n_global()) +
                                                 " rows, which are not whole points");
  }
  for (const GlobalIndex start : rows.starts()) {
    if ((start - rows.first()) % unknowns == 0) continue;
    throw Error(ErrorCode::invalid_argument,
                what + "a rank's rows begin at row " + std::to_string(start - rows.first() + 1) +
                    ", in the middle of a point; all rows of a point must be of one rank");
  }
}

Layout points_of(const Layout& rows, int unknowns) {
  require_whole_points(rows, unknowns);
  std::vector<GlobalIndex> starts(rows.starts().begin(), rows.starts().end());
  for (GlobalIndex& start : starts) start = (start - rows.first()) / unknowns;
  return {rows.shared_comm(), std::move(starts)};
}

}  // namespace nodewise::comm
