// Small entries go: Falgout, Schroder 2014; Bienz 2018, algorithm 4.1.
#include <algorithm>
#include <limits>
#include <vector>

#include "nodewise/amg/sparsify/drop_rule.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

/// The worth of the blocks in rows of a rank. Each thread has its own. A row without small blocks
/// is done when these are looked for.
template <class T>
class WorthOfEntries {
 public:
  WorthOfEntries(const WorthCall<T>& call, std::span<const LocalIndex> pattern_points)
      : call_(call),
        blocks_(call.blocks),
        guard_(call.A, call.blocks, call.kept_vector),
        pattern_points_(pattern_points),
        marks_(static_cast<std::size_t>(blocks_.n_all()), -1) {}

  void run(LocalIndex begin, LocalIndex end) {
    for (LocalIndex point = begin; point < end; ++point) {
      find_small(point);
      if (small_.empty()) continue;
      keep_minimal(point);
      if (call_.guards_diagonal) guard(point);
    }
  }

 private:
  /// A block that the tolerance would drop.
  struct Small {
    T norm;
    Offset block;
  };

  template <class F>
  void for_each_other_block(LocalIndex point, F&& f) const {
    for (Offset block = blocks_.begin(point); block < blocks_.end(point); ++block) {
      if (blocks_.column(block) != point) f(block);
    }
  }

  void find_small(LocalIndex point) {
    T largest{};
    for_each_other_block(point,
                         [&](Offset block) { largest = std::max(largest, blocks_.worth(block)); });
    small_.clear();
    // What is larger is worth more than the tolerance, however that is rounded.
    constexpr T beyond_rounding = 1 + 8 * std::numeric_limits<T>::epsilon();
    const T bound = call_.tolerance * largest * beyond_rounding;
    for_each_other_block(point, [&](Offset block) {
      T& worth = blocks_.worth(block);
      const T norm = worth;
      worth = norm > bound ? always_kept<T> : largest > T{} ? norm / largest : T{};
      if (worth < call_.tolerance) small_.push_back({norm, block});
    });
  }

  /// Leaves those among the small ones that are not in the minimal pattern.
  void keep_minimal(LocalIndex point) {
    const LocalIndex n = call_.A.n_local();
    const LocalIndex u = blocks_.unknowns();
    call_.minimal.for_each_column(point, [&](LocalIndex column) {
      const LocalIndex to = column >= n ? pattern_points_[static_cast<std::size_t>(column - n)]
                            : u == 1    ? column
                                        : column / u;
      if (to >= 0) marks_[static_cast<std::size_t>(to)] = point;
    });
    std::erase_if(small_, [&](const Small& small) {
      const bool stays = marks_[static_cast<std::size_t>(blocks_.column(small.block))] == point;
      if (stays) blocks_.worth(small.block) = always_kept<T>;
      return stays;
    });
  }

  /// Drops no more than the diagonal bears: the smallest first, in an order that does not depend on
  /// the ranks.
  void guard(LocalIndex point) {
    if (small_.empty()) return;
    if (blocks_.are_entries() && guard_.surely_bears(point, small_)) return;
    std::sort(small_.begin(), small_.end(), [&](const Small& a, const Small& b) {
      if (a.norm != b.norm) return a.norm < b.norm;
      return blocks_.global(blocks_.column(a.block)) < blocks_.global(blocks_.column(b.block));
    });
    guard_.start(point);
    for (const Small& small : small_) {
      if (!guard_.bears(small.block)) blocks_.worth(small.block) = always_kept<T>;
    }
  }

  const WorthCall<T>& call_;
  PointBlocks<T>& blocks_;
  DiagonalGuard<T> guard_;
  std::span<const LocalIndex> pattern_points_;
  std::vector<LocalIndex> marks_;  // the row that was last found to have a point's column
  std::vector<Small> small_;
};

/// The points of the minimal pattern's ghosts; -1 where the matrix has no such ghost.
template <class T>
std::vector<LocalIndex> points_of_pattern(const WorthCall<T>& call) {
  std::vector<LocalIndex> points;
  for (const GlobalIndex ghost : call.minimal.ghosts()) {
    points.push_back(call.blocks.local((ghost - call.A.cols().first()) / call.blocks.unknowns()));
  }
  return points;
}

template <class T>
void weigh_entries(const WorthCall<T>& call, std::optional<Error>& failure) {
  if (failure) return;
  failure = mpi::caught([&] {
    const std::vector<LocalIndex> points = points_of_pattern(call);
    parallel::for_rows(call.blocks.begins(), [&](LocalIndex begin, LocalIndex end) {
      WorthOfEntries<T>(call, points).run(begin, end);
    });
  });
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

void set_tolerances_of_entries(Choice<DropRule>& rule, const std::vector<double>& by_level) {
  rule.options<DropEntriesOptions>().drop_tolerance = by_level;
}

}  // namespace

const DropRule& drop_entries() {
  static const DropRule rule = {{"entries", "small entries outside of the minimal pattern",
                                 "Bienz 2018, algorithm 4.1", own_options(drop_entries_fields)},
                                true,
                                true,
                                tolerance_of_entries,
                                set_tolerances_of_entries,
                                false,
                                std::vector<double>{0.01, 0.1},
                                weigh_entries<double>,
                                weigh_entries<float>};
  return rule;
}

}  // namespace nodewise::amg::sparsify
