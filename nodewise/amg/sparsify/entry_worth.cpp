#include "nodewise/amg/sparsify/entry_worth.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/matrix/row_runs.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
template <class T>
using Told = comm::Records<matrix::RowEntry<T>>;

/// What this rank tells the owners of its ghosts: by whom they are needed, and how much. `tells`
/// says of which blocks.
template <class T, class Tells>
Told<T> tell_owners(const DistMatrix<T>& A, const PointBlocks<T>& blocks, const Tells& tells) {
  std::vector<Offset> lengths(static_cast<std::size_t>(A.n_ghosts()) + 1, 0);
  const auto for_each_told = [&](auto&& f) {
    LocalIndex last = -1;
    for (const LocalIndex i : A.boundary_rows()) {
      const LocalIndex point = i / blocks.unknowns();
      if (std::exchange(last, point) == point) continue;
      for (Offset block = blocks.begin(point); block < blocks.end(point); ++block) {
        const LocalIndex to = blocks.column(block);
        if (to < blocks.n_points() || !tells(block)) continue;
        f(static_cast<std::size_t>(blocks.first_ghost(to)), point, block);
      }
    }
  };
  for_each_told([&](std::size_t ghost, LocalIndex, Offset) { ++lengths[ghost + 1]; });
  for (std::size_t g = 1; g < lengths.size(); ++g) lengths[g] += lengths[g - 1];
  Told<T> told;
  told.data.resize(static_cast<std::size_t>(lengths.back()));
  std::vector<Offset> next = lengths;
  for_each_told([&](std::size_t ghost, LocalIndex point, Offset block) {
    told.data[static_cast<std::size_t>(next[ghost]++)] = {blocks.global(point),
                                                          blocks.worth(block)};
  });
  told.offsets = std::move(lengths);
  return told;
}

/// Raises what the owned entries that are sent are worth to their receivers.
template <class T>
class SentWorth {
 public:
  SentWorth(const DistMatrix<T>& A, int unknowns)
      : rows_(A.rows()),
        unknowns_(unknowns),
        pattern_(comm::route::pattern_of(A.exchange().plan())) {}
  std::size_t size() const { return pattern_.send_entries.size(); }
  /// Of a point's rows, each that the receiver has as a ghost.
  void raise(LocalIndex point, GlobalIndex receiver, T worth, std::vector<T>& of_sent) const {
    const int rank = rows_.owner(rows_.first() + receiver * unknowns_);
    const auto to = static_cast<std::size_t>(
        std::lower_bound(pattern_.send_ranks.begin(), pattern_.send_ranks.end(), rank) -
        pattern_.send_ranks.begin());
    const auto begin = pattern_.send_entries.begin() + pattern_.send_offsets[to];
    const auto end = pattern_.send_entries.begin() + pattern_.send_offsets[to + 1];
    const LocalIndex first = point * unknowns_;
    for (auto at = std::lower_bound(begin, end, first); at != end && *at < first + unknowns_;
         ++at) {
      T& most = of_sent[static_cast<std::size_t>(at - pattern_.send_entries.begin())];
      most = std::max(most, worth);
    }
  }

 private:
  const comm::Layout& rows_;
  int unknowns_;
  comm::Pattern pattern_;
};

/// Takes what the owners of columns of this rank's rows were told, and those of its own.
template <class T>
void join_sides(const DistMatrix<T>& A, const Told<T>& told, T tolerance, EntryWorth<T>& worth) {
  PointBlocks<T>& blocks = worth.blocks;
  const SentWorth<T> sent(A, blocks.unknowns());
  worth.of_sent.assign(sent.size(), T{-1});
  std::vector<char> is_answered;
  if (A.n_ghosts() > 0) is_answered.assign(static_cast<std::size_t>(blocks.begins().back()), 0);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const LocalIndex point = static_cast<LocalIndex>(i) / blocks.unknowns();
    for (const matrix::RowEntry<T>& entry : told[i]) {
      const LocalIndex other = blocks.local(entry.col);
      const Offset block = other < 0 ? -1 : blocks.find(point, other);
      T most = always_kept<T>;  // so says the other side, which is not answered
      if (block >= 0) {
        most = blocks.worth(block) = std::max(blocks.worth(block), entry.value);
        is_answered[static_cast<std::size_t>(block)] = 1;
      }
      sent.raise(point, entry.col, most, worth.of_sent);
    }
  }
  for (LocalIndex point = 0; point < blocks.n_points(); ++point) {
    for (Offset block = blocks.begin(point); block < blocks.end(point); ++block) {
      const LocalIndex other = blocks.column(block);
      if (other == point) continue;
      T& here = blocks.worth(block);
      if (here >= tolerance) continue;  // it stays, whatever the other side says
      if (other >= blocks.n_points()) {
        if (is_answered[static_cast<std::size_t>(block)] == 0) here = always_kept<T>;
        continue;
      }
      const Offset there = blocks.find(other, point);
      here = there < 0 ? always_kept<T> : std::max(here, blocks.worth(there));
    }
  }
}

