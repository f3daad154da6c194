#include "nodewise/device/aggregates.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "nodewise/base/hash.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

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
  std::uint64_t first, seed;
  Key* keys;
  std::uint8_t* active;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    bool connected = false;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end && !connected; ++k) {
      connected = load(graph.strong + k) != 0;
    }
    const std::uint64_t name = first + static_cast<std::uint64_t>(i);
    keys[i] = connected ? undecided | (hash64(name, seed) & weight_bits) : out;
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
  GlobalIndex first;
  GlobalIndex* of_point;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    of_point[i] = load(keys + i) >= in_set ? first + load(numbers + i) : -1;
  }
};

/// A point that is in no aggregate joins the one it is most connected to, sums in steps of a 64th
/// of an octave, and among equals the first.
struct Join {
  PointGraph graph;
  const GlobalIndex* before;
  GlobalIndex* after;
  static constexpr GlobalIndex none = std::numeric_limits<GlobalIndex>::max();
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    GlobalIndex best = before[i];
    double most = 0;
    GlobalIndex last = best < 0 ? -1 : none;
    while (last < none) {  // the aggregates beside it, ascending
      double connection = 0;
      const GlobalIndex next = next_beside(i, last, connection);
      if (next == none) break;
      const double grade = std::round(64 * std::log2(connection));
      if (best < 0 || grade > most) {
        best = next;
        most = grade;
      }
      last = next;
    }
    after[i] = best;
  }
  /// The lowest number above `last`, or none, and the sum of moduli to it.
  NODEWISE_KERNEL GlobalIndex next_beside(std::int64_t i, GlobalIndex last,
                                          double& connection) const {
    GlobalIndex next = none;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) {
      if (load(graph.strong + k) == 0) continue;
      const GlobalIndex a = before[graph.A.col(k)];
      if (a <= last || a > next) continue;
      if (a < next) connection = 0;
      next = a;
      connection += std::fabs(graph.A.val(k));
    }
    return next;
  }
};

}  // namespace

template <class Space>
Buffer<std::uint8_t, Space> strong_entries(Queue<Space>& queue, const CsrMatrix<double, Space>& A,
                                           const double* roots, double threshold) {
  Buffer<std::uint8_t, Space> marks(static_cast<std::size_t>(A.nnz));
  launch(queue, A.n_rows, MarkStrong{A.view(), roots, threshold, marks.data()});
  return marks;
}

template <class Space>
AggregateSteps<Space>::AggregateSteps(Primitives<Space>& primitives,
                                      const CsrMatrix<double, Space>& A,
                                      Buffer<std::uint8_t, Space> strong, int distance, int seed,
                                      GlobalIndex first)
    : primitives_(primitives),
      queue_(primitives.queue()),
      A_(A),
      strong_(std::move(strong)),
      distance_(distance),
      active_(static_cast<std::size_t>(A.n_rows)),
      points_(static_cast<std::size_t>(A.n_rows)),
      is_root_(static_cast<std::size_t>(A.n_rows)),
      numbers_(static_cast<std::size_t>(A.n_rows) + 1),
      of_point_(static_cast<std::size_t>(A.n_cols)),
      joined_(static_cast<std::size_t>(A.n_cols)) {
  for (int step = 0; step <= distance; ++step) keys_.emplace_back(of_point_.size());
  launch(queue_, A.n_rows,
         FirstKeys{{A.view(), strong_.data()},
                   static_cast<std::uint64_t>(first),
                   static_cast<std::uint64_t>(seed),
                   keys_.front().data(),
                   active_.data()});
}

template <class Space>
LocalIndex AggregateSteps<Space>::count_undecided() {
  return n_undecided_ = primitives_.select(A_.n_rows, active_.data(), points_.data());
}

/// The last step is for undecided points alone.
template <class Space>
void AggregateSteps<Space>::spread(int step) {
  const bool is_last = step + 1 == distance_;
  launch(queue_, is_last ? n_undecided_ : A_.n_rows,
         Spread{{A_.view(), strong_.data()},
                is_last ? points_.data() : nullptr,
                keys(step),
                keys(step + 1)});
}

template <class Space>
void AggregateSteps<Space>::decide() {
  launch(queue_, n_undecided_, Decide{points_.data(), keys(distance_), keys(0), active_.data()});
}

template <class Space>
LocalIndex AggregateSteps<Space>::count_roots() {
  launch(queue_, A_.n_rows, IsRoot{keys(0), is_root_.data()});
  return static_cast<LocalIndex>(primitives_.scan(A_.n_rows, is_root_.data(), numbers_.data()));
}

template <class Space>
void AggregateSteps<Space>::number_roots(GlobalIndex first) {
  launch(queue_, A_.n_rows, NumberRoots{keys(0), numbers_.data(), first, of_point_.data()});
}

template <class Space>
void AggregateSteps<Space>::join() {
  launch(queue_, A_.n_rows, Join{{A_.view(), strong_.data()}, of_point_.data(), joined_.data()});
  std::swap(of_point_, joined_);
}

template Buffer<std::uint8_t, Compiled> strong_entries(Queue<Compiled>&,
                                                       const CsrMatrix<double, Compiled>&,
                                                       const double*, double);
template class AggregateSteps<Compiled>;

}  // namespace nodewise::device
