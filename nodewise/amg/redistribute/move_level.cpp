#include "nodewise/amg/redistribute/move_level.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nodewise/amg/redistribute/move_method.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg {

using matrix::DistMatrix;

namespace {

/// Whose rows go to whom.
struct Groups {
  std::vector<GlobalIndex> rows;  // of each rank
  std::vector<int> holders;       // empty where all stay
  bool keep_numbers = true;       // of rows: the ranks of each group follow each other
};

/// Whether the holders ascend with the ranks that have rows.
bool follow_each_other(std::span<const int> holders, std::span<const GlobalIndex> rows) {
  int last = -1;
  for (std::size_t r = 0; r < holders.size(); ++r) {
    if (rows[r] == 0) continue;
    if (holders[r] < last) return false;
    last = holders[r];
  }
  return true;
}

Groups make_groups(std::span<const GlobalIndex> starts, const mpi::Topology& topology,
                   const Grouping& grouping) {
  Groups groups;
  if (grouping.ranks >= size_of_level(starts, 0).active_ranks) return groups;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    groups.rows.push_back(starts[r + 1] - starts[r]);
  }
  groups.holders =
      (*grouping.groups->holders)({topology, groups.rows, grouping.ranks, grouping.couplings});
  groups.keep_numbers = follow_each_other(groups.holders, groups.rows);
  return groups;
}

std::vector<GlobalIndex> starts_of(const Groups& groups, GlobalIndex first) {
  std::vector<GlobalIndex> sizes(groups.holders.size(), 0);
  for (std::size_t r = 0; r < groups.holders.size(); ++r) {
    sizes[static_cast<std::size_t>(groups.holders[r])] += groups.rows[r];
  }
  std::vector<GlobalIndex> starts = {first};
  for (const GlobalIndex size : sizes) starts.push_back(starts.back() + size);
  return starts;
}

/// Collective.
template <class V>
void move_values(V& values, int width, const comm::RowMove& move) {
  using T = typename V::value_type;
  V moved;
  const auto n = static_cast<std::size_t>(move.to().n_local()) * static_cast<std::size_t>(width);
  mpi::collectively(move.from().comm(), [&] { moved.resize(n); });
  move.forward<T>(values, moved, width);
  values = std::move(moved);
}

/// Collective. Rows of a list, ascending.
void move_list(std::vector<LocalIndex>& list, const comm::RowMove& move) {
  std::vector<char> listed;
  mpi::collectively(move.from().comm(), [&] {
    listed.assign(static_cast<std::size_t>(move.from().n_local()), 0);
    for (const LocalIndex i : list) listed[static_cast<std::size_t>(i)] = 1;
  });
  move_values(listed, 1, move);
  list.clear();
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i] != 0) list.push_back(static_cast<LocalIndex>(i));
  }
}

}  // namespace

LevelSize size_of_level(std::span<const GlobalIndex> starts, int level) {
  int active = 0;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) active += starts[r] < starts[r + 1] ? 1 : 0;
  return {level, starts.back() - starts.front(), active};
}

std::optional<comm::RowMove> choose_move(const comm::Layout& rows, const Grouping& grouping,
                                         const std::optional<Error>& failure,
                                         const comm::Route& route) {
  if (grouping.ranks >= size_of_level(rows.starts(), 0).active_ranks) return std::nullopt;
  Groups groups;
  std::vector<GlobalIndex> starts;
  std::vector<int> owners;
  mpi::collectively(rows.comm(), [&] {
    // What failed on one rank would be missing in what all send.
    if (failure) throw Error(*failure);
    groups = make_groups(rows.starts(), rows.comm().topology(), grouping);
    if (groups.keep_numbers) {
      starts = starts_of(groups, rows.first());
    } else {
      owners.assign(static_cast<std::size_t>(rows.n_local()),
                    groups.holders[static_cast<std::size_t>(rows.comm().rank())]);
    }
  });
  if (!groups.keep_numbers) return comm::RowMove::to_owners(rows, owners, route);
  return comm::RowMove(rows, {rows.shared_comm(), std::move(starts)}, route);
}

std::vector<GlobalIndex> moved_starts(std::vector<GlobalIndex> starts,
                                      const mpi::Topology& topology, const Grouping& grouping) {
  const Groups groups = make_groups(starts, topology, grouping);
  if (groups.holders.empty()) return starts;
  if (!groups.keep_numbers) {
    throw Error(ErrorCode::unsupported,
                "multigrid setup: levels of virtual ranks can be put on fewer ranks only where the "
                "ranks that share one follow each other, as on nodes that are filled one after "
                "the other");
  }
  return starts_of(groups, starts.front());
}

template <class T>
void move_near_null_space(NearNullSpace<T>& space, const comm::RowMove& move) {
  if (space.n_vectors > 0) move_values(space.values, space.n_vectors, move);
}

template <class T>
void move_knowledge(GridTransfer<T>& transfer, const comm::RowMove& move) {
  const mpi::Comm& comm = move.from().comm();
  move_near_null_space(transfer.coarse_near_null_space, move);
  move_near_null_space(transfer.coarse_left_near_null_space, move);
  std::int64_t known[] = {transfer.coarse_unknown_of_row.empty() ? 0 : 1,
                          transfer.empty_columns.empty() ? 0 : 1};
  mpi::max_in_place<std::int64_t>(comm, known);  // ranks without rows do not know
  if (known[0] > 0) move_values(transfer.coarse_unknown_of_row, 1, move);
  if (known[1] > 0) move_list(transfer.empty_columns, move);
}

template <class T>
void move_sizes(GridTransfer<T>& transfer, const comm::RowMove& move) {
  const std::int32_t is_known = transfer.coarse_sizes.empty() ? 0 : 1;
  if (mpi::max(move.from().comm(), is_known) > 0) move_values(transfer.coarse_sizes, 1, move);
}

template <class T>
void move_next_level(GridTransfer<T>& transfer, const comm::RowMove& move) {
  const mpi::Scope scope(move.from().comm(), "redistribution");
  move_knowledge(transfer, move);
  transfer.P = std::make_shared<const DistMatrix<T>>(matrix::with_moved_columns(*transfer.P, move));
  if (transfer.R) {
    transfer.R = std::make_shared<const DistMatrix<T>>(matrix::with_moved_rows(*transfer.R, move));
  }
}

template void move_near_null_space(NearNullSpace<float>&, const comm::RowMove&);
template void move_near_null_space(NearNullSpace<double>&, const comm::RowMove&);
template void move_knowledge(GridTransfer<float>&, const comm::RowMove&);
template void move_knowledge(GridTransfer<double>&, const comm::RowMove&);
template void move_sizes(GridTransfer<float>&, const comm::RowMove&);
template void move_sizes(GridTransfer<double>&, const comm::RowMove&);
template void move_next_level(GridTransfer<float>&, const comm::RowMove&);
template void move_next_level(GridTransfer<double>&, const comm::RowMove&);

const MoveMethod& direct_move() {
  static const MoveMethod method = {
      {"direct", "restrictions and prolongations go straight to the ranks that have the level", ""},
      false};
  return method;
}

}  // namespace nodewise::amg
