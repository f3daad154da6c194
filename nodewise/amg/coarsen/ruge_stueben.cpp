#include <algorithm>
#include <span>

#include "nodewise/amg/coarsen/splitting.hpp"

namespace nodewise::amg::coarsen {

namespace {

/// Points in doubly linked queues by measure: first in, first out within one measure, so that the
/// coarse grid follows the numbering instead of jumping about.
class MeasureQueues {
 public:
  MeasureQueues(LocalIndex n_points, LocalIndex max_measure)
      : queues_(static_cast<std::size_t>(max_measure) + 1),
        nodes_(static_cast<std::size_t>(n_points)) {}

  void push(LocalIndex i, LocalIndex measure) {
    const auto m = static_cast<std::size_t>(measure);
    if (m >= queues_.size()) queues_.resize(m + 1);
    Node& node = nodes_[static_cast<std::size_t>(i)];
    Queue& queue = queues_[m];
    node = {none, queue.tail, measure};
    (queue.tail == none ? queue.head : next(queue.tail)) = i;
    queue.tail = i;
    highest_ = std::max(highest_, measure);
  }

  void remove(LocalIndex i) {
    const Node node = nodes_[static_cast<std::size_t>(i)];
    Queue& queue = queues_[static_cast<std::size_t>(node.measure)];
    (node.previous == none ? queue.head : next(node.previous)) = node.next;
    (node.next == none ? queue.tail : previous(node.next)) = node.previous;
  }

  void change(LocalIndex i, LocalIndex by) {
    remove(i);
    push(i, nodes_[static_cast<std::size_t>(i)].measure + by);
  }

  /// The first point of the highest measure above 0, or none.
  LocalIndex top() {
    while (highest_ > 0 && queues_[static_cast<std::size_t>(highest_)].head == none) --highest_;
    return highest_ > 0 ? queues_[static_cast<std::size_t>(highest_)].head : none;
  }

  static constexpr LocalIndex none = -1;

 private:
  struct Node {
    LocalIndex next = none;
    LocalIndex previous = none;
    LocalIndex measure = 0;
  };
  struct Queue {
    LocalIndex head = none;
    LocalIndex tail = none;
  };
  LocalIndex& next(LocalIndex i) { return nodes_[static_cast<std::size_t>(i)].next; }
  LocalIndex& previous(LocalIndex i) { return nodes_[static_cast<std::size_t>(i)].previous; }

  std::vector<Queue> queues_;  // by measure
  std::vector<Node> nodes_;
  LocalIndex highest_ = 0;
};

/// Neighbours of local points, in compressed rows.
struct Graph {
  Array<Offset> begin;
  Array<LocalIndex> points;

  std::span<const LocalIndex> of(LocalIndex i) const {
    const auto u = static_cast<std::size_t>(i);
    return {points.data() + begin[u], static_cast<std::size_t>(begin[u + 1] - begin[u])};
  }
};

/// What every point depends on: the strong entries of the on-process block.
template <class T>
Graph dependences(const kernels::Csr<T>& A, const Array<std::uint8_t>& strong) {
  Graph s;
  s.begin.resize(A.row_ptr.size());
  s.points.resize(A.cols.size());
  LocalIndex* out = s.points.data();
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    s.begin[static_cast<std::size_t>(i)] = out - s.points.data();
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      *out = A.cols[k];  // without a branch, which would be mispredicted often
      out += strong[k];
    }
  }
  s.begin.back() = out - s.points.data();
  s.points.resize(static_cast<std::size_t>(s.begin.back()));
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
  std::vector<Offset> next(t.begin.begin(), t.begin.end() - 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (const LocalIndex j : s.of(static_cast<LocalIndex>(i))) {
      t.points[static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++)] =
          static_cast<LocalIndex>(i);
    }
  }
  return t;
}

/// `influence` is empty or holds what is added to each point's measure.
Splitting first_pass(const Graph& depends_on, std::span<const LocalIndex> influence) {
  const Graph dependants = reversed(depends_on);
  const auto n = static_cast<LocalIndex>(depends_on.begin.size() - 1);
  const auto measure = [&](LocalIndex i) {
    const auto count = static_cast<LocalIndex>(dependants.of(i).size());
    return influence.empty() ? count : count + influence[static_cast<std::size_t>(i)];
  };
  LocalIndex highest = 0;
  for (LocalIndex i = 0; i < n; ++i) highest = std::max(highest, measure(i));
  MeasureQueues queues(n, 2 * highest);
  for (LocalIndex i = 0; i < n; ++i) queues.push(i, measure(i));
  Splitting splitting(static_cast<std::size_t>(n), undecided);
  const auto change_dependences = [&](LocalIndex i, LocalIndex by) {
    for (const LocalIndex d : depends_on.of(i)) {
      if (splitting[static_cast<std::size_t>(d)] == undecided) queues.change(d, by);
    }
  };
  for (LocalIndex i = queues.top(); i != MeasureQueues::none; i = queues.top()) {
    queues.remove(i);
    splitting[static_cast<std::size_t>(i)] = coarse;
    for (const LocalIndex j : dependants.of(i)) {
      auto& state = splitting[static_cast<std::size_t>(j)];
      if (state != undecided) continue;
      queues.remove(j);
      state = fine;
      change_dependences(j, 1);  // what a new fine point depends on is wanted more
    }
    change_dependences(i, -1);  // one dependant less to serve
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
                                  std::span<const LocalIndex> influence) {
  return first_pass(dependences(A.on(), strength.on), influence);
}

template <class T>
Splitting ruge_stueben(const matrix::DistMatrix<T>& A, const Strength& strength, int passes) {
  const Graph depends_on = dependences(A.on(), strength.on);
  Splitting splitting = first_pass(depends_on, {});
  std::replace(splitting.begin(), splitting.end(), std::int8_t{undecided}, std::int8_t{fine});
  if (passes > 1) SecondPass(depends_on, splitting).run();
  return splitting;
}

template Splitting ruge_stueben_first_pass(const matrix::DistMatrix<float>&, const Strength&,
                                           std::span<const LocalIndex>);
template Splitting ruge_stueben_first_pass(const matrix::DistMatrix<double>&, const Strength&,
                                           std::span<const LocalIndex>);
template Splitting ruge_stueben(const matrix::DistMatrix<float>&, const Strength&, int);
template Splitting ruge_stueben(const matrix::DistMatrix<double>&, const Strength&, int);

}  // namespace nodewise::amg::coarsen
