#include "nodewise/amg/sparsify/rest.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/comm/route/direct.hpp"
#include "nodewise/comm/virtual_ranks.hpp"

namespace nodewise::amg::sparsify {

namespace {

/// The part of a list of messages whose entries are wanted: begins are counts of entries, as in
/// Pattern.
void keep_wanted(std::vector<int>& ranks, std::vector<LocalIndex>& offsets,
                 const std::vector<char>& is_wanted) {
  std::vector<int> kept_ranks;
  std::vector<LocalIndex> kept_offsets = {0};
  for (std::size_t m = 0; m < ranks.size(); ++m) {
    const auto n = static_cast<LocalIndex>(
        std::count(is_wanted.begin() + offsets[m], is_wanted.begin() + offsets[m + 1], 1));
    if (n == 0) continue;
    kept_ranks.push_back(ranks[m]);
    kept_offsets.push_back(kept_offsets.back() + n);
  }
  ranks = std::move(kept_ranks);
  offsets = std::move(kept_offsets);
}

/// Calls f(point, block) for every block that stays.
template <class T, class F>
void for_each_kept(const EntryWorth<T>& worth, T tolerance, LocalIndex begin, LocalIndex end,
                   F&& f) {
  const PointBlocks<T>& blocks = worth.blocks;
  for (LocalIndex point = begin; point < end; ++point) {
    for (Offset block = blocks.begin(point); block < blocks.end(point); ++block) {
      if (worth.keeps(point, block, tolerance)) f(point, block);
    }
  }
}

/// Adds what the rows here lose.
template <class T>
void add_losses(const PointBlocks<T>& norms, const EntryWorth<T>& worth, T tolerance, Rest& rest) {
  for (LocalIndex point = 0; point < norms.n_points(); ++point) {
    double sum = 0, lost = 0;
    for (Offset block = norms.begin(point); block < norms.end(point); ++block) {
      if (norms.column(block) == point) continue;
      const auto norm = static_cast<double>(norms.worth(block));
      sum += norm;
      if (!worth.keeps(point, block, tolerance)) lost += norm;
    }
    if (lost > 0) rest.losses += lost / sum;
  }
}

template <class T>
comm::Pattern pattern_here(const matrix::DistMatrix<T>& A, const EntryWorth<T>& worth,
                           T tolerance) {
  const PointBlocks<T>& blocks = worth.blocks;
  std::vector<char> is_kept(static_cast<std::size_t>(blocks.n_all()), 0);
  for_each_kept(worth, tolerance, 0, blocks.n_points(), [&](LocalIndex, Offset block) {
    is_kept[static_cast<std::size_t>(blocks.column(block))] = 1;
  });
  std::vector<char> is_wanted;
  for (LocalIndex g = 0; g < A.n_ghosts(); ++g) {
    is_wanted.push_back(is_kept[static_cast<std::size_t>(blocks.point_of(A.n_local() + g))]);
  }
  return pattern_of_rest(comm::route::pattern_of(A.exchange().plan()), is_wanted, worth.of_sent,
                         tolerance);
}

/// Of all virtual ranks.
template <class T>
std::vector<comm::Pattern> virtual_patterns_of(const EntryWorth<T>& worth, T tolerance,
                                               std::span<const GlobalIndex> starts) {
  const int unknowns = worth.blocks.unknowns();
  comm::Records<GlobalIndex> ghosts;
  ghosts.offsets = {0};
  std::vector<GlobalIndex> points;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    const auto begin = static_cast<LocalIndex>(starts[r] / unknowns),
               end = static_cast<LocalIndex>(starts[r + 1] / unknowns);
    points.clear();
    for_each_kept(worth, tolerance, begin, end, [&](LocalIndex, Offset block) {
      const LocalIndex to = worth.blocks.column(block);
      if (to < begin || to >= end) points.push_back(to);
    });
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    for (const GlobalIndex point : points) {
      for (int row = 0; row < unknowns; ++row) ghosts.data.push_back(point * unknowns + row);
    }
    ghosts.offsets.push_back(static_cast<Offset>(ghosts.data.size()));
  }
  return comm::virtual_patterns(starts, ghosts);
}

/// The entries that stay in the rows of the rank that has most, all blocks taken for full.
template <class T>
double most_kept(const EntryWorth<T>& worth, T tolerance, std::span<const GlobalIndex> starts) {
  const int unknowns = worth.blocks.unknowns();
  double most = 0;
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    double kept = 0;
    for_each_kept(worth, tolerance, static_cast<LocalIndex>((starts[r] - starts[0]) / unknowns),
                  static_cast<LocalIndex>((starts[r + 1] - starts[0]) / unknowns),
                  [&](LocalIndex, Offset) { kept += unknowns * unknowns; });
    most = std::max(most, kept);
  }
  return most;
}

}  // namespace

template <class T>
Rest rest_of(const matrix::DistMatrix<T>& A, const PointBlocks<T>& norms,
             const EntryWorth<T>& worth, T tolerance, const RowPlaces& places) {
  Rest rest;
  add_losses(norms, worth, tolerance, rest);
  if (places.is_virtual) {
    rest.patterns = virtual_patterns_of(worth, tolerance, places.starts);
    rest.most_nonzeros = most_kept(worth, tolerance, places.starts);
  } else {
    rest.patterns = {pattern_here(A, worth, tolerance)};
    const GlobalIndex here[] = {A.rows().begin(), A.rows().end()};
    rest.most_nonzeros = most_kept<T>(worth, tolerance, here);
  }
  return rest;
}

template <class T>
comm::Pattern pattern_of_rest(comm::Pattern pattern, const std::vector<char>& is_ghost_wanted,
                              const std::vector<T>& of_sent, T tolerance) {
  keep_wanted(pattern.recv_ranks, pattern.recv_offsets, is_ghost_wanted);
  pattern.n_ghosts = pattern.recv_offsets.back();
  std::vector<char> is_wanted;
  std::vector<LocalIndex> sent;
  for (std::size_t k = 0; k < pattern.send_entries.size(); ++k) {
    is_wanted.push_back(of_sent[k] >= tolerance ? 1 : 0);
    if (is_wanted.back() != 0) sent.push_back(pattern.send_entries[k]);
  }
  keep_wanted(pattern.send_ranks, pattern.send_offsets, is_wanted);
  pattern.send_entries = std::move(sent);
  return pattern;
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template Rest rest_of(const matrix::DistMatrix<T>&, const PointBlocks<T>&, const EntryWorth<T>&, \
                        T, const RowPlaces&);                                                      \
  template comm::Pattern pattern_of_rest(comm::Pattern, const std::vector<char>&,                  \
                                         const std::vector<T>&, T);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::sparsify
