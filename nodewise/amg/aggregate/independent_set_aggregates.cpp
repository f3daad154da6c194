#include <algorithm>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/aggregate/aggregation_method.hpp"
#include "nodewise/amg/aggregate/join.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::aggregate {

using matrix::DistMatrix;

template <class T>
Aggregates independent_set_aggregates(const DistMatrix<T>& G, const Strength& strength,
                                      const SetOptions& set) {
  std::vector<GlobalIndex> of_point, ghosts;
  const std::vector<std::uint8_t> is_root = maximal_independent_set(G, strength, set, [&] {
    of_point.assign(static_cast<std::size_t>(G.n_local()), no_aggregate);
    ghosts.assign(static_cast<std::size_t>(G.n_ghosts()), no_aggregate);
  });
  Aggregates aggregates{
      comm::Layout::from_local_size(G.shared_comm(), std::count(is_root.begin(), is_root.end(), 1)),
      {},
      {}};
  std::optional<Error> failure = mpi::caught([&] {
    GlobalIndex next = aggregates.layout.begin();
    for (std::size_t i = 0; i < is_root.size(); ++i) {
      if (!is_root[i]) continue;
      of_point[i] = next++;
      aggregates.roots.push_back(static_cast<LocalIndex>(i));
    }
  });
  for (int round = 0; round < set.distance; ++round) {
    G.exchange().forward(std::span<const GlobalIndex>(of_point), std::span<GlobalIndex>(ghosts));
    if (!failure) failure = mpi::caught([&] { join_neighbours(G, strength, ghosts, of_point); });
  }
  mpi::agree(G.comm(), failure);
  aggregates.of_point = std::move(of_point);
  return aggregates;
}

template Aggregates independent_set_aggregates(const DistMatrix<float>&, const Strength&,
                                               const SetOptions&);
template Aggregates independent_set_aggregates(const DistMatrix<double>&, const Strength&,
                                               const SetOptions&);

}  // namespace nodewise::amg::aggregate

namespace nodewise::amg {

namespace {

/// Two agreements and the numbers of roots besides the sums, one for each round.
int rounds_of_set(std::int64_t collectives) {
  return static_cast<int>(std::max<std::int64_t>(0, collectives - 3));
}

void exchanges_of_set(int rounds, int distance, VirtualExchanges& exchanges) {
  for (int k = 0; k < rounds * distance; ++k) {
    exchanges.forward(static_cast<std::size_t>(distance) * sizeof(std::uint64_t));  // in reach
  }
  for (int k = 0; k < distance; ++k) exchanges.forward(sizeof(GlobalIndex));
}

template <class T>
aggregate::Aggregates aggregate_around_set(const AggregationCall<T>& call) {
  return aggregate::independent_set_aggregates(
      call.G, call.strength, {call.distance, call.seed, call.both_ways, call.starts});
}

}  // namespace

const AggregationMethod& independent_set_aggregation() {
  static const AggregationMethod method = {
      {"independent_set", "around an independent set, the same on any number of ranks",
       "Bell, Dalton, Olson 2012, algorithms 5 and 6"},
      true,
      AggregationMessages{rounds_of_set, exchanges_of_set},
      aggregate_around_set<double>,
      aggregate_around_set<float>,
      true};
  return method;
}

}  // namespace nodewise::amg
