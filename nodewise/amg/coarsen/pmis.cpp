#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nodewise/amg/coarsen/blocks.hpp"
#include "nodewise/amg/coarsen/coarsening_method.hpp"
#include "nodewise/amg/coarsen/independent_set.hpp"
#include "nodewise/amg/coarsen/rank_rows.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"

namespace nodewise::amg::coarsen {

namespace {

/// Each point waits for the heavier ones that it depends on, and for nothing else: where one of
/// them is coarse it becomes fine, where all are fine, coarse. So every order of decisions has the
/// same end, which is that of the paper's rounds. A rank decides all that it can before it tells
/// others.
template <class T>
class Pmis {
 public:
  /// On one rank ranges of rows, `blocks`, may wait for each other as ranks do.
  Pmis(const matrix::DistMatrix<T>& A, const Strength& strength,
       std::span<const GlobalIndex> blocks)
      : A_(A), strength_(strength), blocks_(blocks), points_(A, strength) {}

  /// `start()` makes the states to begin with: local work, what it throws on one rank all throw.
  template <class Start>
  Splitting run(int seed, const Start& start) {
    mpi::collectively(A_.comm(), [&] {
      points_.begin(start());
      if (!blocks_.empty()) seen_.reserve(points_.state.size());
    });
    points_.weigh(seed);
    points_.drop_light();
    for_all_points([&](std::size_t i) {
      if (points_.state[i] == coarse) points_.weight[i] = weight_of_given;
    });
    decide(false);
    share_weights();
    decide(true);
    do {  // whether points are left is seldom worth a reduction after each exchange
      for (int k = 0; k < exchanges_a_reduction; ++k) {
        share_states();
        decide(true);
      }
    } while (points_.any_active());
    return std::move(points_.state);
  }

  static constexpr int exchanges_a_reduction = 2;

 private:
  /// Of a point that is coarse from the beginning: no other weighs more.
  static constexpr double weight_of_given = std::numeric_limits<double>::infinity();

  /// Local. Decides all that follows from what is known here. Of points of other ranks nothing is,
  /// or their weights and the states that were shared last.
  void decide(bool knows_others) {
    std::size_t before = 0;
    do {
      before = points_.active.size();
      points_.settle([&](LocalIndex i) { return outcome(i, knows_others); });
    } while (points_.active.size() < before);
  }

  /// What the heavier points that point i depends on make of it.
  std::int8_t outcome(LocalIndex i, bool knows_others) {
    const RankRows here = rank_rows(blocks_, points_.state.size(), i);
    bool is_served = false, waits = false;
    const auto consider = [&](std::int8_t state) {
      is_served |= state == coarse;
      waits |= state == undecided;
    };
    for_each_strong(A_.on(), strength_.on, i, [&](std::size_t j) {
      const bool is_here = here.contains(j);
      if (!is_here && !knows_others) return consider(undecided);
      if (points_.outweighs(i, j)) return;
      consider(is_here ? parallel::load(points_.state[j]) : seen_[j]);
    });
    for_each_strong(A_.off(), strength_.off, i, [&](std::size_t g) {
      if (!knows_others) return consider(undecided);
      if (!points_.outweighs_ghost(i, g)) consider(points_.ghost_state[g]);
    });
    if (is_served) return fine;
    return waits ? undecided : coarse;
  }

  /// Collective. One exchange for weights and states: a coarse point's weight has a minus, a fine
  /// point, whose weight nobody needs, has none.
  void share_weights() {
    const auto turn_coarse = [&](std::size_t i) {
      if (points_.state[i] == coarse) points_.weight[i] = -points_.weight[i];
    };
    for_all_points([&](std::size_t i) {
      turn_coarse(i);
      if (points_.state[i] == fine) points_.weight[i] = 0;
    });
    points_.share_weights();
    for_all_points(turn_coarse);
    for (std::size_t g = 0; g < points_.ghost_state.size(); ++g) {
      double& weight = points_.ghost_weight[g];
      points_.ghost_state[g] = weight < 0 ? coarse : weight > 0 ? undecided : fine;
      weight = std::abs(weight);
    }
    see_blocks();
  }

  /// Collective. One exchange.
  void share_states() {
    points_.share_states();
    see_blocks();
  }

  /// Local. What blocks know of each other.
  void see_blocks() {
    if (!blocks_.empty()) seen_.assign(points_.state.begin(), points_.state.end());
  }

  template <class F>
  void for_all_points(const F& f) {
    parallel::for_range(points_.state.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) f(i);
    });
  }

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  std::span<const GlobalIndex> blocks_;
  WeightedPoints<T> points_;
  Splitting seen_;  // by other blocks
};

/// Local. The points that the first pass of Ruge-Stüben decides on each rank by itself.
template <class T>
Splitting first_pass_of_hmis(const matrix::DistMatrix<T>& A, const Strength& strength,
                             std::span<const GlobalIndex> blocks) {
  return interior_coarse_points(A, strength, blocks, [&](const Strength& within, Splitting points) {
    return ruge_stueben_first_pass(A, within, std::move(points));
  });
}

}  // namespace

template <class T>
Splitting pmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed, Splitting start,
               std::span<const GlobalIndex> blocks) {
  return Pmis<T>(A, strength, blocks).run(seed, [&] { return std::move(start); });
}

template <class T>
Splitting hmis(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
               std::span<const GlobalIndex> blocks) {
  return Pmis<T>(A, strength, blocks).run(seed, [&] {
    return first_pass_of_hmis(A, strength, blocks);
  });
}

template Splitting pmis(const matrix::DistMatrix<float>&, const Strength&, int, Splitting,
                        std::span<const GlobalIndex>);
template Splitting pmis(const matrix::DistMatrix<double>&, const Strength&, int, Splitting,
                        std::span<const GlobalIndex>);
template Splitting hmis(const matrix::DistMatrix<float>&, const Strength&, int,
                        std::span<const GlobalIndex>);
template Splitting hmis(const matrix::DistMatrix<double>&, const Strength&, int,
                        std::span<const GlobalIndex>);

}  // namespace nodewise::amg::coarsen

namespace nodewise::amg {

namespace {

/// One reduction agrees on the beginning, each other one follows some exchanges of states.
int rounds_of_pmis(std::int64_t collectives) {
  return static_cast<int>(std::max<std::int64_t>(0, collectives - 1)) *
         coarsen::Pmis<double>::exchanges_a_reduction;
}

/// As Pmis::run().
void exchanges_of_pmis(std::int64_t collectives, const kernels::Csr<double>&, const Strength&,
                       VirtualExchanges& exchanges) {
  exchanges.reversed(sizeof(double));  // how many depend on a point
  exchanges.forward(sizeof(double));   // weights
  for (int k = 0; k < rounds_of_pmis(collectives); ++k) exchanges.forward(sizeof(std::int8_t));
}

template <class T>
coarsen::Splitting split_by_pmis(const SplittingCall<T>& call) {
  return coarsen::Pmis<T>(call.A, call.strength, call.blocks).run(call.seed, [&] {
    if (call.failure) throw Error(*call.failure);
    return coarsen::Splitting();
  });
}

template <class T>
coarsen::Splitting split_by_hmis(const SplittingCall<T>& call) {
  return coarsen::Pmis<T>(call.A, call.strength, call.blocks).run(call.seed, [&] {
    if (call.failure) throw Error(*call.failure);
    return coarsen::first_pass_of_hmis(call.A, call.strength, call.blocks);
  });
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
      8,
      true};
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
