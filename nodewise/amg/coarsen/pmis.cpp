#include <algorithm>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::coarsen {

comm::Layout coarse_layout(const comm::Layout& points, const Splitting& splitting) {
  return comm::Layout::from_local_size(points.shared_comm(),
                                       std::count(splitting.begin(), splitting.end(), coarse));
}

namespace {

using kernels::Csr;

/// Calls f(column) for the strong entries of row i.
template <class T, class F>
void for_each_strong(const Csr<T>& part, const Array<std::uint8_t>& marks, LocalIndex i, F&& f) {
  for (Offset k = part.begin(i); k < part.end(i); ++k) {
    if (marks[static_cast<std::size_t>(k)]) {
      f(static_cast<std::size_t>(part.cols[static_cast<std::size_t>(k)]));
    }
  }
}

/// The state of the algorithm: owned points and ghosts of the matrix's exchange.
template <class T>
class Pmis {
 public:
  Pmis(const matrix::DistMatrix<T>& A, const Strength& strength) : A_(A), strength_(strength) {}

  /// `start()` makes the states to begin with: local work, what it throws on one rank all throw.
  template <class Start>
  Splitting run(int seed, const Start& start) {
    mpi::collectively(A_.comm(), [&] { begin(start()); });
    share_states();
    drop_dependants();
    if (!any_active()) return std::move(state_);
    weigh(seed);
    while (any_active()) {
      select_independent_set();
      share_states();
      drop_dependants();
      share_states();
    }
    return std::move(state_);
  }

 private:
  /// All that may fail; memory that no rank will use is not touched.
  void begin(Splitting start) {
    state_ = std::move(start);
    state_.resize(static_cast<std::size_t>(A_.n_local()), undecided);
    ghost_state_.resize(static_cast<std::size_t>(A_.n_ghosts()), undecided);
    active_.reserve(state_.size());
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (state_[i] == undecided) active_.push_back(static_cast<LocalIndex>(i));
    }
    beaten_.reserve(state_.size());
    ghost_beaten_.reserve(ghost_state_.size());
    weight_.reserve(state_.size());
    ghost_weight_.reserve(ghost_state_.size());
  }

  bool any_active() const {
    return mpi::sum(A_.comm(), static_cast<GlobalIndex>(active_.size())) > 0;
  }

  void count_dependants() {
    beaten_.resize(state_.size());
    ghost_beaten_.resize(ghost_state_.size());
    weight_.assign(state_.size(), 0.0);
    ghost_weight_.assign(ghost_state_.size(), 0.0);
    for (LocalIndex i = 0; i < A_.n_local(); ++i) {
      for_each_strong(A_.on(), strength_.on, i, [&](std::size_t j) { weight_[j] += 1.0; });
      for_each_strong(A_.off(), strength_.off, i, [&](std::size_t j) { ghost_weight_[j] += 1.0; });
    }
  }

  /// A weight is the number of points that depend on a point, plus a random fraction. Points with a
  /// weight below one are of no use on the coarse grid: no point depends on them.
  void weigh(int seed) {
    count_dependants();
    A_.exchange().reverse_add(std::span<const double>(ghost_weight_), std::span<double>(weight_));
    const auto first = static_cast<std::uint64_t>(A_.rows().begin() - A_.rows().first());
    for (const LocalIndex i : active_) {
      const auto u = static_cast<std::size_t>(i);
      weight_[u] += hash_uniform(first + u, static_cast<std::uint64_t>(seed));
      if (weight_[u] < 1.0) state_[u] = fine;
    }
    drop_decided();
    share_weights();
  }

