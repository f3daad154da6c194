#include "nodewise/comm/row_move.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

namespace {

/// Calls f(rank, first, last) for every rank but this one that owns some of the rows [begin, end).
template <class F>
void for_each_owner(const Layout& layout, GlobalIndex begin, GlobalIndex end, const F& f) {
  for (GlobalIndex i = begin; i < end;) {
    const int owner = layout.owner(i);
    const GlobalIndex last = std::min(end, layout.end(owner));
    if (owner != layout.comm().rank()) f(owner, i, last);
    i = last;
  }
}

/// Local. What goes where is known of both layouts on every rank.
Pattern pattern_between(const Layout& from, const Layout& to) {
  Pattern pattern;
  pattern.n_owned = from.n_local();
  for_each_owner(from, to.begin(), to.end(), [&](int rank, GlobalIndex first, GlobalIndex last) {
    pattern.n_ghosts += static_cast<LocalIndex>(last - first);
    pattern.recv_ranks.push_back(rank);
    pattern.recv_offsets.push_back(pattern.n_ghosts);
  });
  for_each_owner(to, from.begin(), from.end(), [&](int rank, GlobalIndex first, GlobalIndex last) {
    for (GlobalIndex i = first; i < last; ++i) pattern.send_entries.push_back(from.to_local(i));
    pattern.send_ranks.push_back(rank);
    pattern.send_offsets.push_back(static_cast<LocalIndex>(pattern.send_entries.size()));
  });
  return pattern;
}

/// Local. Throws where the owners are not those of this rank's rows.
void check_owners(const Layout& from, std::span<const int> owners) {
  const int n_ranks = from.comm().size();
  if (owners.size() != static_cast<std::size_t>(from.n_local())) {
    throw Error(ErrorCode::dimension_mismatch, "moving rows: " + std::to_string(owners.size()) +
                                                   " owners for " + std::to_string(from.n_local()) +
                                                   " rows");
  }
  const auto bad = std::find_if(owners.begin(), owners.end(),
                                [&](int owner) { return owner < 0 || owner >= n_ranks; });
  if (bad != owners.end()) {
    throw Error(ErrorCode::invalid_argument,
                "moving rows: row " + std::to_string(from.begin() + (bad - owners.begin())) +
                    " is to go to rank " + std::to_string(*bad) + " of " + std::to_string(n_ranks));
  }
}

/// Local; the same on every rank.
void require_same_rows(const Layout& from, const Layout& to) {
  if (from.first() == to.first() && from.last() == to.last() &&
      from.comm().size() == to.comm().size()) {
    return;
  }
  throw Error(ErrorCode::dimension_mismatch,
              "moving rows: the layouts differ in their rows or ranks: rows " +
                  std::to_string(from.first()) + " to " + std::to_string(from.last()) + " on " +
                  std::to_string(from.comm().size()) + " ranks, and " + std::to_string(to.first()) +
                  " to " + std::to_string(to.last()) + " on " + std::to_string(to.comm().size()));
}

/// The rows of this rank by their new owners, and how many come from whom.
struct Distribution {
  Messages<LocalIndex> leaving;      // this rank included, where rows stay
  Messages<GlobalIndex> coming;      // the number of rows from each rank, this one included
  std::vector<GlobalIndex> offsets;  // where those of each begin in this rank's rows, and the end
};

/// Collective.
Distribution distribute(const Layout& from, std::span<const int> owners) {
  const mpi::Comm& comm = from.comm();
  Distribution result;
  result.coming = exchange_sparse(comm, [&] {
    check_owners(from, owners);
    std::vector<LocalIndex> rows(owners.size());
    std::iota(rows.begin(), rows.end(), 0);
    result.leaving = group_by_rank<LocalIndex>(owners, rows, comm.size());
    Messages<GlobalIndex> counts;
    for (std::size_t m = 0; m < result.leaving.size(); ++m) {
      counts.ranks.push_back(result.leaving.ranks[m]);
      counts.data.push_back(static_cast<GlobalIndex>(result.leaving.message(m).size()));
      counts.offsets.push_back(static_cast<Offset>(counts.data.size()));
    }
    return counts;
  });
  result.offsets.assign(1, 0);
  for (const GlobalIndex n : result.coming.data)
    result.offsets.push_back(result.offsets.back() + n);
  return result;
}

/// Collective. The new numbers of this rank's rows, told by their new owners.
std::vector<GlobalIndex> new_numbers(const Layout& from, const Layout& to,
                                     const Distribution& known) {
  const Messages<GlobalIndex> starts = exchange_sparse(from.comm(), [&] {
    Messages<GlobalIndex> replies = known.coming;
    for (std::size_t m = 0; m < replies.size(); ++m)
      replies.data[m] = to.begin() + known.offsets[m];
    return replies;
  });
  return mpi::collectively(from.comm(), [&] {
    std::vector<GlobalIndex> numbers(static_cast<std::size_t>(from.n_local()));
    for (std::size_t m = 0; m < starts.size(); ++m) {
      GlobalIndex number = starts.data[m];
      for (const LocalIndex i : known.leaving.message(m)) {
        numbers[static_cast<std::size_t>(i)] = number++;
      }
    }
    return numbers;
  });
}

/// Local. The pattern, and the rows that stay.
std::pair<Pattern, std::vector<LocalIndex>> pattern_of(const Layout& from,
                                                       const Distribution& known) {
  std::pair<Pattern, std::vector<LocalIndex>> result;
  auto& [pattern, stayed] = result;
  const int rank = from.comm().rank();
  pattern.n_owned = from.n_local();
  for (std::size_t m = 0; m < known.coming.size(); ++m) {
    if (known.coming.ranks[m] == rank) continue;
    pattern.n_ghosts += static_cast<LocalIndex>(known.coming.data[m]);
    pattern.recv_ranks.push_back(known.coming.ranks[m]);
    pattern.recv_offsets.push_back(pattern.n_ghosts);
  }
  for (std::size_t m = 0; m < known.leaving.size(); ++m) {
    const std::span<const LocalIndex> rows = known.leaving.message(m);
    if (known.leaving.ranks[m] == rank) {
      stayed.assign(rows.begin(), rows.end());
      continue;
    }
    pattern.send_entries.insert(pattern.send_entries.end(), rows.begin(), rows.end());
    pattern.send_ranks.push_back(known.leaving.ranks[m]);
    pattern.send_offsets.push_back(static_cast<LocalIndex>(pattern.send_entries.size()));
  }
  return result;
}

}  // namespace

