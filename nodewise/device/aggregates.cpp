#include "nodewise/device/aggregates.hpp"

#include <cmath>
#include <utility>

#include "nodewise/base/hash.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct RootsOfDiagonal {
  CsrView<double> A;
  double* roots;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    roots[i] = std::sqrt(std::fabs(A.diagonal(i)));
  }
};

/// The roots are multiplied first, which gives the same for (i, j) and (j, i).
struct MarkStrong {
  CsrView<double> A;
  const double* roots;  // null: all but zeros are strong
  double threshold;
  std::uint8_t* marks;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const Offset end = A.end(i);
    for (Offset k = A.begin(i); k < end; ++k) {
      const LocalIndex j = A.col(k);
      const double bound = roots == nullptr ? 0.0 : threshold * (load(roots + i) * load(roots + j));
      marks[k] = i != j && std::fabs(A.val(k)) > bound ? 1 : 0;
    }
  }
};

/// What a point passes on: its state in the two highest bits, the rest is its weight. So the
/// largest key in reach says whether a point of the set is there, or else which undecided point is
/// heaviest.
using Key = std::uint64_t;
constexpr Key out = 0;
constexpr Key undecided = Key{1} << 62;
constexpr Key in_set = Key{2} << 62;
constexpr Key weight_bits = undecided - 1;

/// The graph: strong entries of a matrix.
struct PointGraph {
  CsrView<double> A;
  const std::uint8_t* strong;
};

struct FirstKeys {
  PointGraph graph;
  std::uint64_t seed;
  Key* keys;
  std::uint8_t* active;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    bool connected = false;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end && !connected; ++k) {
      connected = load(graph.strong + k) != 0;
    }
    keys[i] =
        connected ? undecided | (hash64(static_cast<std::uint64_t>(i), seed) & weight_bits) : out;
    active[i] = connected ? 1 : 0;
  }
};

/// to[i] = the largest key of a point and its neighbours; `points` lists those it is for.
struct Spread {
  PointGraph graph;
  const LocalIndex* points;  // null: all
  const Key* keys;
  Key* to;
  NODEWISE_KERNEL void operator()(std::int64_t p) const {
    const std::int64_t i = points == nullptr ? p : load(points + p);
    Key most = keys[i];
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) {
      if (load(graph.strong + k) == 0) continue;
      const Key key = keys[graph.A.col(k)];
      most = key > most ? key : most;
    }
    to[i] = most;
  }
};

struct Decide {
  const LocalIndex* points;
  const Key* reach;
  Key* keys;
  std::uint8_t* active;
  NODEWISE_KERNEL void operator()(std::int64_t p) const {
    const LocalIndex i = load(points + p);
    const Key most = reach[i];
    if (most >= in_set) {
      keys[i] = out;
    } else if (most == keys[i]) {
      keys[i] = in_set;
    } else {
      return;
    }
    active[i] = 0;
  }
};

struct IsRoot {
  const Key* keys;
  LocalIndex* flags;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    flags[i] = load(keys + i) >= in_set ? 1 : 0;
  }
};

struct NumberRoots {
  const Key* keys;
  const Offset* numbers;
  LocalIndex* of_point;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    of_point[i] = load(keys + i) >= in_set ? static_cast<LocalIndex>(load(numbers + i)) : -1;
  }
};

/// A point that is in no aggregate joins the one it is most connected to, sums in steps of a 64th
/// of an octave, and among equals the first.
struct Join {
  PointGraph graph;
  const LocalIndex* before;
  LocalIndex* after;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    LocalIndex best = before[i];
    double most = 0;
    LocalIndex last = best < 0 ? -1 : graph.A.n_rows;
    while (last < graph.A.n_rows) {  // the aggregates beside it, ascending
      double connection = 0;
      const LocalIndex next = next_beside(i, last, connection);
      if (next == graph.A.n_rows) break;
      const double grade = std::round(64 * std::log2(connection));
      if (best < 0 || grade > most) {
        best = next;
        most = grade;
      }
      last = next;
    }
    after[i] = best;
  }
  /// The lowest number above `last`, n_rows where there is none, and the sum of moduli to it.
  NODEWISE_KERNEL LocalIndex next_beside(std::int64_t i, LocalIndex last,
                                         double& connection) const {
    LocalIndex next = graph.A.n_rows;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) {
      if (load(graph.strong + k) == 0) continue;
      const LocalIndex a = before[graph.A.col(k)];
      if (a <= last || a > next) continue;
      if (a < next) connection = 0;
      next = a;
      connection += std::fabs(graph.A.val(k));
    }
    return next;
  }
};

