#include "nodewise/amg/sparsify/entry_worth.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/matrix/row_runs.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
/// A block is told by a word with its point, and behind it what each rule says that it is worth.
template <class T>
using Told = comm::Records<matrix::RowWord<T>>;

template <class T>
constexpr std::size_t words_of_block(std::size_t n_rules) {
  return 1 + (n_rules + matrix::values_per_word<T> - 1) / matrix::values_per_word<T>;
}

/// What this rank tells the owners of its ghosts: by whom they are needed, and how much. `tells`
/// says of which blocks.
template <class T, class Tells>
Told<T> tell_owners(const DistMatrix<T>& A, std::span<const EntryWorth<T>> worths,
                    const Tells& tells) {
  const PointBlocks<T>& blocks = worths.front().blocks;
  const std::size_t n_words = words_of_block<T>(worths.size());
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
  for_each_told([&](std::size_t ghost, LocalIndex, Offset) {
    lengths[ghost + 1] += static_cast<Offset>(n_words);
  });
  for (std::size_t g = 1; g < lengths.size(); ++g) lengths[g] += lengths[g - 1];
  Told<T> told;
  told.data.resize(static_cast<std::size_t>(lengths.back()));
  std::vector<Offset> next = lengths;
  for_each_told([&](std::size_t ghost, LocalIndex point, Offset block) {
    matrix::RowWord<T>* const words = told.data.data() + next[ghost];
    next[ghost] += static_cast<Offset>(n_words);
    words[0].bits = static_cast<std::uint64_t>(blocks.global(point));
    auto* values = reinterpret_cast<std::byte*>(words + 1);
    for (const EntryWorth<T>& worth : worths) {
      const T value = worth.blocks.worth(block);
      std::memcpy(values, &value, sizeof(T));
      values += sizeof(T);
    }
  });
  told.offsets = std::move(lengths);
  return told;
}

/// Calls f(point, the point that needs it, the place of the block here or -1, worths) for each
/// block that this rank was told of.
template <class T, class F>
void for_each_told(const Told<T>& told, const PointBlocks<T>& blocks, std::size_t n_rules, F&& f) {
  std::vector<T> worths(n_rules);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const LocalIndex point = static_cast<LocalIndex>(i) / blocks.unknowns();
    std::span<const matrix::RowWord<T>> words = told[i];
    for (; !words.empty(); words = words.subspan(words_of_block<T>(n_rules))) {
      const auto from = static_cast<GlobalIndex>(words[0].bits);
      std::memcpy(worths.data(), words.data() + 1, n_rules * sizeof(T));
      const LocalIndex other = blocks.local(from);
      f(point, from, other < 0 ? -1 : blocks.find(point, other), std::span<const T>(worths));
    }
  }
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

/// Takes what both rows here say of their blocks; what others say is in already.
template <class T>
void join_here(T tolerance, const std::vector<char>& is_answered, PointBlocks<T>& blocks) {
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

/// Takes what the owners of columns of this rank's rows were told, and those of its own.
template <class T>
void join_sides(const DistMatrix<T>& A, const Told<T>& told, std::span<const WorthRules<T>> rules,
                std::span<EntryWorth<T>> worths) {
  const PointBlocks<T>& blocks = worths.front().blocks;
  const SentWorth<T> sent(A, blocks.unknowns());
  for (EntryWorth<T>& worth : worths) worth.of_sent.assign(sent.size(), T{-1});
  std::vector<char> is_answered;
  if (A.n_ghosts() > 0) is_answered.assign(static_cast<std::size_t>(blocks.begins().back()), 0);
  for_each_told(told, blocks, worths.size(),
                [&](LocalIndex point, GlobalIndex from, Offset block, std::span<const T> told_by) {
                  if (block >= 0) is_answered[static_cast<std::size_t>(block)] = 1;
                  for (std::size_t k = 0; k < worths.size(); ++k) {
                    T most = always_kept<T>;  // so says the other side, which is not answered
                    if (block >= 0) {
                      T& here = worths[k].blocks.worth(block);
                      most = here = std::max(here, told_by[k]);
                    }
                    sent.raise(point, from, most, worths[k].of_sent);
                  }
                });
  for (std::size_t k = 0; k < worths.size(); ++k) {
    join_here(rules[k].tolerance, is_answered, worths[k].blocks);
  }
}

/// A record goes on as it came.
constexpr auto leave = [](auto record) { return record.size(); };

}  // namespace

template <class T>
std::vector<EntryWorth<T>> entry_worths(const DistMatrix<T>& A, int unknowns,
                                        std::span<const WorthRules<T>> rules,
                                        std::optional<Error>& failure) {
  std::vector<EntryWorth<T>> worths(rules.size());
  const auto number = mpi::caught([&] {
    worths.front().blocks = PointBlocks<T>(A, unknowns);
    for (std::size_t k = 1; k < worths.size(); ++k) worths[k].blocks = worths.front().blocks;
  });
  if (!failure) failure = number;
  for (std::size_t k = 0; k < rules.size(); ++k) {
    const WorthRules<T>& by = rules[k];
    by.rule->template function<T>()({A, worths[k].blocks, by.minimal, by.tolerance,
                                     by.guards_diagonal, by.kept_vector, by.places, by.rule},
                                    failure);
  }
  const std::span<const EntryWorth<T>> all = worths;
  const auto make = [&] { return tell_owners(A, all, [](Offset) { return true; }); };
  const auto told = A.exchange().reverse_records(make, leave, failure);
  if (!failure) failure = mpi::caught([&] { join_sides(A, told, rules, std::span(worths)); });
  return worths;
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
    return tell_owners(A, std::span<const EntryWorth<T>>(&worth, 1),
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
    for_each_told(told, blocks, 1,
                  [&](LocalIndex point, GlobalIndex from, Offset block, std::span<const T>) {
                    if (block >= 0) blocks.worth(block) = always_kept<T>;
                    needed_by(point, from);
                  });
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
  template std::vector<EntryWorth<T>> entry_worths(                                      \
      const DistMatrix<T>&, int, std::span<const WorthRules<T>>, std::optional<Error>&); \
  template void keep_both(const DistMatrix<T>&, std::span<const Offset>, EntryWorth<T>&, \
                          std::optional<Error>&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::sparsify
