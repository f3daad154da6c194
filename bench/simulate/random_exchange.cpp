#include "simulate/random_exchange.hpp"

#include <numeric>
#include <set>
#include <utility>

#include "nodewise/base/hash.hpp"

namespace nodewise::bench {

namespace {

/// Fisher and Yates's shuffle of the ranks; the same for equal seeds.
void shuffle(std::vector<int>& ranks, std::uint64_t seed) {
  std::iota(ranks.begin(), ranks.end(), 0);
  for (std::size_t k = ranks.size(); k > 1; --k) {
    std::swap(ranks[k - 1], ranks[hash64(k, seed) % k]);
  }
}

}  // namespace

WantedExchange random_exchange(int n_ranks, const RandomExchange& exchange) {
  const auto n = static_cast<std::size_t>(n_ranks);
  std::vector<std::set<int>> sources(n);
  std::vector<int> source_of(n);
  for (int j = 0; j < exchange.degree; ++j) {
    shuffle(source_of, static_cast<std::uint64_t>(j));
    for (std::size_t r = 0; r < n; ++r) {
      if (std::cmp_not_equal(source_of[r], r)) sources[r].insert(source_of[r]);
    }
  }
  WantedExchange wanted;
  const auto windows = static_cast<std::uint64_t>(exchange.owned - exchange.entries + 1);
  for (std::size_t r = 0; r <= n; ++r) {
    wanted.starts.push_back(static_cast<GlobalIndex>(r) * exchange.owned);
  }
  for (std::size_t r = 0; r < n; ++r) {
    for (const int source : sources[r]) {
      const std::uint64_t pair = hash64(static_cast<std::uint64_t>(source), 1) + r;
      const GlobalIndex begin = wanted.starts[static_cast<std::size_t>(source)] +
                                static_cast<GlobalIndex>(hash64(pair, 2) % windows);
      for (GlobalIndex i = begin; i < begin + exchange.entries; ++i) {
        wanted.ghosts.data.push_back(i);
      }
    }
    wanted.ghosts.offsets.push_back(std::ssize(wanted.ghosts.data));
  }
  return wanted;
}

}  // namespace nodewise::bench
