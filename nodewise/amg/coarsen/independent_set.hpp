// Points that outweigh their neighbours: what PMIS and CLJP choose coarse points by.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel_lists.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::coarsen {

/// Calls f(column) for the strong entries of row i of one part of a matrix.
template <class T, class F>
void for_each_strong(const kernels::Csr<T>& part, const Array<std::uint8_t>& marks, LocalIndex i,
                     F&& f) {
  for (Offset k = part.begin(i); k < part.end(i); ++k) {
    if (marks[static_cast<std::size_t>(k)]) {
      f(static_cast<std::size_t>(part.cols[static_cast<std::size_t>(k)]));
    }
  }
}

/// Whether is_in(column) for one of the strong entries of row i of one part of a matrix. All are
/// asked: which is the first cannot be foreseen.
template <class T, class IsIn>
bool any_strong(const kernels::Csr<T>& part, const Array<std::uint8_t>& marks, LocalIndex i,
                const IsIn& is_in) {
  bool any = false;
  for (Offset k = part.begin(i); k < part.end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    const bool is_wanted = is_in(static_cast<std::size_t>(part.cols[p]));
    any |= is_wanted & (marks[p] != 0);
  }
  return any;
}

/// Local. Whether a point depends on any other. One that does not is served by relaxation alone:
/// its row is dominated by its diagonal, as that of a boundary condition is.
template <class T>
bool has_dependences(const matrix::DistMatrix<T>& A, const Strength& strength, LocalIndex i) {
  const auto any = [i](const kernels::Csr<T>& part, const Array<std::uint8_t>& marks) {
    const auto marked = [](std::uint8_t mark) { return mark != 0; };
    return std::any_of(marks.begin() + part.begin(i), marks.begin() + part.end(i), marked);
  };
  return any(A.on(), strength.on) || any(A.off(), strength.off);
}

/// States and weights of owned points and of the ghosts of the matrix's exchange. A weight is the
/// number of points that depend on a point, plus a random fraction hashed from its global index.
/// Loops run on the threads of the rank: each writes what belongs to its point, or sets flags and
/// counts, in whatever order.
template <class T>
class WeightedPoints {
 public:
  WeightedPoints(const matrix::DistMatrix<T>& A, const Strength& strength)
      : A_(A), strength_(strength) {}

  /// Local. All that may fail; memory that no rank will use is not touched.
  void begin(Splitting start) {
    state = std::move(start);
    state.resize(static_cast<std::size_t>(A_.n_local()), undecided);
    ghost_state.resize(static_cast<std::size_t>(A_.n_ghosts()), undecided);
    work =
        1 + (A_.on().cols.size() + A_.off().cols.size()) / std::max<std::size_t>(1, state.size());
    active = parallel::indices_if<LocalIndex>(state.size(), work, [&](LocalIndex i) {
      auto& own = state[static_cast<std::size_t>(i)];
      if (own == undecided && !has_dependences(A_, strength_, i)) own = fine;
      return own == undecided;
    });
    beaten_.reserve(state.size());
    ghost_beaten_.reserve(ghost_state.size());
    weight.reserve(state.size());
    ghost_weight.reserve(ghost_state.size());
  }

  /// Collective. Whether any rank has an undecided point: one allreduce.
  bool any_active() const {
    return mpi::sum(A_.comm(), static_cast<GlobalIndex>(active.size())) > 0;
  }

  /// Collective. Gives the undecided points their weights, those of ghosts not yet: one reversed
  /// exchange. What those of decided points are means nothing. `fractions` of local points, where
  /// given, stand for the hashed ones.
  void weigh(int seed, std::span<const double> fractions = {}) {
    count_dependants();
    A_.exchange().reverse_add(std::span<const double>(ghost_weight), std::span<double>(weight));
    const auto first = static_cast<std::uint64_t>(A_.rows().begin() - A_.rows().first());
    for_active([&](std::size_t u) {
      weight[u] += fractions.empty() ? hash_uniform(first + u, static_cast<std::uint64_t>(seed))
                                     : fractions[u];
    });
  }

  /// Local. Undecided points with a weight below one are of no use on the coarse grid: no point
  /// depends on them that would not be served without.
  void drop_light() {
    drop_decided([&](LocalIndex i) { return weight[static_cast<std::size_t>(i)] < 1.0; });
  }

