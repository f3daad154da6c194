#include <numeric>

#include "nodewise/amg/coarsen/blocks.hpp"
#include "nodewise/amg/coarsen/coarsening_method.hpp"
#include "nodewise/amg/coarsen/independent_set.hpp"
#include "nodewise/amg/coarsen/strong_rows.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"

namespace nodewise::amg::coarsen {

namespace {

/// An edge k -> j, k depending strongly on j, is alive until k is coarse, j is coarse, or both
/// depend on a coarse point; a point weighs as much as edges to it are alive.
template <class T>
class Cljp {
 public:
  Cljp(const matrix::DistMatrix<T>& A, const Strength& strength)
      : A_(A), strength_(strength), points_(A, strength) {}

  template <class Start>
  Splitting run(int seed, const Start& start, std::span<const double> fractions = {}) {
    mpi::collectively(A_.comm(), [&] {
      points_.begin(start());
      begin();
    });
    if (!points_.any_active()) return std::move(points_.state);
    ghost_rows_ = ghost_dependences(A_, strength_);
    points_.weigh(seed, fractions);
    points_.share_states();
    take_edges();
    while (points_.any_active()) {
      points_.share_weights();
      points_.select_heaviest();
      points_.drop_decided();
      points_.share_states();
      take_edges();
    }
    return std::move(points_.state);
  }

 private:
  void begin() {
    const auto n = static_cast<std::size_t>(A_.n_local());
    const auto all = n + static_cast<std::size_t>(A_.n_ghosts());
    edges_ = strength_;
    is_taken_.assign(all, 0);
    marks_.assign(static_cast<std::size_t>(parallel::parts_of(n * points_.work)),
                  std::vector<LocalIndex>(all, -1));
    loss_.reserve(n);
    ghost_loss_.reserve(all - n);
    open_.resize(n);
    std::iota(open_.begin(), open_.end(), LocalIndex{0});
  }

  /// Calls f(point, edge) for what row i depends on: point numbers of local points and, behind
  /// them, ghosts; `edge` is the place that says whether the edge is alive.
  template <class F>
  void for_each_edge(LocalIndex i, F&& f) {
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (strength_.on[p]) f(static_cast<std::size_t>(A_.on().cols[p]), edges_.on[p]);
    }
    const auto n = static_cast<std::size_t>(A_.n_local());
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (strength_.off[p]) f(n + static_cast<std::size_t>(A_.off().cols[p]), edges_.off[p]);
    }
  }

  std::int8_t state_of(std::size_t point) const {
    const std::size_t n = points_.state.size();
    return point < n ? points_.state[point] : points_.ghost_state[point - n];
  }

  /// The weight of `point` is less by one.
  void lose(std::size_t point) {
    const std::size_t n = points_.state.size();
    std::int32_t& loss = point < n ? loss_[point] : ghost_loss_[point - n];
    if (marks_.size() > 1) {
      parallel::count(loss);
    } else {
      ++loss;
    }
  }

  /// Collective. Takes the edges that new coarse points make superfluous, and off the weights.
  void take_edges() {
    loss_.assign(points_.state.size(), 0);
    ghost_loss_.assign(points_.ghost_state.size(), 0);
    // Every thread has marks of its own, edges belong to rows, and losses are counted.
    const int parts =
        std::min(parallel::parts_of(open_.size() * points_.work), static_cast<int>(marks_.size()));
    parallel::run(parts, [&](int part) {
      const std::size_t end = parallel::equal_part(open_.size(), parts, part + 1);
      for (std::size_t k = parallel::equal_part(open_.size(), parts, part); k < end; ++k) {
        take_edges_of(open_[k], marks_[static_cast<std::size_t>(part)]);
      }
    });
    parallel::for_range(is_taken_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t point = begin; point < end; ++point) {
        is_taken_[point] = state_of(point) == coarse ? 1 : 0;
      }
    });
    parallel::erase_if(open_, 1,
                       [&](LocalIndex i) { return is_taken_[static_cast<std::size_t>(i)] != 0; });
    A_.exchange().reverse_add(std::span<const std::int32_t>(ghost_loss_),
                              std::span<std::int32_t>(loss_));
    points_.drop_decided([&](LocalIndex i) {
      const auto u = static_cast<std::size_t>(i);
      points_.weight[u] -= loss_[u];
      return points_.weight[u] < 1.0;
    });
  }

  void take_edges_of(LocalIndex i, std::vector<LocalIndex>& marks) {
    if (points_.state[static_cast<std::size_t>(i)] == coarse) {
      for_each_edge(i, [&](std::size_t j, std::uint8_t& alive) {
        if (alive) lose(j);
      });
      return;
    }
    bool any_new = false;
    for_each_edge(i, [&](std::size_t j, std::uint8_t& alive) {
      if (state_of(j) != coarse) return;
      any_new = any_new || !is_taken_[j];
      alive = 0;
      marks[j] = i;
    });
    if (!any_new) return;
    for_each_edge(i, [&](std::size_t j, std::uint8_t& alive) {
      if (!alive || !has_marked(j, i, marks)) return;
      alive = 0;
      lose(j);
    });
  }

  /// Whether `point` depends on a point that bears the mark.
  bool has_marked(std::size_t point, LocalIndex mark, const std::vector<LocalIndex>& marks) const {
    const std::size_t n = points_.state.size();
    bool found = false;
    if (point >= n) {
      for (const LocalIndex j : ghost_rows_.of(point - n)) {
        found = found || marks[static_cast<std::size_t>(j)] == mark;
      }
      return found;
    }
    const auto i = static_cast<LocalIndex>(point);
    for_each_strong(A_.on(), strength_.on, i,
                    [&](std::size_t j) { found = found || marks[j] == mark; });
    for_each_strong(A_.off(), strength_.off, i,
                    [&](std::size_t g) { found = found || marks[n + g] == mark; });
    return found;
  }

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  WeightedPoints<T> points_;
  Strength edges_;                              // of the strong entries, those that are alive
  StrongRows ghost_rows_;                       // columns: local points, then ghosts
  std::vector<LocalIndex> open_;                // rows whose edges may still go
  std::vector<std::uint8_t> is_taken_;          // coarse points whose edges have been taken
  std::vector<std::vector<LocalIndex>> marks_;  // the row a coarse point was marked for last
  std::vector<std::int32_t> loss_, ghost_loss_;
};

}  // namespace

