// Points that outweigh their neighbours: what PMIS and CLJP choose coarse points by.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/base/hash.hpp"
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
    active.reserve(state.size());
    for (LocalIndex i = 0; i < A_.n_local(); ++i) {
      auto& own = state[static_cast<std::size_t>(i)];
      if (own == undecided && !has_dependences(A_, strength_, i)) own = fine;
      if (own == undecided) active.push_back(i);
    }
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
  /// exchange.
  void weigh(int seed) {
    count_dependants();
    A_.exchange().reverse_add(std::span<const double>(ghost_weight), std::span<double>(weight));
    const auto first = static_cast<std::uint64_t>(A_.rows().begin() - A_.rows().first());
    for (const LocalIndex i : active) {
      const auto u = static_cast<std::size_t>(i);
      weight[u] += hash_uniform(first + u, static_cast<std::uint64_t>(seed));
    }
  }

  /// Local. Undecided points with a weight below one are of no use on the coarse grid: no point
  /// depends on them that would not be served without.
  void drop_light() {
    for (const LocalIndex i : active) {
      const auto u = static_cast<std::size_t>(i);
      if (weight[u] < 1.0) state[u] = fine;
    }
    drop_decided();
  }

  /// Collective. Undecided points heavier than all undecided points they depend on or that depend
  /// on them become coarse. The second half needs the reversed exchange.
  void select_heaviest() {
    beaten_.assign(state.size(), 0);
    ghost_beaten_.assign(ghost_state.size(), 0);
    for (const LocalIndex i : active) {
      for_each_strong(A_.on(), strength_.on, i, [&](std::size_t j) {
        if (state[j] == undecided) ++beaten_[outweighs(i, j) ? j : static_cast<std::size_t>(i)];
      });
      for_each_strong(A_.off(), strength_.off, i, [&](std::size_t g) {
        if (ghost_state[g] != undecided) return;
        ++(outweighs_ghost(i, g) ? ghost_beaten_[g] : beaten_[static_cast<std::size_t>(i)]);
      });
    }
    A_.exchange().reverse_add(std::span<const std::int32_t>(ghost_beaten_),
                              std::span<std::int32_t>(beaten_));
    for (const LocalIndex i : active) {
      const auto u = static_cast<std::size_t>(i);
      if (beaten_[u] == 0) state[u] = coarse;
    }
  }

  /// Local. Leaves the undecided points in the list.
  void drop_decided() {
    std::erase_if(active,
                  [&](LocalIndex i) { return state[static_cast<std::size_t>(i)] != undecided; });
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
  std::vector<double> weight, ghost_weight;
  std::vector<LocalIndex> active;  // the undecided points

 private:
  void count_dependants() {
    weight.assign(state.size(), 0.0);
    ghost_weight.assign(ghost_state.size(), 0.0);
    for (LocalIndex i = 0; i < A_.n_local(); ++i) {
      for_each_strong(A_.on(), strength_.on, i, [&](std::size_t j) { weight[j] += 1.0; });
      for_each_strong(A_.off(), strength_.off, i, [&](std::size_t j) { ghost_weight[j] += 1.0; });
    }
  }

  /// Whether point i (local) outweighs ghost or local j; equal weights are decided by the index.
  bool outweighs(LocalIndex i, std::size_t j) const {
    const double wi = weight[static_cast<std::size_t>(i)];
    return wi != weight[j] ? wi > weight[j] : i > static_cast<LocalIndex>(j);
  }
  bool outweighs_ghost(LocalIndex i, std::size_t g) const {
    const double wi = weight[static_cast<std::size_t>(i)];
    return wi != ghost_weight[g] ? wi > ghost_weight[g] : A_.rows().to_global(i) > A_.ghosts()[g];
  }

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  std::vector<std::int32_t> beaten_, ghost_beaten_;
};

}  // namespace nodewise::amg::coarsen
