#include "nodewise/comm/points.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::comm {

std::vector<GlobalIndex> uniform_point_starts(GlobalIndex n, int n_ranks, int unknowns) {
  if (unknowns < 1) throw Error(ErrorCode::invalid_argument, "layout: points without unknowns");
  std::vector<GlobalIndex> starts = uniform_starts(n < 0 ? n : n / unknowns, n_ranks);
  for (GlobalIndex& start : starts) start *= unknowns;
  starts.back() = n;
  return starts;
}

Layout uniform_points(std::shared_ptr<const mpi::Comm> comm, GlobalIndex n, int unknowns) {
  std::vector<GlobalIndex> starts = uniform_point_starts(n, comm->size(), unknowns);
  return {std::move(comm), std::move(starts)};
}

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
