#include "nodewise/amg/aggregate/join.hpp"

#include <cmath>

#include "nodewise/amg/aggregate/strong_entries.hpp"
#include "nodewise/base/parallel.hpp"

namespace nodewise::amg::aggregate {

namespace {

/// The aggregates beside one point, and how much connects it to each.
class Candidates {
 public:
  void clear() { list_.clear(); }
  void add(GlobalIndex aggregate, double size) {
    if (aggregate == no_aggregate) return;
    for (Candidate& c : list_) {
      if (c.aggregate != aggregate) continue;
      c.connection += size;
      return;
    }
    list_.push_back({aggregate, size});
  }
  GlobalIndex first() const { return list_.empty() ? no_aggregate : list_.front().aggregate; }
  GlobalIndex best() const {
    GlobalIndex best = no_aggregate;
    double most = 0;
    for (const Candidate& c : list_) {
      // In steps of a 64th of an octave.
      const double grade = std::round(64 * std::log2(c.connection));
      if (best == no_aggregate || grade > most || (grade == most && c.aggregate < best)) {
        best = c.aggregate;
        most = grade;
      }
    }
    return best;
  }

 private:
  struct Candidate {
    GlobalIndex aggregate;
    double connection;
  };
  std::vector<Candidate> list_;  // a handful
};

}  // namespace

template <class T>
void join_neighbours(const matrix::DistMatrix<T>& G, const Strength& strength,
                     std::span<const GlobalIndex> ghost_aggregates,
                     std::vector<GlobalIndex>& of_point, Joining joining) {
  // What threads find out is kept apart, so that none sees who joined in this round.
  std::vector<GlobalIndex> joined(of_point.size());
  parallel::for_rows(G.on().row_ptr, [&](LocalIndex begin, LocalIndex end) {
    Candidates candidates;
    for (LocalIndex i = begin; i < end; ++i) {
      GlobalIndex& own = joined[static_cast<std::size_t>(i)];
      own = of_point[static_cast<std::size_t>(i)];
      if (own != no_aggregate) continue;
      candidates.clear();
      const auto add = [&](GlobalIndex aggregate, T value) {
        candidates.add(aggregate, std::abs(static_cast<double>(value)));
      };
      for_each_strong(G.on(), strength.on, i,
                      [&](std::size_t j, T value) { add(of_point[j], value); });
      if (!ghost_aggregates.empty()) {
        for_each_strong(G.off(), strength.off, i,
                        [&](std::size_t g, T value) { add(ghost_aggregates[g], value); });
      }
      own = joining == Joining::first ? candidates.first() : candidates.best();
    }
  });
  of_point = std::move(joined);
}

template void join_neighbours(const matrix::DistMatrix<float>&, const Strength&,
                              std::span<const GlobalIndex>, std::vector<GlobalIndex>&, Joining);
template void join_neighbours(const matrix::DistMatrix<double>&, const Strength&,
                              std::span<const GlobalIndex>, std::vector<GlobalIndex>&, Joining);

}  // namespace nodewise::amg::aggregate