  /// One exchange for weights and states: what is decided weighs less than nothing. Nobody needs to
  /// know how it was decided, since all that depends on a coarse point is fine by now.
  void share_weights() {
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (state_[i] != undecided) weight_[i] = -1.0;
    }
    A_.exchange().forward(std::span<const double>(weight_), std::span<double>(ghost_weight_));
    for (std::size_t g = 0; g < ghost_state_.size(); ++g) {
      ghost_state_[g] = ghost_weight_[g] < 0 ? fine : undecided;
    }
  }

  /// Whether point i (local) outweighs ghost or local j; equal weights are decided by the index.
  bool outweighs(LocalIndex i, std::size_t j) const {
    const double wi = weight_[static_cast<std::size_t>(i)];
    return wi != weight_[j] ? wi > weight_[j] : i > static_cast<LocalIndex>(j);
  }
  bool outweighs_ghost(LocalIndex i, std::size_t g) const {
    const double wi = weight_[static_cast<std::size_t>(i)];
    return wi != ghost_weight_[g] ? wi > ghost_weight_[g] : A_.rows().to_global(i) > A_.ghosts()[g];
  }

  /// Undecided points heavier than all undecided points they depend on or that depend on them
  /// become coarse. The second half needs the reversed exchange.
  void select_independent_set() {
    std::fill(beaten_.begin(), beaten_.end(), 0);
    std::fill(ghost_beaten_.begin(), ghost_beaten_.end(), 0);
    for (const LocalIndex i : active_) {
      for_each_strong(A_.on(), strength_.on, i, [&](std::size_t j) {
        if (state_[j] == undecided) ++beaten_[outweighs(i, j) ? j : static_cast<std::size_t>(i)];
      });
      for_each_strong(A_.off(), strength_.off, i, [&](std::size_t g) {
        if (ghost_state_[g] != undecided) return;
        ++(outweighs_ghost(i, g) ? ghost_beaten_[g] : beaten_[static_cast<std::size_t>(i)]);
      });
    }
    A_.exchange().reverse_add(std::span<const std::int32_t>(ghost_beaten_),
                              std::span<std::int32_t>(beaten_));
    for (const LocalIndex i : active_) {
      const auto u = static_cast<std::size_t>(i);
      if (beaten_[u] == 0) state_[u] = coarse;
    }
  }

  /// Undecided points that depend on a coarse point become fine and leave the list.
  void drop_dependants() {
    for (const LocalIndex i : active_) {
      auto& state = state_[static_cast<std::size_t>(i)];
      if (state != undecided) continue;
      bool depends = false;
      for_each_strong(A_.on(), strength_.on, i,
                      [&](std::size_t j) { depends = depends || state_[j] == coarse; });
      for_each_strong(A_.off(), strength_.off, i,
                      [&](std::size_t g) { depends = depends || ghost_state_[g] == coarse; });
      if (depends) state = fine;
    }
    drop_decided();
  }

  void drop_decided() {
    std::erase_if(active_,
                  [&](LocalIndex i) { return state_[static_cast<std::size_t>(i)] != undecided; });
  }

  void share_states() {
    A_.exchange().forward(std::span<const std::int8_t>(state_),
                          std::span<std::int8_t>(ghost_state_));
  }

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  Splitting state_;
  Splitting ghost_state_;
  std::vector<double> weight_, ghost_weight_;
  std::vector<std::int32_t> beaten_, ghost_beaten_;
  std::vector<LocalIndex> active_;  // the undecided points
};

}  // namespace

template <class T>
Splitting pmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               Splitting start) {
  return Pmis<T>(A, strength).run(seed, [&] { return std::move(start); });
}

namespace {

/// The strength without what couples rows of different blocks on this rank.
template <class T>
Strength within_blocks(const matrix::DistMatrix<T>& A, const Strength& strength,
                       std::span<const GlobalIndex> blocks) {
  Strength within = strength;
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
    for (auto i = static_cast<LocalIndex>(blocks[b]); i < blocks[b + 1]; ++i) {
      for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        const LocalIndex j = A.on().cols[p];
        if (j < blocks[b] || j >= blocks[b + 1]) within.on[p] = 0;
      }
    }
  }
  return within;
}

/// Whether all that row i depends on strongly is in its block, on this rank.
template <class T>
bool is_interior(const matrix::DistMatrix<T>& A, const Strength& strength, const Strength& within,
                 LocalIndex i) {
  const auto off = strength.off.begin();
  if (std::find(off + A.off().begin(i), off + A.off().end(i), 1) != off + A.off().end(i)) {
    return false;
  }
  return std::equal(strength.on.begin() + A.on().begin(i), strength.on.begin() + A.on().end(i),
                    within.on.begin() + A.on().begin(i));
}

}  // namespace

template <class T>
Splitting hmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               std::span<const GlobalIndex> blocks) {
  return Pmis<T>(A, strength).run(seed, [&] {
    const Strength copy = blocks.empty() ? Strength{} : within_blocks(A, strength, blocks);
    const Strength& within = blocks.empty() ? strength : copy;
    Splitting first = ruge_stueben_first_pass(A, within);
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      auto& state = first[static_cast<std::size_t>(i)];
      if (state != coarse || !is_interior(A, strength, within, i)) state = undecided;
    }
    return first;
  });
}

template Splitting pmis(const matrix::DistMatrix<float>&, const Strength&, int, Splitting);
template Splitting pmis(const matrix::DistMatrix<double>&, const Strength&, int, Splitting);
template Splitting hmis(const matrix::DistMatrix<float>&, const Strength&, int,
                        std::span<const GlobalIndex>);
template Splitting hmis(const matrix::DistMatrix<double>&, const Strength&, int,
                        std::span<const GlobalIndex>);

}  // namespace nodewise::amg::coarsen
