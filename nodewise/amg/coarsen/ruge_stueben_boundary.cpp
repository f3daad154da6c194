// Ruge-Stüben with a third pass between ranks.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/amg/coarsen/coarsening_method.hpp"
#include "nodewise/amg/coarsen/strong_rows.hpp"
#include "nodewise/amg/virtual_exchanges.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg {

namespace {

using coarsen::coarse;
using coarsen::Splitting;

/// After both passes inside ranks, makes fine points coarse that depend on a fine point of another
/// rank, or block, without a coarse point that both depend on. Each rank decides about its own
/// points in their order, by what those of others were before.
template <class T>
class BoundaryPass {
 public:
  BoundaryPass(const matrix::DistMatrix<T>& A, const Strength& strength,
               std::span<const GlobalIndex> blocks, Splitting states)
      : A_(A), strength_(strength), before_(std::move(states)) {
    const auto n = static_cast<std::size_t>(A.n_local());
    ghost_states_.resize(static_cast<std::size_t>(A.n_ghosts()));
    block_of_.resize(n);
    for (std::size_t b = 0; b + 1 < blocks.size(); ++b) {
      std::fill(block_of_.begin() + blocks[b], block_of_.begin() + blocks[b + 1],
                static_cast<LocalIndex>(b));
    }
    marks_.assign(n + ghost_states_.size(), -1);
    // Relaxation alone serves points that depend on nothing: none needs a point in common with
    // them.
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      auto& state = before_[static_cast<std::size_t>(i)];
      bool any = false;
      for_each_strong(i, [&](std::size_t) { any = true; });
      if (state != coarse && !any) state = coarsen::undecided;
    }
  }

  /// Collective. An exchange of A for states and one for rows.
  Splitting run() {
    A_.exchange().forward(std::span<const std::int8_t>(before_),
                          std::span<std::int8_t>(ghost_states_));
    ghost_rows_ = coarsen::ghost_dependences(A_, strength_);
    return mpi::collectively(A_.comm(), [&] {
      after_ = before_;
      for (LocalIndex i = 0; i < A_.n_local(); ++i) {
        auto& state = after_[static_cast<std::size_t>(i)];
        if (state != coarse && lacks_a_common_point(i)) state = coarse;
      }
      for (std::int8_t& state : after_) state = state == coarse ? coarse : coarsen::fine;
      return std::move(after_);
    });
  }

 private:
  /// Calls f(point) for all that row i depends on: local points, then ghosts.
  template <class F>
  void for_each_strong(LocalIndex i, F&& f) const {
    for (Offset k = A_.on().begin(i); k < A_.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (strength_.on[p]) f(static_cast<std::size_t>(A_.on().cols[p]));
    }
    for (Offset k = A_.off().begin(i); k < A_.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (strength_.off[p]) f(block_of_.size() + static_cast<std::size_t>(A_.off().cols[p]));
    }
  }

  bool is_of_block(std::size_t point, LocalIndex block) const {
    return point < block_of_.size() && block_of_[point] == block;
  }

  std::int8_t state_before(std::size_t point) const {
    return point < block_of_.size() ? before_[point] : ghost_states_[point - block_of_.size()];
  }

  bool is_coarse(std::size_t point, LocalIndex block) const {
    return (is_of_block(point, block) ? after_[point] : state_before(point)) == coarse;
  }

  bool lacks_a_common_point(LocalIndex i) {
    const LocalIndex block = block_of_[static_cast<std::size_t>(i)];
    for_each_strong(i, [&](std::size_t j) {
      if (is_coarse(j, block)) marks_[j] = i;
    });
    bool lacks = false;
    for_each_strong(i, [&](std::size_t j) {
      if (lacks || is_of_block(j, block) || state_before(j) != coarsen::fine) return;
      bool common = false;
      const auto see = [&](std::size_t k) { common = common || marks_[k] == i; };
      if (j < block_of_.size()) {
        for_each_strong(static_cast<LocalIndex>(j), see);
      } else {
        for (const LocalIndex k : ghost_rows_.of(j - block_of_.size())) {
          see(static_cast<std::size_t>(k));
        }
      }
      lacks = !common;
    });
    return lacks;
  }

  const matrix::DistMatrix<T>& A_;
  const Strength& strength_;
  Splitting before_, after_, ghost_states_;
  std::vector<LocalIndex> block_of_;  // of each local point
  coarsen::StrongRows ghost_rows_;
  std::vector<LocalIndex> marks_;  // the row that a coarse point was marked for last
};

int no_boundary_rounds(std::int64_t) {
  return 0;
}

void exchanges_of_boundary_pass(std::int64_t, const kernels::Csr<double>& A,
                                const Strength& strength, VirtualExchanges& exchanges) {
  exchanges.forward(sizeof(std::int8_t));
  exchanges.records(coarsen::strong_offsets(A, strength), sizeof(GlobalIndex));
}

template <class T>
Splitting split_with_boundary(const SplittingCall<T>& call) {
  auto pass = mpi::collectively(call.A.comm(), [&] {
    if (call.failure) throw Error(*call.failure);
    return BoundaryPass<T>(call.A, call.strength, call.blocks,
                           coarsen::ruge_stueben(call.A, call.strength, 2, call.blocks));
  });
  return pass.run();
}

}  // namespace

const CoarseningMethod& ruge_stueben_boundary_coarsening() {
  static const CoarseningMethod method = {
      {"ruge_stueben_boundary",
       "both passes of Ruge-Stueben inside ranks, and a third between them",
       "Henson, Yang 2002, section 4.1"},
      false,
      SplittingMessages{no_boundary_rounds, exchanges_of_boundary_pass},
      split_with_boundary<double>,
      split_with_boundary<float>,
      3};
  return method;
}

}  // namespace nodewise::amg
