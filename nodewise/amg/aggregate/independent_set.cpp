#include <algorithm>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/aggregate/strong_entries.hpp"
#include "nodewise/amg/coarsen/rank_rows.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel_lists.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::aggregate {

namespace {

/// The key that a point passes on: its state in the two highest bits, the rest is its weight. So
/// the largest key in reach says whether a point of the set is there, or else which undecided point
/// is the heaviest.
using Key = std::uint64_t;
constexpr int state_shift = 62;
constexpr Key out = 0;
constexpr Key undecided = Key{1} << state_shift;
constexpr Key in_set = Key{2} << state_shift;
constexpr Key weight_bits = undecided - 1;

/// Of a point of which nothing is known yet: it may be undecided, and heavier than any other.
constexpr Key unknown = undecided | weight_bits;

/// Owned points and ghosts of the graph's exchange. Where connections go both ways, what is known
/// of other ranks may be old: a point that is taken for undecided keeps others waiting, and no
/// more. So each rank decides all that it can between two exchanges, and the set is that of the
/// paper's rounds. On several threads each writes what belongs to its points, and reads what no
/// loop writes that runs at the same time.
template <class T>
class IndependentSet {
 public:
  IndependentSet(const matrix::DistMatrix<T>& G, const Strength& strength, const SetOptions& set)
      : G_(G),
        strength_(strength),
        blocks_(set.blocks),
        both_ways_(set.both_ways),
        reach_(static_cast<std::size_t>(set.distance)),
        seen_(blocks_.empty() ? 0 : reach_.size()) {}

  std::vector<std::uint8_t> run(int seed, const std::function<void()>& prepare) {
    mpi::collectively(G_.comm(), [&] {
      if (prepare) prepare();
      begin(seed);
    });
    if (both_ways_) decide_all();
    do {  // whether points are left is seldom worth a reduction after each exchange
      for (std::size_t s = 0; s < reach_.size(); ++s) {
        share();
        both_ways_ ? decide_all() : spread();
      }
      if (!both_ways_) decide();
    } while (mpi::sum(G_.comm(), static_cast<GlobalIndex>(active_.size())) > 0);
    return std::move(members_);
  }

 private:
  /// All that may fail.
  void begin(int seed) {
    const auto n = static_cast<std::size_t>(G_.n_local());
    const auto first = static_cast<std::uint64_t>(G_.rows().begin() - G_.rows().first());
    members_.assign(n, 0);
    key_.assign(n, out);
    for (std::vector<Key>& keys : reach_) keys.assign(n, out);
    told_.resize(n * reach_.size());  // of what is not told no memory is touched
    heard_.assign(static_cast<std::size_t>(G_.n_ghosts()) * reach_.size(), unknown);
    for (std::vector<Key>& keys : seen_) keys.assign(n, unknown);
    G_.exchange().exported_entries();
    work_ = 1 + (G_.on().cols.size() + G_.off().cols.size()) / std::max<std::size_t>(1, n);
    active_ = parallel::indices_if<LocalIndex>(n, work_, [&](LocalIndex i) {
      const auto u = static_cast<std::size_t>(i);
      if (!is_connected(i)) return false;
      key_[u] = undecided | (hash64(first + u, static_cast<std::uint64_t>(seed)) & weight_bits);
      return true;
    });
    near_ = active_;
  }

  bool is_connected(LocalIndex i) const {
    const auto has = [i](const kernels::Csr<T>& part, const Array<std::uint8_t>& marks) {
      const auto end = marks.begin() + part.end(i);
      return std::find(marks.begin() + part.begin(i), end, 1) != end;
    };
    return has(G_.on(), strength_.on) || has(G_.off(), strength_.off);
  }

  /// What steps of `step` connections start from: the keys, or the largest so far.
  std::span<const Key> keys_of(std::size_t step) const {
    return step == 0 ? key_ : reach_[step - 1];
  }

  /// Collective. One exchange of the keys and of the largest in reach, all that others may ask for.
  void share() {
    const std::size_t width = reach_.size();
    for (const LocalIndex i : G_.exchange().exported_entries()) {
      const auto u = static_cast<std::size_t>(i);
      for (std::size_t s = 0; s < width; ++s) told_[u * width + s] = keys_of(s)[u];
    }
    G_.exchange().forward(std::span<const Key>(told_), std::span<Key>(heard_),
                          static_cast<int>(width));
    for (std::size_t s = 0; s < seen_.size(); ++s) {
      const std::span<const Key> keys = keys_of(s);
      std::copy(keys.begin(), keys.end(), seen_[s].begin());
    }
  }

