#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/coarsen/coarsening_method.hpp"
#include "nodewise/amg/coarsen/measure_order.hpp"
#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::coarsen {

namespace {

/// Neighbours of local points, in compressed rows.
struct Graph {
  Array<Offset> begin;
  Array<LocalIndex> points;

  std::span<const LocalIndex> of(LocalIndex i) const {
    const auto u = static_cast<std::size_t>(i);
    return {points.data() + begin[u], static_cast<std::size_t>(begin[u + 1] - begin[u])};
  }
  /// Asks for them ahead of their use. Inlined, or GCC takes it for a function without effect and
  /// drops the call.
  [[gnu::always_inline]] void fetch(LocalIndex i) const {
    constexpr std::size_t line = 64;
    const std::span<const LocalIndex> row = of(i);
    for (std::size_t k = 0; k < row.size(); k += line / sizeof(LocalIndex)) {
      __builtin_prefetch(&row[k]);
    }
    __builtin_prefetch(row.data() + row.size());
  }
};

/// What the points from `first` to `last` depend on; begin[first] and begin[last] say already where
/// it goes.
template <class T>
void write_dependences(const kernels::Csr<T>& A, const Array<std::uint8_t>& strong,
                       LocalIndex first, LocalIndex last, Graph& s) {
  LocalIndex* out = s.points.data() + s.begin[static_cast<std::size_t>(first)];
  const LocalIndex* const end = s.points.data() + s.begin[static_cast<std::size_t>(last)];
  for (LocalIndex i = first; i < last; ++i) {
    if (i > first) s.begin[static_cast<std::size_t>(i)] = out - s.points.data();
    for (Offset k = A.begin(i); k < A.end(i) && out != end; ++k) {
      const auto p = static_cast<std::size_t>(k);
      *out = A.cols[p];  // without a branch on the entry, which would be mispredicted often
      out += strong[p];
    }
  }
}

/// What every point depends on: the strong entries of the on-process block.
template <class T>
Graph dependences(const kernels::Csr<T>& A, const Array<std::uint8_t>& strong) {
  const int parts = parallel::parts_of(A.cols.size() + A.row_ptr.size());
  const auto row = [&](int part) { return parallel::row_part(A.row_ptr, parts, part); };
  std::array<Offset, parallel::max_threads> count;
  parallel::run(parts, [&](int part) {
    count[static_cast<std::size_t>(part)] = std::accumulate(
        strong.begin() + A.begin(row(part)), strong.begin() + A.begin(row(part + 1)), Offset{0});
  });
  Graph s;
  s.begin.resize(A.row_ptr.size());
  s.begin[0] = 0;
  for (int part = 0; part < parts; ++part) {
    s.begin[static_cast<std::size_t>(row(part + 1))] =
        s.begin[static_cast<std::size_t>(row(part))] + count[static_cast<std::size_t>(part)];
  }
  s.points.resize(static_cast<std::size_t>(s.begin.back()));
  parallel::run(parts,
                [&](int part) { write_dependences(A, strong, row(part), row(part + 1), s); });
  return s;
}

/// The graph turned round: who depends on every point.
Graph reversed(const Graph& s) {
  Graph t;
  const std::size_t n = s.begin.size() - 1;
  t.begin.assign(n + 1, 0);
  for (const LocalIndex j : s.points) ++t.begin[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 1; j <= n; ++j) t.begin[j] += t.begin[j - 1];
  t.points.resize(s.points.size());
  Array<Offset> next(t.begin.begin(), t.begin.end() - 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (const LocalIndex j : s.of(static_cast<LocalIndex>(i))) {
      t.points[static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++)] =
          static_cast<LocalIndex>(i);
    }
  }
  return t;
}

/// Whether whoever the points from `first` to `last` depend on depends on them. Points ascend in a
/// row, and rows are gone through in their order, so that of these rows' entries for each other,
/// the next of row j not seen yet must be the row that has j. `next` is room for those places.
bool is_mirrored(const Graph& s, LocalIndex first, LocalIndex last, Array<Offset>& next) {
  for (LocalIndex j = first; j < last; ++j) {
    const auto row = s.of(j);
    const auto before = first == 0 ? row.begin() : std::lower_bound(row.begin(), row.end(), first);
    next[static_cast<std::size_t>(j)] = before - row.begin();
  }
  for (LocalIndex i = first; i < last; ++i) {
    for (const LocalIndex j : s.of(i)) {
      const auto row = s.of(j);
      if (j < first || j >= last) {
        if (!std::binary_search(row.begin(), row.end(), i)) return false;
        continue;
      }
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++);
      if (at == row.size() || row[at] != i) return false;
    }
  }
  return true;
}

