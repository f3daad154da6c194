// Small entries go: Falgout, Schroder 2014; Bienz 2018, algorithm 4.1.
#include <algorithm>
#include <vector>

#include "nodewise/amg/sparsify/drop_rule.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;

/// The worth of the blocks in the rows of a rank.
template <class T>
class WorthOfEntries {
 public:
  explicit WorthOfEntries(const WorthCall<T>& call)
      : call_(call),
        blocks_(call.blocks),
        guard_(call.A, call.blocks, call.kept_vector),
        marks_(static_cast<std::size_t>(blocks_.n_all()), -1) {
    for (const GlobalIndex ghost : call.minimal.ghosts) {
      pattern_points_.push_back(
          blocks_.local((ghost - call.A.cols().first()) / blocks_.unknowns()));
    }
  }

  void run() {
    for (LocalIndex point = 0; point < blocks_.n_points(); ++point) {
      T largest{};
      for_each_other_block(
          point, [&](Offset block) { largest = std::max(largest, blocks_.worth(block)); });
      if (call_.guards_diagonal) order_by_norm(point);
      for_each_other_block(point, [&](Offset block) {
        T& worth = blocks_.worth(block);
        worth = largest > T{} ? worth / largest : T{};
      });
      keep_minimal(point);
      if (call_.guards_diagonal) guard(point);
    }
  }

 private:
  template <class F>
  void for_each_other_block(LocalIndex point, F&& f) const {
    for (Offset block = blocks_.begin(point); block < blocks_.end(point); ++block) {
      if (blocks_.column(block) != point) f(block);
    }
  }

  void keep_minimal(LocalIndex point) {
    const Csr<T>& rows = call_.minimal.rows;
    const LocalIndex row = point * blocks_.unknowns();
    const LocalIndex n = call_.A.n_local();
    for (auto k = static_cast<std::size_t>(rows.begin(row));
         k < static_cast<std::size_t>(rows.end(row)); ++k) {
      const LocalIndex column = rows.cols[k];
      const LocalIndex to = column < n ? column / blocks_.unknowns()
                                       : pattern_points_[static_cast<std::size_t>(column - n)];
      if (to >= 0) marks_[static_cast<std::size_t>(to)] = point;
    }
    for_each_other_block(point, [&](Offset block) {
      if (marks_[static_cast<std::size_t>(blocks_.column(block))] == point) {
        blocks_.worth(block) = always_kept<T>;
      }
    });
  }

  /// The other blocks of a row, the smallest first, in an order that does not depend on the ranks.
  void order_by_norm(LocalIndex point) {
    order_.clear();
    for_each_other_block(point, [&](Offset block) { order_.push_back(block); });
    std::sort(order_.begin(), order_.end(), [&](Offset a, Offset b) {
      const T norm_a = blocks_.worth(a), norm_b = blocks_.worth(b);
      if (norm_a != norm_b) return norm_a < norm_b;
      return blocks_.global(blocks_.column(a)) < blocks_.global(blocks_.column(b));
    });
  }

  /// Drops no more than the diagonal bears.
  void guard(LocalIndex point) {
    guard_.start(point);
    for (const Offset block : order_) {
      T& worth = blocks_.worth(block);
      if (worth != always_kept<T> && !guard_.bears(block)) worth = always_kept<T>;
    }
  }

  const WorthCall<T>& call_;
  PointBlocks<T>& blocks_;
  DiagonalGuard<T> guard_;
  std::vector<LocalIndex> marks_;           // the row that was last found to have a point's column
  std::vector<LocalIndex> pattern_points_;  // of the ghosts of the minimal pattern
  std::vector<Offset> order_;
};

template <class T>
void weigh_entries(const WorthCall<T>& call, std::optional<Error>& failure) {
  if (!failure) failure = mpi::caught([&] { WorthOfEntries<T>(call).run(); });
}

std::span<const Field<DropEntriesOptions>> drop_entries_fields() {
  static const std::vector<Field<DropEntriesOptions>> fields = {field_by_level(
      "drop_tolerance", &DropEntriesOptions::drop_tolerance,
      "Entries of the coarse matrices of levels 1, 2, ... go that are smaller than this fraction "
      "of the largest off-diagonal one of their row and of their column, such as 0,0.01,0.1,1; the "
      "last number is for all deeper levels, 0 drops nothing")};
  return fields;
}

double tolerance_of_entries(const Choice<DropRule>& rule, int level) {
  return number_of_level(rule.options<DropEntriesOptions>().drop_tolerance, level);
}

}  // namespace

const DropRule& drop_entries() {
  static const DropRule rule = {{"entries", "small entries outside of the minimal pattern",
                                 "Bienz 2018, algorithm 4.1", own_options(drop_entries_fields)},
                                true,
                                true,
                                tolerance_of_entries,
                                weigh_entries<double>,
                                weigh_entries<float>};
  return rule;
}

}  // namespace nodewise::amg::sparsify