/// The keys of all points once the set is found.
template <class Space>
Buffer<Key, Space> find_set(Primitives<Space>& primitives, const PointGraph& graph, int distance,
                            int seed) {
  Queue<Space>& queue = primitives.queue();
  const LocalIndex n_points = graph.A.n_rows;
  const auto n = static_cast<std::size_t>(n_points);
  Buffer<Key, Space> keys(n), reach(n), further(distance > 1 ? n : 0);
  Buffer<std::uint8_t, Space> active(n);
  Buffer<LocalIndex, Space> points(n);
  launch(queue, n_points,
         FirstKeys{graph, static_cast<std::uint64_t>(seed), keys.data(), active.data()});
  while (true) {
    const LocalIndex left = primitives.select(n_points, active.data(), points.data());
    if (left == 0) return keys;
    const Key* from = keys.data();
    Key* to = reach.data();
    Key* other = further.data();
    for (int step = 1; step < distance; ++step) {
      launch(queue, n_points, Spread{graph, nullptr, from, to});
      from = to;
      std::swap(to, other);
    }
    launch(queue, left, Spread{graph, points.data(), from, to});
    launch(queue, left, Decide{points.data(), to, keys.data(), active.data()});
  }
}

}  // namespace

template <class Space>
Buffer<std::uint8_t, Space> strong_entries(Primitives<Space>& primitives,
                                           const CsrMatrix<double, Space>& A, double threshold) {
  Queue<Space>& queue = primitives.queue();
  Buffer<std::uint8_t, Space> marks(static_cast<std::size_t>(A.nnz));
  Buffer<double, Space> roots(static_cast<std::size_t>(threshold == 0 ? 0 : A.n_rows));
  if (threshold != 0) launch(queue, A.n_rows, RootsOfDiagonal{A.view(), roots.data()});
  launch(queue, A.n_rows, MarkStrong{A.view(), roots.data(), threshold, marks.data()});
  return marks;
}

template <class Space>
Aggregates<Space> aggregate_points(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                                   const Buffer<std::uint8_t, Space>& strong, int distance,
                                   int seed) {
  Queue<Space>& queue = primitives.queue();
  const PointGraph graph = {A.view(), strong.data()};
  const auto n = static_cast<std::size_t>(A.n_rows);
  const Buffer<Key, Space> keys = find_set<Space>(primitives, graph, distance, seed);
  Buffer<LocalIndex, Space> joined(n);
  Buffer<Offset, Space> numbers(n + 1);
  Aggregates<Space> aggregates;
  aggregates.of_point = Buffer<LocalIndex, Space>(n);
  launch(queue, A.n_rows, IsRoot{keys.data(), joined.data()});
  aggregates.count =
      static_cast<LocalIndex>(primitives.scan(A.n_rows, joined.data(), numbers.data()));
  launch(queue, A.n_rows, NumberRoots{keys.data(), numbers.data(), aggregates.of_point.data()});
  for (int round = 0; round < distance; ++round) {
    launch(queue, A.n_rows, Join{graph, aggregates.of_point.data(), joined.data()});
    std::swap(aggregates.of_point, joined);
  }
  return aggregates;
}

template Buffer<std::uint8_t, Compiled> strong_entries(Primitives<Compiled>&,
                                                       const CsrMatrix<double, Compiled>&, double);
template Aggregates<Compiled> aggregate_points(Primitives<Compiled>&,
                                               const CsrMatrix<double, Compiled>&,
                                               const Buffer<std::uint8_t, Compiled>&, int, int);

}  // namespace nodewise::device
