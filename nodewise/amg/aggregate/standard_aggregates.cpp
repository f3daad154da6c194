#include <algorithm>
#include <numeric>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/aggregate/aggregation_method.hpp"
#include "nodewise/amg/aggregate/join.hpp"
#include "nodewise/amg/aggregate/strong_entries.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::aggregate {

using matrix::DistMatrix;

namespace {

/// What is strong between points of one rank.
template <class T>
Strength within_ranks(const DistMatrix<T>& G, const Strength& strength,
                      std::span<const GlobalIndex> starts) {
  Strength within = {strength.on, {}};
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    for (GlobalIndex i = starts[r]; i < starts[r + 1]; ++i) {
      const auto row = static_cast<LocalIndex>(i);
      for (Offset k = G.on().begin(row); k < G.on().end(row); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const GlobalIndex j = G.on().cols[p];
        if (j < starts[r] || j >= starts[r + 1]) within.on[p] = 0;
      }
    }
  }
  return within;
}

/// The passes of standard_aggregates(); numbers count from 0 on this rank.
struct Result {
  std::vector<GlobalIndex> of_point;
  std::vector<LocalIndex> roots;
};

template <class T>
class Standard {
 public:
  /// `within` are the strong entries between points of one rank.
  Standard(const DistMatrix<T>& G, const Strength& strength, const Strength& within,
           Joining joining)
      : G_(G),
        strength_(strength),
        within_(within),
        joining_(joining),
        of_point_(static_cast<std::size_t>(G.n_local())) {
    std::fill(of_point_.begin(), of_point_.end(), no_aggregate);
  }

  /// Without a layout yet.
  Result run() {
    for (LocalIndex i = 0; i < G_.n_local(); ++i) {
      if (is_free(i) && neighbourhood_is_free(i)) take_neighbourhood(i);
    }
    join_neighbours(G_, within_, {}, of_point_, joining_);
    for (LocalIndex i = 0; i < G_.n_local(); ++i) {
      if (is_free(i) && is_connected(i)) take_neighbourhood(i);
    }
    return number_by_roots();
  }

 private:
  bool is_free(LocalIndex i) const { return of_point_[static_cast<std::size_t>(i)] < 0; }

  bool is_connected(LocalIndex i) const {
    bool any = false;
    for_each_strong(G_.on(), strength_.on, i, [&](std::size_t, T) { any = true; });
    for_each_strong(G_.off(), strength_.off, i, [&](std::size_t, T) { any = true; });
    return any;
  }

  /// There is a neighbourhood, and none of it is taken.
  bool neighbourhood_is_free(LocalIndex i) const {
    bool any = false;
    bool taken = false;
    for_each_strong(G_.on(), within_.on, i, [&](std::size_t j, T) {
      any = true;
      taken = taken || of_point_[j] >= 0;
    });
    return any && !taken;
  }

  void take_neighbourhood(LocalIndex i) {
    const auto number = static_cast<GlobalIndex>(roots_.size());
    of_point_[static_cast<std::size_t>(i)] = number;
    for_each_strong(G_.on(), within_.on, i, [&](std::size_t j, T) {
      if (of_point_[j] < 0) of_point_[j] = number;
    });
    roots_.push_back(i);
  }

  /// The last pass has added roots between those of the first.
  Result number_by_roots() {
    std::vector<std::size_t> order(roots_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return roots_[a] < roots_[b]; });
    std::vector<GlobalIndex> number(roots_.size());
    for (std::size_t k = 0; k < order.size(); ++k) number[order[k]] = static_cast<GlobalIndex>(k);
    for (GlobalIndex& aggregate : of_point_) {
      if (aggregate >= 0) aggregate = number[static_cast<std::size_t>(aggregate)];
    }
    std::sort(roots_.begin(), roots_.end());
    return {std::move(of_point_), std::move(roots_)};
  }

  const DistMatrix<T>& G_;
  const Strength& strength_;
  const Strength& within_;
  Joining joining_;
  std::vector<GlobalIndex> of_point_;
  std::vector<LocalIndex> roots_;
};

}  // namespace

template <class T>
Aggregates standard_aggregates(const DistMatrix<T>& G, const Strength& strength,
                               std::span<const GlobalIndex> starts, Joining joining) {
  auto [of_point, roots] = mpi::collectively(G.comm(), [&] {
    if (starts.empty()) return Standard<T>(G, strength, strength, joining).run();
    const Strength within = within_ranks(G, strength, starts);
    return Standard<T>(G, strength, within, joining).run();
  });
  comm::Layout layout =
      comm::Layout::from_local_size(G.shared_comm(), static_cast<GlobalIndex>(roots.size()));
  for (GlobalIndex& aggregate : of_point) {
    if (aggregate >= 0) aggregate += layout.begin();
  }
  return {std::move(layout), std::move(of_point), std::move(roots)};
}

template Aggregates standard_aggregates(const DistMatrix<float>&, const Strength&,
                                        std::span<const GlobalIndex>, Joining);
template Aggregates standard_aggregates(const DistMatrix<double>&, const Strength&,
                                        std::span<const GlobalIndex>, Joining);

}  // namespace nodewise::amg::aggregate

namespace nodewise::amg {

namespace {

int no_greedy_rounds(std::int64_t) {
  return 0;
}

void no_greedy_exchanges(int, int, VirtualExchanges&) {}

template <aggregate::Joining joining, class T>
aggregate::Aggregates aggregate_greedily(const AggregationCall<T>& call) {
  return aggregate::standard_aggregates(call.G, call.strength, call.starts, joining);
}

}  // namespace

const AggregationMethod& standard_aggregation() {
  constexpr auto joining = aggregate::Joining::most_connected;
  static const AggregationMethod method = {
      {"standard",
       "neighbourhoods, greedily inside ranks; what is left joins the one it is most connected to",
       "Vanek, Mandel, Brezina 1996, section 5.1"},
      false,
      AggregationMessages{no_greedy_rounds, no_greedy_exchanges},
      aggregate_greedily<joining, double>,
      aggregate_greedily<joining, float>};
  return method;
}

const AggregationMethod& standard_first_aggregation() {
  constexpr auto joining = aggregate::Joining::first;
  static const AggregationMethod method = {
      {"standard_first", "likewise, but what is left joins the first one, as in PyAMG",
       "Vanek, Mandel, Brezina 1996, section 5.1"},
      false,
      AggregationMessages{no_greedy_rounds, no_greedy_exchanges},
      aggregate_greedily<joining, double>,
      aggregate_greedily<joining, float>};
  return method;
}

}  // namespace nodewise::amg
