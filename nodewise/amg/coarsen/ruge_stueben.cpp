#include <algorithm>

#include "nodewise/amg/coarsen/splitting.hpp"

namespace nodewise::amg::coarsen {

namespace {

/// Points in doubly linked queues by measure: first in, first out within one measure, so that the
/// coarse grid follows the numbering instead of jumping about.
class MeasureQueues {
 public:
  MeasureQueues(LocalIndex n_points, LocalIndex max_measure)
      : head_(static_cast<std::size_t>(max_measure) + 1, none),
        tail_(static_cast<std::size_t>(max_measure) + 1, none),
        links_(static_cast<std::size_t>(n_points)) {}

  void push(LocalIndex i, LocalIndex measure) {
    const auto m = static_cast<std::size_t>(measure);
    if (m >= head_.size()) {
      head_.resize(m + 1, none);
      tail_.resize(m + 1, none);
    }
    next(i) = none;
    previous(i) = tail_[m];
    (tail_[m] == none ? head_[m] : next(tail_[m])) = i;
    tail_[m] = i;
    highest_ = std::max(highest_, measure);
  }

  void remove(LocalIndex i, LocalIndex measure) {
    const auto m = static_cast<std::size_t>(measure);
    (previous(i) == none ? head_[m] : next(previous(i))) = next(i);
    (next(i) == none ? tail_[m] : previous(next(i))) = previous(i);
  }

  /// The first point of the highest measure above 0, or none.
  LocalIndex top() {
    while (highest_ > 0 && head_[static_cast<std::size_t>(highest_)] == none) --highest_;
    return highest_ > 0 ? head_[static_cast<std::size_t>(highest_)] : none;
  }

  static constexpr LocalIndex none = -1;

 private:
  struct Links {
    LocalIndex next = none;
    LocalIndex previous = none;
  };
  LocalIndex& next(LocalIndex i) { return links_[static_cast<std::size_t>(i)].next; }
  LocalIndex& previous(LocalIndex i) { return links_[static_cast<std::size_t>(i)].previous; }

  std::vector<LocalIndex> head_, tail_;
  std::vector<Links> links_;
  LocalIndex highest_ = 0;
};

/// The strong graph of the on-process block turned round: who depends on j.
struct Dependants {
  Array<Offset> begin;
  Array<LocalIndex> points;
};

template <class T>
Dependants dependants(const kernels::Csr<T>& A, const Array<std::uint8_t>& strong) {
  Dependants t;
  t.begin.assign(static_cast<std::size_t>(A.n_cols) + 1, 0);
  for (std::size_t k = 0; k < A.cols.size(); ++k) {
    if (strong[k]) ++t.begin[static_cast<std::size_t>(A.cols[k]) + 1];
  }
  for (std::size_t j = 1; j < t.begin.size(); ++j) t.begin[j] += t.begin[j - 1];
  t.points.resize(static_cast<std::size_t>(t.begin.back()));
  std::vector<Offset> next(t.begin.begin(), t.begin.end() - 1);
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      if (!strong[k]) continue;
      t.points[static_cast<std::size_t>(next[static_cast<std::size_t>(A.cols[k])]++)] = i;
    }
  }
  return t;
}

}  // namespace

template <class T>
Splitting ruge_stueben_first_pass(const matrix::DistMatrix<T>& matrix, const Strength& strength) {
  const kernels::Csr<T>& A = matrix.on();
  const Dependants t = dependants(A, strength.on);
  const auto n = static_cast<std::size_t>(A.n_rows);
  std::vector<LocalIndex> measure(n);
  LocalIndex highest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    measure[i] = static_cast<LocalIndex>(t.begin[i + 1] - t.begin[i]);
    highest = std::max(highest, measure[i]);
  }
  MeasureQueues queues(A.n_rows, 2 * highest);
  for (LocalIndex i = 0; i < A.n_rows; ++i) queues.push(i, measure[static_cast<std::size_t>(i)]);

  Splitting splitting(n, undecided);
  const auto change = [&](LocalIndex i, LocalIndex by) {
    LocalIndex& m = measure[static_cast<std::size_t>(i)];
    queues.remove(i, m);
    m += by;
    queues.push(i, m);
  };
  const auto for_each_undecided_dependence = [&](LocalIndex i, auto&& f) {
    for (auto k = static_cast<std::size_t>(A.begin(i)); k < static_cast<std::size_t>(A.end(i));
         ++k) {
      if (strength.on[k] && splitting[static_cast<std::size_t>(A.cols[k])] == undecided) {
        f(A.cols[k]);
      }
    }
  };
  for (LocalIndex i = queues.top(); i != MeasureQueues::none; i = queues.top()) {
    const auto u = static_cast<std::size_t>(i);
    queues.remove(i, measure[u]);
    splitting[u] = coarse;
    for (Offset k = t.begin[u]; k < t.begin[u + 1]; ++k) {
      const LocalIndex j = t.points[static_cast<std::size_t>(k)];
      if (splitting[static_cast<std::size_t>(j)] != undecided) continue;
      queues.remove(j, measure[static_cast<std::size_t>(j)]);
      splitting[static_cast<std::size_t>(j)] = fine;
      // What a new fine point depends on is wanted more.
      for_each_undecided_dependence(j, [&](LocalIndex d) { change(d, 1); });
    }
    // What the new coarse point depends on has one dependant less to serve.
    for_each_undecided_dependence(i, [&](LocalIndex d) { change(d, -1); });
  }
  return splitting;
}

template Splitting ruge_stueben_first_pass(const matrix::DistMatrix<float>&, const Strength&);
template Splitting ruge_stueben_first_pass(const matrix::DistMatrix<double>&, const Strength&);

}  // namespace nodewise::amg::coarsen
