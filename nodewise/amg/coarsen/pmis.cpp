#include "nodewise/amg/coarsen/blocks.hpp"
#include "nodewise/amg/coarsen/coarsening_method.hpp"
#include "nodewise/amg/coarsen/independent_set.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"

namespace nodewise::amg::coarsen {

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

namespace nodewise::amg {

namespace {

/// One reduction agrees on the beginning, one asks for points that are left, and so does each round
/// before it begins and the last one after it.
int rounds_of_pmis(std::int64_t collectives) {
  return static_cast<int>(std::max<std::int64_t>(0, collectives - 3));
}

/// As Pmis::run(), which ends at once after two reductions.
void exchanges_of_pmis(std::int64_t collectives, const kernels::Csr<double>&, const Strength&,
                       VirtualExchanges& exchanges) {
  exchanges.forward(sizeof(std::int8_t));
  if (collectives <= 2) return;
  exchanges.reversed(sizeof(double));  // how many depend on a point
  exchanges.forward(sizeof(double));   // weights
  for (int k = 0; k < rounds_of_pmis(collectives); ++k) {
    exchanges.reversed(sizeof(std::int32_t));  // who is outweighed
    exchanges.forward(sizeof(std::int8_t));    // coarse points
    exchanges.forward(sizeof(std::int8_t));    // fine points
  }
}

template <class T>
coarsen::Splitting split_by_pmis(const SplittingCall<T>& call) {
  return coarsen::pmis(call.A, call.strength, call.seed);
}

template <class T>
coarsen::Splitting split_by_hmis(const SplittingCall<T>& call) {
  return coarsen::hmis(call.A, call.strength, call.seed, call.blocks);
}

}  // namespace

const CoarseningMethod& pmis_coarsening() {
  static const CoarseningMethod method = {
      {"pmis", "independent sets by random weights: few coarse points",
       "De Sterck, Yang, Heys 2006"},
      true,
      SplittingMessages{rounds_of_pmis, exchanges_of_pmis},
      split_by_pmis<double>,
      split_by_pmis<float>,
      8};
  return method;
}

const CoarseningMethod& hmis_coarsening() {
  static const CoarseningMethod method = {
      {"hmis", "first pass of Ruge-Stueben inside ranks, pmis between them",
       "De Sterck, Yang, Heys 2006"},
      false,
      SplittingMessages{rounds_of_pmis, exchanges_of_pmis},
      split_by_hmis<double>,
      split_by_hmis<float>,
      10};
  return method;
}

}  // namespace nodewise::amg
