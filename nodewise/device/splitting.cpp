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

using State = PmisSteps<Compiled>::State;

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
  std::uint64_t first, seed;
  double* weights;
  State* states;
  std::uint8_t* active;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    weights[i] = load(counts + i) + hash_uniform(first + static_cast<std::uint64_t>(i), seed);
    if (states[i] == State::undecided && weights[i] < 1) states[i] = State::fine;
    active[i] = states[i] == State::undecided ? 1 : 0;
  }
};

/// What the heavier points that a point depends on make of it.
struct FindOutcome {
  Dependences graph;
  GlobalIndex first;
  const GlobalIndex* names;  // of ghosts
  const LocalIndex* points;
  const double* weights;
  const State* states;
  State* outcomes;
  NODEWISE_KERNEL bool outweighs(LocalIndex i, LocalIndex j) const {
    const double wi = load(weights + i), wj = load(weights + j);
    if (wi != wj) return wi > wj;
    const LocalIndex n = graph.A.n_rows;
    return j < n ? i > j : first + i > load(names + (j - n));
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
  GlobalIndex first;
  GlobalIndex* numbers;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    if (states[i] == State::coarse) {
      numbers[i] = first + load(begins + i);
      return;
    }
    bool depends = false;
    const Offset end = graph.A.end(i);
    for (Offset k = graph.A.begin(i); k < end; ++k) depends |= load(graph.strong + k) != 0;
    numbers[i] = depends ? fine_point : isolated_point;
  }
};

struct AddCounts {
  const LocalIndex* added;
  LocalIndex* counts;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { counts[i] += load(added + i); }
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
PmisSteps<Space>::PmisSteps(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                            Buffer<std::uint8_t, Space> strong, int seed, GlobalIndex first,
                            const GlobalIndex* names)
    : primitives_(primitives),
      queue_(primitives.queue()),
      A_(A),
      strong_(std::move(strong)),
      seed_(seed),
      first_(first),
      names_(names),
      states_(static_cast<std::size_t>(A.n_cols)),
      outcomes_(static_cast<std::size_t>(A.n_rows)),
      active_(static_cast<std::size_t>(A.n_rows)),
      weights_(static_cast<std::size_t>(A.n_cols)),
      points_(static_cast<std::size_t>(A.n_cols)),
      begins_(static_cast<std::size_t>(A.n_rows) + 1),
      numbers_(static_cast<std::size_t>(A.n_cols)) {
  queue_.clear(points_.data(), points_.bytes());
  const Dependences graph = {A_.view(), strong_.data()};
  launch(queue_, A_.n_rows, FirstStates{graph, states_.data()});
  launch(queue_, A_.n_rows, CountDependants{graph, points_.data()});
}

template <class Space>
void PmisSteps<Space>::weigh() {
  launch(queue_, A_.n_rows,
         Weigh{points_.data(), static_cast<std::uint64_t>(first_),
               static_cast<std::uint64_t>(seed_), weights_.data(), states_.data(), active_.data()});
}

template <class Space>
LocalIndex PmisSteps<Space>::count_undecided() {
  return n_undecided_ = primitives_.select(A_.n_rows, active_.data(), points_.data());
}

template <class Space>
void PmisSteps<Space>::decide() {
  launch(queue_, n_undecided_,
         FindOutcome{{A_.view(), strong_.data()},
                     first_,
                     names_,
                     points_.data(),
                     weights_.data(),
                     states_.data(),
                     outcomes_.data()});
  launch(queue_, n_undecided_,
         Settle{points_.data(), outcomes_.data(), states_.data(), active_.data()});
}

template <class Space>
LocalIndex PmisSteps<Space>::count_coarse() {
  launch(queue_, A_.n_rows, IsCoarse{states_.data(), points_.data()});
  return static_cast<LocalIndex>(primitives_.scan(A_.n_rows, points_.data(), begins_.data()));
}

template <class Space>
void PmisSteps<Space>::number(GlobalIndex first) {
  launch(queue_, A_.n_rows,
         NumberPoints{
             {A_.view(), strong_.data()}, states_.data(), begins_.data(), first, numbers_.data()});
}

template <class Space>
void add_counts(Queue<Space>& queue, LocalIndex n, const LocalIndex* added, LocalIndex* counts) {
  launch(queue, n, AddCounts{added, counts});
}

template Buffer<std::uint8_t, Compiled> strong_dependences(Primitives<Compiled>&,
                                                           const CsrMatrix<double, Compiled>&,
                                                           double, double, bool);
template class PmisSteps<Compiled>;
template void add_counts(Queue<Compiled>&, LocalIndex, const LocalIndex*, LocalIndex*);

}  // namespace nodewise::device
