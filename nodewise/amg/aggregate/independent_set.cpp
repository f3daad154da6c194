#include <algorithm>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/aggregate/strong_entries.hpp"
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

/// Owned points and ghosts of the graph's exchange. On several threads each writes what belongs to
/// its points, and reads what no loop writes that runs at the same time.
template <class T>
class IndependentSet {
 public:
  IndependentSet(const matrix::DistMatrix<T>& G, const Strength& strength, int distance)
      : G_(G), strength_(strength), reach_(static_cast<std::size_t>(distance)) {}

  std::vector<std::uint8_t> run(int seed) {
    mpi::collectively(G_.comm(), [&] { begin(seed); });
    while (mpi::sum(G_.comm(), static_cast<GlobalIndex>(active_.size())) > 0) {
      spread();
      decide();
    }
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
    ghost_key_.assign(static_cast<std::size_t>(G_.n_ghosts()), out);
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

  void share(std::span<const Key> keys) { G_.exchange().forward(keys, std::span<Key>(ghost_key_)); }

  /// Calls f(key) for the keys of point i and all it is connected to.
  template <class F>
  void for_each_key(LocalIndex i, std::span<const Key> keys, F&& f) const {
    f(keys[static_cast<std::size_t>(i)]);
    for_each_strong(G_.on(), strength_.on, i, [&](std::size_t j, T) { f(keys[j]); });
    for_each_strong(G_.off(), strength_.off, i, [&](std::size_t g, T) { f(ghost_key_[g]); });
  }

  Key largest(LocalIndex i, std::span<const Key> keys) const {
    Key most = out;
    for_each_key(i, keys, [&](Key key) { most = std::max(most, key); });
    return most;
  }

  /// reach_[s] becomes the largest key at most s + 1 connections away; at the full distance of
  /// active points only.
  void spread() {
    share(key_);
    spread_once();
    for (std::size_t s = 1; s < reach_.size(); ++s) {
      share(reach_[s - 1]);
      const auto update = [&](LocalIndex i) {
        reach_[s][static_cast<std::size_t>(i)] = largest(i, reach_[s - 1]);
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
      for_each_key(i, key_, [&](Key key) {
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
  std::vector<std::uint8_t> members_;
  std::vector<Key> key_, ghost_key_;
  std::vector<std::vector<Key>> reach_;
  std::size_t work_ = 1;            // of looking at a row, for parallel::for_each()
  std::vector<LocalIndex> active_;  // undecided points
  std::vector<LocalIndex> near_;    // points that had an undecided one among them and neighbours
};

}  // namespace

template <class T>
std::vector<std::uint8_t> maximal_independent_set(const matrix::DistMatrix<T>& G,
                                                  const Strength& strength, int distance,
                                                  int seed) {
  if (distance < 1) {
    throw Error(ErrorCode::invalid_argument,
                "independent set: the distance must be 1 or more, not " + std::to_string(distance));
  }
  return IndependentSet<T>(G, strength, distance).run(seed);
}

template std::vector<std::uint8_t> maximal_independent_set(const matrix::DistMatrix<float>&,
                                                           const Strength&, int, int);
template std::vector<std::uint8_t> maximal_independent_set(const matrix::DistMatrix<double>&,
                                                           const Strength&, int, int);

}  // namespace nodewise::amg::aggregate
