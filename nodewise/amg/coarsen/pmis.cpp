#include "nodewise/amg/coarsen/blocks.hpp"
#include "nodewise/amg/coarsen/independent_set.hpp"

namespace nodewise::amg::coarsen {

comm::Layout coarse_layout(const comm::Layout& points, const Splitting& splitting) {
  return comm::Layout::from_local_size(points.shared_comm(),
                                       std::count(splitting.begin(), splitting.end(), coarse));
}

namespace {

template <class T>
class Pmis {
 public:
  Pmis(const matrix::DistMatrix<T>& A, const Strength& strength)
      : A_(A), strength_(strength), points_(A, strength) {}

  /// `start()` makes the states to begin with: local work, what it throws on one rank all throw.
  template <class Start>
  Splitting run(int seed, const Start& start) {
    mpi::collectively(A_.comm(), [&] { points_.begin(start()); });
    points_.share_states();
    drop_dependants();
    if (!points_.any_active()) return std::move(points_.state);
    points_.weigh(seed);
    points_.drop_light();
    share_weights();
    while (points_.any_active()) {
      points_.select_heaviest();
      points_.share_states();
      drop_dependants();
      points_.share_states();
    }
    return std::move(points_.state);
  }

 private:
  /// One exchange for weights and states: what is decided weighs less than nothing. Nobody needs to
  /// know how it was decided, since all that depends on a coarse point is fine by now.
  void share_weights() {
    parallel::for_range(points_.state.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (points_.state[i] != undecided) points_.weight[i] = -1.0;
      }
    });
    points_.share_weights();
    for (std::size_t g = 0; g < points_.ghost_state.size(); ++g) {
      points_.ghost_state[g] = points_.ghost_weight[g] < 0 ? fine : undecided;
    }
  }

  /// Undecided points that depend on a coarse point become fine and leave the list.
  void drop_dependants() {
    points_.drop_decided([&](LocalIndex i) {
      return any_strong(A_.on(), strength_.on, i,
                        [&](std::size_t j) { return points_.is_coarse(j); }) ||
             any_strong(A_.off(), strength_.off, i,
                        [&](std::size_t g) { return points_.ghost_state[g] == coarse; });
    });
  }

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  WeightedPoints<T> points_;
};

}  // namespace

template <class T>
Splitting pmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               Splitting start) {
  return Pmis<T>(A, strength).run(seed, [&] { return std::move(start); });
}

template <class T>
Splitting hmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               std::span<const GlobalIndex> blocks) {
  return Pmis<T>(A, strength).run(seed, [&] {
    return interior_coarse_points(A, strength, blocks,
                                  [&](const Strength& within, Splitting points) {
                                    return ruge_stueben_first_pass(A, within, std::move(points));
                                  });
  });
}

template Splitting pmis(const matrix::DistMatrix<float>&, const Strength&, int, Splitting);
template Splitting pmis(const matrix::DistMatrix<double>&, const Strength&, int, Splitting);
template Splitting hmis(const matrix::DistMatrix<float>&, const Strength&, int,
                        std::span<const GlobalIndex>);
template Splitting hmis(const matrix::DistMatrix<double>&, const Strength&, int,
                        std::span<const GlobalIndex>);

}  // namespace nodewise::amg::coarsen