  /// Collective. Undecided points heavier than all undecided points they depend on or that depend
  /// on them become coarse. The second half needs the reversed exchange.
  void select_heaviest() {
    beaten_.assign(state.size(), 0);
    ghost_beaten_.assign(ghost_state.size(), 0);
    parallel::for_each(std::span<const LocalIndex>(active), work, [&](LocalIndex i) {
      for_each_strong(A_.on(), strength_.on, i, [&](std::size_t j) {
        if (state[j] != undecided) return;
        parallel::store(beaten_[outweighs(i, j) ? j : static_cast<std::size_t>(i)], 1);
      });
      for_each_strong(A_.off(), strength_.off, i, [&](std::size_t g) {
        if (ghost_state[g] != undecided) return;
        parallel::store(
            outweighs_ghost(i, g) ? ghost_beaten_[g] : beaten_[static_cast<std::size_t>(i)], 1);
      });
    });
    A_.exchange().reverse_add(std::span<const std::int32_t>(ghost_beaten_),
                              std::span<std::int32_t>(beaten_));
    for_active([&](std::size_t u) {
      if (beaten_[u] == 0) state[u] = coarse;
    });
  }

  /// Local. Undecided points for which is_served(point) become fine, and the list is left with the
  /// undecided ones. Of the states of others is_served() may ask is_coarse() only, since they may
  /// become fine at the same time.
  template <class IsServed>
  void drop_decided(const IsServed& is_served) {
    parallel::erase_if(active, work, [&](LocalIndex i) {
      auto& own = state[static_cast<std::size_t>(i)];
      if (own == undecided && is_served(i)) parallel::store(own, fine);
      return own != undecided;
    });
  }
  void drop_decided() {
    drop_decided([](LocalIndex) { return false; });
  }
  /// Local. Undecided points get the state outcome(point), and the list is left with the undecided
  /// ones. States of others may change at the same time.
  template <class Outcome>
  void settle(const Outcome& outcome) {
    parallel::erase_if(active, work, [&](LocalIndex i) {
      auto& own = state[static_cast<std::size_t>(i)];
      if (own == undecided) parallel::store(own, outcome(i));
      return own != undecided;
    });
  }
  bool is_coarse(std::size_t i) { return parallel::load(state[i]) == coarse; }

  /// Whether point i (local) outweighs ghost or local j; equal weights are decided by the index.
  bool outweighs(LocalIndex i, std::size_t j) const {
    const double wi = weight[static_cast<std::size_t>(i)];
    return wi != weight[j] ? wi > weight[j] : i > static_cast<LocalIndex>(j);
  }
  bool outweighs_ghost(LocalIndex i, std::size_t g) const {
    const double wi = weight[static_cast<std::size_t>(i)];
    return wi != ghost_weight[g] ? wi > ghost_weight[g] : A_.rows().to_global(i) > A_.ghosts()[g];
  }

  /// Collective. One exchange.
  void share_states() {
    A_.exchange().forward(std::span<const std::int8_t>(state), std::span<std::int8_t>(ghost_state));
  }
  /// Collective. One exchange.
  void share_weights() {
    A_.exchange().forward(std::span<const double>(weight), std::span<double>(ghost_weight));
  }

  Splitting state;
  Splitting ghost_state;
  Array<double> weight, ghost_weight;
  std::vector<LocalIndex> active;  // the undecided points
  std::size_t work = 1;            // of looking at a row, for parallel::for_each()

 private:
  /// Calls f(place) for the undecided points.
  template <class F>
  void for_active(const F& f) {
    parallel::for_each(std::span<const LocalIndex>(active), 1,
                       [&](LocalIndex i) { f(static_cast<std::size_t>(i)); });
  }

  /// A thread counts for the points of its own rows apart from those of others, which are few where
  /// the numbering has neighbours close together, and which others count for at the same time.
  void count_dependants() {
    weight.assign(state.size(), 0.0);
    ghost_weight.assign(ghost_state.size(), 0.0);
    beaten_.assign(state.size(), 0);
    parallel::for_rows(A_.on().row_ptr, [&](LocalIndex begin, LocalIndex end) {
      const auto first = static_cast<std::size_t>(begin);
      const auto n = static_cast<std::size_t>(end) - first;
      for (LocalIndex i = begin; i < end; ++i) {
        for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
          const auto p = static_cast<std::size_t>(k);
          const auto j = static_cast<std::size_t>(A_.on().cols[p]);
          // Asked first: after a first pass hardly any is, before it all are.
          if (state[j] != undecided || !strength_.on[p]) continue;
          if (j - first < n) {
            weight[j] += 1.0;
          } else {
            parallel::count(beaten_[j]);
          }
        }
      }
    });
    parallel::for_range(state.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) weight[i] += beaten_[i];
    });
    for (const LocalIndex i : A_.boundary_rows()) {
      for_each_strong(A_.off(), strength_.off, i, [&](std::size_t g) { ghost_weight[g] += 1.0; });
    }
  }

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  Array<std::int32_t> beaten_, ghost_beaten_;  // also what is counted or noted of points
};

}  // namespace nodewise::amg::coarsen