  /// Calls f(key) for the keys of point i and all it is connected to, of a step.
  template <class F>
  void for_each_key(LocalIndex i, std::size_t step, F&& f) const {
    const std::span<const Key> keys = keys_of(step);
    f(keys[static_cast<std::size_t>(i)]);
    const coarsen::RankRows here = coarsen::rank_rows(blocks_, key_.size(), i);
    for_each_strong(G_.on(), strength_.on, i,
                    [&](std::size_t j, T) { f(here.contains(j) ? keys[j] : seen_[step][j]); });
    const std::size_t width = reach_.size();
    for_each_strong(G_.off(), strength_.off, i,
                    [&](std::size_t g, T) { f(heard_[g * width + step]); });
  }

  Key largest(LocalIndex i, std::size_t step) const {
    Key most = out;
    for_each_key(i, step, [&](Key key) { most = std::max(most, key); });
    return most;
  }

  /// Local. Decides all that follows from what is known here.
  void decide_all() {
    std::size_t before = 0;
    do {
      before = active_.size();
      spread();
      decide();
    } while (active_.size() < before);
  }

  /// reach_[s] becomes the largest key at most s + 1 connections away; at the full distance of
  /// active points only.
  void spread() {
    spread_once();
    for (std::size_t s = 1; s < reach_.size(); ++s) {
      const auto update = [&](LocalIndex i) {
        reach_[s][static_cast<std::size_t>(i)] = largest(i, s);
      };
      if (s + 1 < reach_.size()) {
        parallel::for_rows(G_.on().row_ptr, [&](LocalIndex begin, LocalIndex end) {
          for (LocalIndex i = begin; i < end; ++i) update(i);
        });
      } else {
        parallel::for_each(std::span<const LocalIndex>(active_), work_, update);
      }
    }
  }

  /// The first step leaves out points without undecided neighbours: what they can reach stays what
  /// it was.
  void spread_once() {
    parallel::erase_if(near_, work_, [&](LocalIndex i) {
      Key any = out;  // the bits of all states, gathered without a jump for each
      Key most = out;
      for_each_key(i, 0, [&](Key key) {
        most = std::max(most, key);
        any |= key;
      });
      reach_.front()[static_cast<std::size_t>(i)] = most;
      return (any & undecided) == 0;
    });
  }

  void decide() {
    parallel::erase_if(active_, 1, [&](LocalIndex i) {
      const auto u = static_cast<std::size_t>(i);
      const Key most = reach_.back()[u];
      if (most >= in_set) {
        key_[u] = out;
      } else if (most == key_[u]) {
        key_[u] += undecided;  // which makes it in_set
        members_[u] = 1;
      } else {
        return false;
      }
      return true;
    });
  }

  const matrix::DistMatrix<T>& G_;
  const Strength& strength_;
  std::span<const GlobalIndex> blocks_;
  bool both_ways_;
  std::vector<std::uint8_t> members_;
  std::vector<Key> key_;
  std::vector<std::vector<Key>> reach_;
  std::vector<std::vector<Key>> seen_;  // by other blocks, of each step
  Array<Key> told_;                     // of each exported point, by step
  std::vector<Key> heard_;              // of each ghost, likewise
  std::size_t work_ = 1;                // of looking at a row, for parallel::for_each()
  std::vector<LocalIndex> active_;      // undecided points
  std::vector<LocalIndex> near_;  // points that had an undecided one among them and neighbours
};

}  // namespace

template <class T>
std::vector<std::uint8_t> maximal_independent_set(const matrix::DistMatrix<T>& G,
                                                  const Strength& strength, const SetOptions& set,
                                                  const std::function<void()>& prepare) {
  if (set.distance < 1) {
    throw Error(
        ErrorCode::invalid_argument,
        "independent set: the distance must be 1 or more, not " + std::to_string(set.distance));
  }
  return IndependentSet<T>(G, strength, set).run(set.seed, prepare);
}

template std::vector<std::uint8_t> maximal_independent_set(const matrix::DistMatrix<float>&,
                                                           const Strength&, const SetOptions&,
                                                           const std::function<void()>&);
template std::vector<std::uint8_t> maximal_independent_set(const matrix::DistMatrix<double>&,
                                                           const Strength&, const SetOptions&,
                                                           const std::function<void()>&);

}  // namespace nodewise::amg::aggregate