template <class T>
Splitting cljp(const matrix::DistMatrix<T>& A, const Strength& strength, int seed, Splitting start,
               std::span<const double> fractions) {
  return Cljp<T>(A, strength)
      .run(
          seed, [&] { return std::move(start); }, fractions);
}

template <class T>
Splitting falgout(const matrix::DistMatrix<T>& A, const Strength& strength, int seed,
                  std::span<const GlobalIndex> blocks) {
  const auto both_passes = [&](const Strength& within, const Splitting& start) {
    Splitting points = ruge_stueben_first_pass(A, within, start);
    for (std::size_t i = 0; i < points.size(); ++i) {
      // Nothing interpolates to a point that depends on none: it wants no coarse one.
      if (start[i] == fine) {
        points[i] = undecided;
      } else if (points[i] == undecided) {
        points[i] = fine;
      }
    }
    second_pass(A, within, points);
    return points;
  };
  return Cljp<T>(A, strength).run(seed, [&] {
    return interior_coarse_points(A, strength, blocks, both_passes);
  });
}

template Splitting cljp(const matrix::DistMatrix<float>&, const Strength&, int, Splitting,
                        std::span<const double>);
template Splitting cljp(const matrix::DistMatrix<double>&, const Strength&, int, Splitting,
                        std::span<const double>);
template Splitting falgout(const matrix::DistMatrix<float>&, const Strength&, int,
                           std::span<const GlobalIndex>);
template Splitting falgout(const matrix::DistMatrix<double>&, const Strength&, int,
                           std::span<const GlobalIndex>);

}  // namespace nodewise::amg::coarsen

namespace nodewise::amg {

namespace {

/// One reduction agrees on the strength, one on the beginning, one on ghost rows; one asks for
/// points that are left, and so does each round before it begins and the last one after it.
int rounds_of_cljp(std::int64_t collectives) {
  return static_cast<int>(std::max<std::int64_t>(0, collectives - 5));
}

/// As Cljp::run(), which ends at once after two more reductions.
void exchanges_of_cljp(std::int64_t collectives, const kernels::Csr<double>& A,
                       const Strength& strength, VirtualExchanges& exchanges) {
  if (collectives <= 3) return;
  exchanges.records(coarsen::strong_offsets(A, strength), sizeof(GlobalIndex));
  exchanges.reversed(sizeof(double));
  exchanges.forward(sizeof(std::int8_t));
  exchanges.reversed(sizeof(std::int32_t));  // edges taken
  for (int k = 0; k < rounds_of_cljp(collectives); ++k) {
    exchanges.forward(sizeof(double));
    exchanges.reversed(sizeof(std::int32_t));  // who is outweighed
    exchanges.forward(sizeof(std::int8_t));
    exchanges.reversed(sizeof(std::int32_t));
  }
}

template <class T>
coarsen::Splitting split_by_cljp(const SplittingCall<T>& call) {
  mpi::agree(call.A.comm(), call.failure);
  return coarsen::cljp(call.A, call.strength, call.seed);
}

template <class T>
coarsen::Splitting split_by_falgout(const SplittingCall<T>& call) {
  mpi::agree(call.A.comm(), call.failure);
  return coarsen::falgout(call.A, call.strength, call.seed, call.blocks);
}

}  // namespace

const CoarseningMethod& cljp_coarsening() {
  static const CoarseningMethod method = {
      {"cljp", "random weights; dependent fine points have a coarse point in common",
       "Henson, Yang 2002, section 4.2"},
      true,
      SplittingMessages{rounds_of_cljp, exchanges_of_cljp},
      split_by_cljp<double>,
      split_by_cljp<float>,
      0};
  return method;
}

const CoarseningMethod& falgout_coarsening() {
  static const CoarseningMethod method = {
      {"falgout", "both passes of Ruge-Stueben inside ranks, cljp between them",
       "Henson, Yang 2002, section 4.3"},
      false,
      SplittingMessages{rounds_of_cljp, exchanges_of_cljp},
      split_by_falgout<double>,
      split_by_falgout<float>,
      6};
  return method;
}

}  // namespace nodewise::amg
