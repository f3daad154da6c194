#include "simulate/random_exchange.hpp"

#include <numeric>
#include <set>

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

std::vector<GlobalIndex> random_ghosts(const comm::Layout& layout, const RandomExchange& exchange) {
  const int rank = layout.comm().rank();
  std::set<int> sources;
  std::vector<int> source_of(static_cast<std::size_t>(layout.comm().size()));
  for (int j = 0; j < exchange.degree; ++j) {
    shuffle(source_of, static_cast<std::uint64_t>(j));
    const int source = source_of[static_cast<std::size_t>(rank)];
    if (source != rank) sources.insert(source);
  }
  std::vector<GlobalIndex> ghosts;
  const auto windows = static_cast<std::uint64_t>(exchange.owned - exchange.entries + 1);
  for (const int source : sources) {
    const std::uint64_t pair =
        hash64(static_cast<std::uint64_t>(source), 1) + static_cast<std::uint64_t>(rank);
    const GlobalIndex begin =
        layout.begin(source) + static_cast<GlobalIndex>(hash64(pair, 2) % windows);
    for (GlobalIndex i = begin; i < begin + exchange.entries; ++i) ghosts.push_back(i);
  }
  return ghosts;
}

}  // namespace nodewise::bench