/// Whether each depends on those who depend on it.
bool is_symmetric(const Graph& s) {
  Array<Offset> next(s.begin.size() - 1);
  std::atomic<bool> symmetric = true;
  parallel::for_rows(s.begin, [&](LocalIndex first, LocalIndex last) {
    if (!is_mirrored(s, first, last, next)) symmetric = false;
  });
  return symmetric;
}

/// Who depends on every point: the graph turned round, which is not made where it is the graph
/// itself. The two graphs of the finest level were the peak of a setup's memory.
class Dependants {
 public:
  explicit Dependants(const Graph& s)
      : turned_(is_symmetric(s) ? std::nullopt : std::optional(reversed(s))), same_(s) {}
  const Graph& graph() const { return turned_ ? *turned_ : same_; }

 private:
  std::optional<Graph> turned_;
  const Graph& same_;
};

/// How many points depend on each, plus `influence` where it is given.
std::vector<LocalIndex> measures(const Graph& dependants, std::span<const LocalIndex> influence) {
  std::vector<LocalIndex> measures(dependants.begin.size() - 1);
  for (std::size_t i = 0; i < measures.size(); ++i) {
    measures[i] = static_cast<LocalIndex>(dependants.of(static_cast<LocalIndex>(i)).size()) +
                  (influence.empty() ? 0 : influence[i]);
  }
  return measures;
}

/// `Order` decides between points of one measure.
template <class Order>
Splitting first_pass(const Graph& depends_on, const Graph& dependants, Splitting splitting,
                     Order order) {
  const auto state = [&](LocalIndex i) -> auto& {
    return splitting[static_cast<std::size_t>(i)];
  };
  std::vector<LocalIndex> served;
  for (LocalIndex i = order.take(); i != no_point; i = order.take()) {
    if (state(i) != undecided) continue;
    state(i) = coarse;
    served.clear();
    for (const LocalIndex j : dependants.of(i)) {
      if (state(j) != undecided) continue;
      order.remove(j);
      state(j) = fine;
      served.push_back(j);
      depends_on.fetch(j);  // the points served lie apart, which the hardware does not foresee
    }
    for (const LocalIndex j : served) {
      for (const LocalIndex d : depends_on.of(j)) {
        if (state(d) == undecided) order.raise(d);  // what a fine point depends on is wanted more
      }
    }
    for (const LocalIndex d : depends_on.of(i)) {
      if (state(d) == undecided) order.lower(d);  // one dependant less to serve
    }
  }
  return splitting;
}

/// Gives fine points that depend on each other a coarse point in common.
class SecondPass {
 public:
  SecondPass(const Graph& depends_on, Splitting& splitting)
      : depends_on_(depends_on), splitting_(splitting), mark_(splitting.size(), -1) {}

  void run() {
    for (LocalIndex i = 0; i < static_cast<LocalIndex>(splitting_.size()); ++i) {
      if (state(i) == fine) serve(i);
    }
  }

 private:
  std::int8_t& state(LocalIndex i) { return splitting_[static_cast<std::size_t>(i)]; }

  /// Makes one point that i depends on coarse where that is enough, and i itself where it is not.
  void serve(LocalIndex i) {
    for (const LocalIndex j : depends_on_.of(i)) {
      if (state(j) == coarse) mark_[static_cast<std::size_t>(j)] = i;
    }
    LocalIndex added = -1;
    for (const LocalIndex j : depends_on_.of(i)) {
      if (state(j) != fine || shares_marked(j, i)) continue;
      if (added >= 0) {
        state(added) = fine;
        state(i) = coarse;
        return;
      }
      added = j;
      state(j) = coarse;
      mark_[static_cast<std::size_t>(j)] = i;
    }
  }

  bool shares_marked(LocalIndex j, LocalIndex mark) const {
    const auto points = depends_on_.of(j);
    return std::any_of(points.begin(), points.end(),
                       [&](LocalIndex c) { return mark_[static_cast<std::size_t>(c)] == mark; });
  }

  const Graph& depends_on_;
  Splitting& splitting_;
  std::vector<LocalIndex> mark_;  // the point that a coarse one was marked for last
};

}  // namespace

template <class T>
Splitting ruge_stueben_first_pass(const matrix::DistMatrix<T>& A, const Strength& strength,
                                  Splitting start) {
  const Graph depends_on = dependences(A.on(), strength.on);
  const Dependants dependants(depends_on);
  start.resize(static_cast<std::size_t>(A.n_local()), undecided);
  return first_pass(depends_on, dependants.graph(), std::move(start),
                    MeasureQueues(measures(dependants.graph(), {})));
}