/// A record goes on as it came.
constexpr auto leave = [](auto record) { return record.size(); };

}  // namespace

template <class T>
EntryWorth<T> entry_worth(const DistMatrix<T>& A, int unknowns, const WorthRules<T>& rules,
                          std::optional<Error>& failure) {
  EntryWorth<T> worth;
  const auto number = mpi::caught([&] { worth.blocks = PointBlocks<T>(A, unknowns); });
  if (!failure) failure = number;
  rules.rule->template function<T>()(
      {A, worth.blocks, rules.minimal, rules.tolerance, rules.guards_diagonal, rules.kept_vector,
       rules.places, rules.rule},
      failure);
  const auto make = [&] { return tell_owners(A, worth.blocks, [](Offset) { return true; }); };
  const auto told = A.exchange().reverse_records(make, leave, failure);
  if (!failure) failure = mpi::caught([&] { join_sides(A, told, rules.tolerance, worth); });
  return worth;
}

template <class T>
void keep_both(const DistMatrix<T>& A, std::span<const Offset> always, EntryWorth<T>& worth,
               std::optional<Error>& failure) {
  PointBlocks<T>& blocks = worth.blocks;
  const auto make = [&] {
    std::vector<char> is_new(static_cast<std::size_t>(blocks.begins().back()), 0);
    for (const Offset block : always) {
      is_new[static_cast<std::size_t>(block)] = 1;
      blocks.worth(block) = always_kept<T>;
    }
    return tell_owners(A, blocks,
                       [&](Offset block) { return is_new[static_cast<std::size_t>(block)] != 0; });
  };
  const auto told = A.exchange().reverse_records(make, leave, failure);
  if (failure) return;
  failure = mpi::caught([&] {
    const SentWorth<T> sent(A, blocks.unknowns());
    const auto needed_by = [&](LocalIndex point, GlobalIndex other) {
      if (worth.of_sent.empty()) return;
      sent.raise(point, other, always_kept<T>, worth.of_sent);
    };
    for (std::size_t i = 0; i < told.size(); ++i) {
      const LocalIndex point = static_cast<LocalIndex>(i) / blocks.unknowns();
      for (const matrix::RowEntry<T>& entry : told[i]) {
        const LocalIndex other = blocks.local(entry.col);
        const Offset block = other < 0 ? -1 : blocks.find(point, other);
        if (block >= 0) blocks.worth(block) = always_kept<T>;
        needed_by(point, entry.col);
      }
    }
    std::size_t next = 0;
    for (LocalIndex row = 0; row < blocks.n_points(); ++row) {
      for (; next < always.size() && always[next] < blocks.end(row); ++next) {
        const LocalIndex other = blocks.column(always[next]);
        if (other >= blocks.n_points()) {
          needed_by(row, blocks.global(other));
        } else if (const Offset there = blocks.find(other, row); there >= 0) {
          blocks.worth(there) = always_kept<T>;
        }
      }
    }
  });
}

#define NODEWISE_INSTANTIATE(T)                                                          \
  template EntryWorth<T> entry_worth(const DistMatrix<T>&, int, const WorthRules<T>&,    \
                                     std::optional<Error>&);                             \
  template void keep_both(const DistMatrix<T>&, std::span<const Offset>, EntryWorth<T>&, \
                          std::optional<Error>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::sparsify
