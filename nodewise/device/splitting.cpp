#include "nodewise/device/splitting.hpp"

#include <cmath>
#include <utility>

#include "nodewise/base/hash.hpp"
#include "nodewise/device/atomics.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct MarkDependences {
  CsrView<double> A;
  double threshold, max_row_sum;
  bool absolute;
  std::uint8_t* marks;
  NODEWISE_KERNEL double size(double a, double diagonal) const {
    return absolute ? ::fabs(a) : diagonal < 0 ? a : -a;
  }
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const double diagonal = A.diagonal(i);
    const Offset end = A.end(i);
    double largest = 0, sum = 0;
    for (Offset k = A.begin(i); k < end; ++k) {
      const double a = A.val(k);
      sum += a;
      const double here = size(a, diagonal);
      if (A.col(k) != i && here > largest) largest = here;
    }
    const bool dominated = max_row_sum < 1 && ::fabs(sum) > ::fabs(diagonal) * max_row_sum;
    const double bound = threshold * largest;
    for (Offset k = A.begin(i); k < end; ++k) {
      marks[k] = !dominated && A.col(k) != i && size(A.val(k), diagonal) > bound ? 1 : 0;
    }
  }
};

enum class State : std::int8_t { fine, undecided, coarse };

struct Dependences {
  CsrView<double> A;
  const std::uint8_t* strong;
};

/// Points that depend on nothing are fine.
struct FirstStates {
  Dependences graph;
  State* states;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    states[i] = State::fine;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) {
      if (load(graph.strong + k) != 0) states[i] = State::undecided;
    }
  }
};

struct CountDependants {
  Dependences graph;
  LocalIndex* counts;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) {
      if (load(graph.strong + k) != 0) add_to(counts + graph.A.col(k), 1);
    }
  }
};

/// A weight is the number of points that depend on a point, plus a random fraction; those below one
/// are of no use on the coarse grid.
struct Weigh {
  const LocalIndex* counts;
  std::uint64_t seed;
  double* weights;
  State* states;
  std::uint8_t* active;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    weights[i] = load(counts + i) + hash_uniform(static_cast<std::uint64_t>(i), seed);
    if (states[i] == State::undecided && weights[i] < 1) states[i] = State::fine;
    active[i] = states[i] == State::undecided ? 1 : 0;
  }
};

/// What the heavier points that a point depends on make of it.
struct FindOutcome {
  Dependences graph;
  const LocalIndex* points;
  const double* weights;
  const State* states;
  State* outcomes;
  NODEWISE_KERNEL bool outweighs(LocalIndex i, LocalIndex j) const {
    const double wi = load(weights + i), wj = load(weights + j);
    return wi != wj ? wi > wj : i > j;
  }
  NODEWISE_KERNEL void operator()(std::int64_t p) const {
    const LocalIndex i = load(points + p);
    bool is_served = false, waits = false;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) {
      if (load(graph.strong + k) == 0) continue;
      const LocalIndex j = graph.A.col(k);
      if (outweighs(i, j)) continue;
      is_served = is_served || states[j] == State::coarse;
      waits = waits || states[j] == State::undecided;
    }
    outcomes[i] = is_served ? State::fine : waits ? State::undecided : State::coarse;
  }
};

struct Settle {
  const LocalIndex* points;
  const State* outcomes;
  State* states;
  std::uint8_t* active;
  NODEWISE_KERNEL void operator()(std::int64_t p) const {
    const LocalIndex i = load(points + p);
    states[i] = outcomes[i];
    if (states[i] != State::undecided) active[i] = 0;
  }
};

struct IsCoarse {
  const State* states;
  LocalIndex* flags;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    flags[i] = states[i] == State::coarse ? 1 : 0;
  }
};

struct NumberPoints {
  Dependences graph;
  const State* states;
  const Offset* begins;
  LocalIndex* numbers;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    if (states[i] == State::coarse) {
      numbers[i] = static_cast<LocalIndex>(load(begins + i));
      return;
    }
    bool depends = false;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) depends |= load(graph.strong + k) != 0;
    numbers[i] = depends ? fine_point : isolated_point;
  }
};

}  // namespace

template <class Space>
Buffer<std::uint8_t, Space> strong_dependences(Primitives<Space>& primitives,
                                               const CsrMatrix<double, Space>& A, double threshold,
                                               double max_row_sum, bool absolute) {
  Buffer<std::uint8_t, Space> marks(static_cast<std::size_t>(A.nnz));
  launch(primitives.queue(), A.n_rows,
         MarkDependences{A.view(), threshold, max_row_sum, absolute, marks.data()});
  return marks;
}

template <class Space>
Splitting<Space> pmis(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                      const Buffer<std::uint8_t, Space>& strong, int seed) {
  Queue<Space>& queue = primitives.queue();
  const Dependences graph = {A.view(), strong.data()};
  const auto n = static_cast<std::size_t>(A.n_rows);
  Buffer<State, Space> states(n), outcomes(n);
  Buffer<std::uint8_t, Space> active(n);
  Buffer<double, Space> weights(n);
  Buffer<LocalIndex, Space> points(n);  // first the dependants of each
  queue.clear(points.data(), points.bytes());
  launch(queue, A.n_rows, FirstStates{graph, states.data()});
  launch(queue, A.n_rows, CountDependants{graph, points.data()});
  launch(queue, A.n_rows,
         Weigh{points.data(), static_cast<std::uint64_t>(seed), weights.data(), states.data(),
               active.data()});
  while (const LocalIndex left = primitives.select(A.n_rows, active.data(), points.data())) {
    launch(queue, left,
           FindOutcome{graph, points.data(), weights.data(), states.data(), outcomes.data()});
    launch(queue, left, Settle{points.data(), outcomes.data(), states.data(), active.data()});
  }
  Splitting<Space> splitting;
  splitting.numbers = Buffer<LocalIndex, Space>(n);
  Buffer<Offset, Space> begins(n + 1);
  launch(queue, A.n_rows, IsCoarse{states.data(), points.data()});
  splitting.n_coarse =
      static_cast<LocalIndex>(primitives.scan(A.n_rows, points.data(), begins.data()));
  launch(queue, A.n_rows,
         NumberPoints{graph, states.data(), begins.data(), splitting.numbers.data()});
  return splitting;
}

template Buffer<std::uint8_t, Compiled> strong_dependences(Primitives<Compiled>&,
                                                           const CsrMatrix<double, Compiled>&,
                                                           double, double, bool);
template Splitting<Compiled> pmis(Primitives<Compiled>&, const CsrMatrix<double, Compiled>&,
                                  const Buffer<std::uint8_t, Compiled>&, int);

}  // namespace nodewise::device