namespace {

/// The points [begin, end) and what they depend on among themselves, counted from `begin`.
Graph part_of(const Graph& s, LocalIndex begin, LocalIndex end) {
  Graph part;
  part.begin.push_back(0);
  for (LocalIndex i = begin; i < end; ++i) {
    for (const LocalIndex j : s.of(i)) {
      if (j >= begin && j < end) part.points.push_back(j - begin);
    }
    part.begin.push_back(static_cast<Offset>(part.points.size()));
  }
  return part;
}

Splitting split_block(const Graph& depends_on, int passes, std::span<const LocalIndex> influence) {
  const Dependants dependants(depends_on);
  const std::vector<LocalIndex> wanted = measures(dependants.graph(), influence);
  Splitting splitting(wanted.size(), undecided);
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (wanted[i] == 0) splitting[i] = fine;
  }
  splitting =
      first_pass(depends_on, dependants.graph(), std::move(splitting), MeasureRanges(wanted));
  std::replace(splitting.begin(), splitting.end(), std::int8_t{undecided}, std::int8_t{fine});
  if (passes > 1) SecondPass(depends_on, splitting).run();
  return splitting;
}

}  // namespace

template <class T>
Splitting ruge_stueben(const matrix::DistMatrix<T>& A, const Strength& strength, int passes,
                       std::span<const GlobalIndex> blocks, std::span<const LocalIndex> influence) {
  const Graph depends_on = dependences(A.on(), strength.on);
  if (blocks.empty()) return split_block(depends_on, passes, influence);
  Splitting splitting;
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
    const auto begin = static_cast<LocalIndex>(blocks[b]);
    const auto end = static_cast<LocalIndex>(blocks[b + 1]);
    const auto n = static_cast<std::size_t>(end - begin);
    const Splitting block =
        split_block(part_of(depends_on, begin, end), passes,
                    influence.empty() ? influence : influence.subspan(splitting.size(), n));
    splitting.insert(splitting.end(), block.begin(), block.end());
  }
  return splitting;
}

template <class T>
void second_pass(const matrix::DistMatrix<T>& A, const Strength& strength, Splitting& splitting) {
  SecondPass(dependences(A.on(), strength.on), splitting).run();
}

template Splitting ruge_stueben_first_pass(const matrix::DistMatrix<float>&, const Strength&,
                                           Splitting);
template Splitting ruge_stueben_first_pass(const matrix::DistMatrix<double>&, const Strength&,
                                           Splitting);
template Splitting ruge_stueben(const matrix::DistMatrix<float>&, const Strength&, int,
                                std::span<const GlobalIndex>, std::span<const LocalIndex>);
template Splitting ruge_stueben(const matrix::DistMatrix<double>&, const Strength&, int,
                                std::span<const GlobalIndex>, std::span<const LocalIndex>);
template void second_pass(const matrix::DistMatrix<float>&, const Strength&, Splitting&);
template void second_pass(const matrix::DistMatrix<double>&, const Strength&, Splitting&);

}  // namespace nodewise::amg::coarsen

namespace nodewise::amg {

namespace {

int no_rounds(std::int64_t) {
  return 0;
}

void no_exchanges(std::int64_t, const kernels::Csr<double>&, const Strength&, VirtualExchanges&) {}

template <int passes, class T>
coarsen::Splitting split_by_passes(const SplittingCall<T>& call) {
  return mpi::collectively(call.A.comm(), [&] {
    if (call.failure) throw Error(*call.failure);
    return coarsen::ruge_stueben(call.A, call.strength, passes, call.blocks);
  });
}

}  // namespace

const CoarseningMethod& ruge_stueben_coarsening() {
  static const CoarseningMethod method = {
      {"ruge_stueben", "both passes of Ruge-Stueben, inside ranks only",
       "Ruge, Stueben 1987, section 4.6"},
      false,
      SplittingMessages{no_rounds, no_exchanges},
      split_by_passes<2, double>,
      split_by_passes<2, float>,
      1};
  return method;
}

const CoarseningMethod& ruge_stueben_first_pass_coarsening() {
  static const CoarseningMethod method = {
      {"ruge_stueben_first_pass", "the first pass of Ruge-Stueben alone, inside ranks only",
       "Ruge, Stueben 1987, section 4.6"},
      false,
      SplittingMessages{no_rounds, no_exchanges},
      split_by_passes<1, double>,
      split_by_passes<1, float>,
      11};
  return method;
}

}  // namespace nodewise::amg