void RowMove::plan(const std::function<Arrivals()>& arrivals, const Route& route,
                   const Transport& transport) {
  const mpi::Comm& comm = from_.comm();
  const bool is_local = goes_straight(route, comm.topology());
  const auto exchange_over = [&](Plan plan) {
    exchange_ = std::make_shared<Exchange>(from_.shared_comm(), std::move(plan), transport);
  };
  Pattern pattern;
  mpi::collectively(comm, [&] {
    Arrivals arriving = arrivals();
    pattern = std::move(arriving.pattern);
    for (std::size_t m = 0; m < pattern.recv_ranks.size(); ++m) {
      if (pattern.recv_ranks[m] < comm.rank()) n_before_ = pattern.recv_offsets[m + 1];
    }
    stayed_ = std::make_shared<const std::vector<LocalIndex>>(std::move(arriving.stayed));
    if (is_local) exchange_over(make_plan(comm, pattern, route));
  });
  if (is_local) return;
  Plan plan = make_plan(comm, pattern, route);
  mpi::collectively(comm, [&] { exchange_over(std::move(plan)); });
}

RowMove::RowMove(Layout from, Layout to, const Route& route, const Transport& transport)
    : RowMove(Unplanned{}, std::move(from), std::move(to)) {
  require_same_rows(from_, to_);
  const auto arrivals = [&] {
    Arrivals result{pattern_between(from_, to_), {}};
    const GlobalIndex begin = std::max(from_.begin(), to_.begin());
    const GlobalIndex end = std::min(from_.end(), to_.end());
    for (GlobalIndex i = begin; i < end; ++i) result.stayed.push_back(from_.to_local(i));
    return result;
  };
  plan(arrivals, route, transport);
}

RowMove RowMove::to_owners(const Layout& from, std::span<const int> owners, const Route& route,
                           const Transport& transport) {
  const Distribution known = distribute(from, owners);
  const Layout sizes = Layout::from_local_size(from.shared_comm(), known.offsets.back());
  std::vector<GlobalIndex> starts(sizes.starts().begin(), sizes.starts().end());
  for (GlobalIndex& start : starts) start += from.first();
  RowMove move(Unplanned{}, from, Layout(from.shared_comm(), std::move(starts)));
  move.numbers_ =
      std::make_shared<const std::vector<GlobalIndex>>(new_numbers(from, move.to_, known));
  const auto arrivals = [&] {
    auto [pattern, stayed] = pattern_of(from, known);
    return Arrivals{std::move(pattern), std::move(stayed)};
  };
  move.plan(arrivals, route, transport);
  return move;
}

namespace {

/// Local. The owners of the rows' new numbers.
std::vector<int> owners_of_numbers(const Layout& from, const Layout& to,
                                   std::span<const GlobalIndex> numbers) {
  if (numbers.size() != static_cast<std::size_t>(from.n_local())) {
    throw Error(ErrorCode::dimension_mismatch, "moving rows: " + std::to_string(numbers.size()) +
                                                   " numbers for " +
                                                   std::to_string(from.n_local()) + " rows");
  }
  std::vector<int> owners;
  owners.reserve(numbers.size());
  for (const GlobalIndex number : numbers) {
    if (!to.contains(number)) {
      throw Error(ErrorCode::invalid_argument,
                  "moving rows: " + std::to_string(number) + " is no number of a row");
    }
    owners.push_back(to.owner(number));
  }
  return owners;
}

/// Local. For each row of this rank in `to` the one that arrived with its number.
std::vector<LocalIndex> order_by_numbers(const Layout& to, std::span<const GlobalIndex> arrived) {
  std::vector<LocalIndex> order(static_cast<std::size_t>(to.n_local()), -1);
  for (std::size_t k = 0; k < arrived.size(); ++k) {
    order[static_cast<std::size_t>(to.to_local(arrived[k]))] = static_cast<LocalIndex>(k);
  }
  const auto missing = std::find(order.begin(), order.end(), -1);
  if (missing != order.end() || arrived.size() != order.size()) {
    throw Error(ErrorCode::invalid_argument, "moving rows: two rows are to have the same number");
  }
  return order;
}

}  // namespace

RowMove RowMove::to_numbers(const Layout& from, const Layout& to,
                            std::span<const GlobalIndex> numbers) {
  require_same_rows(from, to);
  const std::vector<int> owners =
      mpi::collectively(from.comm(), [&] { return owners_of_numbers(from, to, numbers); });
  RowMove move = to_owners(from, owners);
  std::vector<GlobalIndex> arrived;
  mpi::collectively(from.comm(),
                    [&] { arrived.resize(static_cast<std::size_t>(move.to_.n_local())); });
  move.forward<GlobalIndex>(numbers, arrived);
  mpi::collectively(from.comm(), [&] {
    move.order_ = std::make_shared<const std::vector<LocalIndex>>(order_by_numbers(to, arrived));
    move.numbers_ =
        std::make_shared<const std::vector<GlobalIndex>>(numbers.begin(), numbers.end());
    move.to_ = to;
  });
  return move;
}

}  // namespace nodewise::comm
