// Sweeps through the rows of a rank that see the newest values of their own thread only.
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/amg/relax/stretches.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::relax {

/// Hybrid sweeps: Gauss-Seidel within the rows of a thread, Jacobi between threads and between
/// ranks, so that t threads do what t ranks with these rows would. Rows may be those of the matrix
/// or points of several. A sweep sees of other threads and ranks what they had before it, and so do
/// both halves of a symmetric one: within a thread's rows that is symmetric Gauss-Seidel, between
/// them Jacobi, which is its own adjoint. Derived classes have the arithmetic of a thread's rows.
///
/// Where a rank has several threads, the rows of a thread that come before the first with ghosts
/// are swept while messages travel: all of those of a thread whose rows have none.
template <class T>
class HybridSweeps : public Relaxation<T> {
 public:
  /// One exchange.
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const final;
  /// One exchange.
  void symmetric_sweep(std::span<const T> b, std::span<T> x) const final;
  /// No exchange.
  void first_symmetric_sweep(std::span<const T> b, std::span<T> x) const final;
  /// Two exchanges.
  void sweep_with_product(Sweep sweep, std::span<const T> b, std::span<T> x,
                          std::span<T> y) const final;
  /// None from zero, otherwise one.
  void sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const final;
  bool has_direction() const final { return true; }
  std::size_t memory_bytes() const override {
    std::size_t bytes = old_.size() * sizeof(T) + mixed_.size() * sizeof(MixedRow);
    for (const auto& passes : passes_) {
      for (const std::vector<Stretch>& of_part : passes) bytes += of_part.size() * sizeof(Stretch);
    }
    return bytes;
  }

 protected:
  /// The rows, whether single ones or points: their on-process parts, where the others begin, and
  /// the exchange that brings `unknowns` values of each of their ghosts.
  struct Rows {
    std::span<const Offset> row_ptr;
    std::span<const LocalIndex> cols;
    std::span<const Offset> off_row_ptr;
    comm::Exchange& exchange;
    int unknowns;
    bool in_order = true;  // a sweep goes through them by their numbers
  };
  /// `width` vectors side by side, and what a sweep sees of others: their ghosts, and all of X as
  /// it was where there are several parts. Nothing from X = 0.
  struct Vectors {
    std::span<const T> B;
    std::span<T> X;
    std::span<const T> ghosts, old;
    int width;
    bool from_zero;
    std::span<T> scratch;  // of all parts, for several vectors
  };

  /// Local. The rows must outlive this.
  HybridSweeps(const matrix::DistMatrix<T>& A, Rows rows);
  /// Local. Lets sweep_and_follow() in a direction go through some rows at a time.
  void plan_passes(Direction direction);

  /// Rows of a part, the last not included.
  struct Range {
    int part;
    LocalIndex first, last;
  };
  /// Local. A sweep through some rows of a part; all of them where it is not in their order.
  virtual void sweep_rows(const Range& range, Direction direction,
                          const Vectors& vectors) const = 0;
  /// Collective. A sweep backward through all parts and then y = A X. By default one after the
  /// other.
  virtual void backward_with_product(const Vectors& vectors, std::span<T> y) const;
  /// The workspace of a part where there are several vectors.
  std::span<T> scratch_of(int part, const Vectors& vectors) const {
    const auto w = static_cast<std::size_t>(vectors.width);
    return vectors.scratch.subspan(static_cast<std::size_t>(part) * scratch_size(w),
                                   static_cast<std::size_t>(rows_.unknowns) * w);
  }
  std::size_t workspace_for(std::size_t width) const final;

  /// Local. A sweep through the rows of all parts.
  void run(Direction direction, const Vectors& vectors) const;

  int n_parts() const { return static_cast<int>(parts_.size()) - 1; }
  /// Returns where the rows of each part begin, and where the last end.
  std::span<const LocalIndex> parts() const { return parts_; }
  LocalIndex first_row(int part) const { return parts_[static_cast<std::size_t>(part)]; }
  LocalIndex end_row(int part) const { return parts_[static_cast<std::size_t>(part) + 1]; }
  Range all_of(int part) const { return {part, first_row(part), end_row(part)}; }
  /// Calls f(i, begin, end, is_mixed) for each row i of a range in a direction, where [begin, end)
  /// are its on-process entries at rows of this part. is_mixed is a constant of type std::true_type
  /// where there may be entries at rows of other parts or ranks, which few rows have: the others
  /// need not look for them.
  template <class F>
  void for_each_row(const Range& range, Direction direction, F&& f) const;
  /// The same with run(first, last) for rows that have none, `last` not included; a sweep backward
  /// visits them from the last to the first. mixed(i, begin, end) is called for the others.
  template <class Run, class Mixed>
  void for_each_run(const Range& range, Direction direction, Run&& run, Mixed&& mixed) const;
  /// Two passes through the rows of a part that read it from the memory once: sweep(range) in a
  /// direction for all of them, some at a time, and follow(range) for most, as soon as those that
  /// they have entries at have been swept; mixed rows, which see others, are not waited for.
  /// Returns the rows at the end of the way that are left to follow at any time, as messages
  /// travel: all of them where the part fits into a cache, or what lies between the two passes does
  /// not, or nobody called plan_passes().
  template <class SweepRange, class Follow>
  Range sweep_and_follow(int part, Direction direction, SweepRange&& sweep, Follow&& follow) const;
  /// The rows that sweep_and_follow() has not followed: run(first, last) for rows that are left,
  /// mixed(i, begin, end) for every mixed one of the part, as in for_each_run().
  template <class Run, class Mixed>
  void follow_rest(const Range& left, Run&& run, Mixed&& mixed) const;

 private:
  /// A row with entries at rows of other parts or ranks, and where those at rows of its own part
  /// begin and end, counted from its first.
  struct MixedRow {
    LocalIndex row, begin, end;
  };

  std::size_t scratch_size(std::size_t width) const;
  std::size_t bytes_of(const Range& range) const;
  std::vector<MixedRow> mixed_rows(LocalIndex first_row, LocalIndex end_row) const;
  LocalIndex first_with_ghosts(int part, Direction direction) const;
  Range early_rows(int part, Direction direction) const;
  Range late_rows(int part, Direction direction) const;
  std::vector<Stretch> all_at_once(int part, Direction direction) const;
  std::vector<Stretch> stretches_of(int part, Direction direction) const;
  LocalIndex last_seen_by(const Range& range, Direction direction) const;
  std::span<const MixedRow> mixed_of(const Range& range) const;
  MixedRow within_part(LocalIndex i, LocalIndex first_row, LocalIndex end_row) const;
  Vectors look_at_others(std::span<const T> B, std::span<T> X, int width) const;
  template <class Meanwhile>
  Vectors look_at_others(std::span<const T> B, std::span<T> X, int width,
                         Meanwhile&& meanwhile) const;
  Vectors look_and_sweep(Direction direction, std::span<const T> B, std::span<T> X,
                         int width) const;

  Rows rows_;
  std::vector<LocalIndex> parts_;
  std::vector<MixedRow> mixed_;            // upwards
  std::vector<std::size_t> mixed_starts_;  // where those of each part begin, and the last end
  std::array<std::vector<std::vector<Stretch>>, 2> passes_;  // in each direction through each part
  std::array<std::vector<LocalIndex>, 2> early_;  // where the early rows of each part end
  bool has_early_ = false;
  mutable Array<T> old_;  // x before the sweep, where there are several parts
};

template <class T>
template <class F>
void HybridSweeps<T>::for_each_row(const Range& range, Direction direction, F&& f) const {
  const Offset* const row_ptr = rows_.row_ptr.data();
  const auto inner = [&](LocalIndex i) { f(i, row_ptr[i], row_ptr[i + 1], std::false_type()); };
  const auto run = [&](LocalIndex first, LocalIndex last) {
    if (direction == Direction::forward) {
      for (LocalIndex i = first; i < last; ++i) inner(i);
    } else {
      for (LocalIndex i = last - 1; i >= first; --i) inner(i);
    }
  };
  const auto mixed = [&](LocalIndex i, Offset begin, Offset end) {
    f(i, begin, end, std::true_type());
  };
  for_each_run(range, direction, run, mixed);
}

template <class T>
template <class Run, class Mixed>
void HybridSweeps<T>::for_each_run(const Range& range, Direction direction, Run&& run,
                                   Mixed&& mixed) const {
  const std::span<const MixedRow> rows = mixed_of(range);
  const auto visit = [&](const MixedRow& m) {
    const Offset begin = rows_.row_ptr[static_cast<std::size_t>(m.row)];
    mixed(m.row, begin + m.begin, begin + m.end);
  };
  if (direction == Direction::forward) {
    LocalIndex first = range.first;
    for (auto m = rows.begin(); m != rows.end(); ++m) {
      if (first < m->row) run(first, m->row);
      visit(*m);
      first = m->row + 1;
    }
    if (first < range.last) run(first, range.last);
  } else {
    LocalIndex last = range.last;
    for (auto m = rows.rbegin(); m != rows.rend(); ++m) {
      if (m->row + 1 < last) run(m->row + 1, last);
      visit(*m);
      last = m->row;
    }
    if (range.first < last) run(range.first, last);
  }
}

template <class T>
template <class SweepRange, class Follow>
auto HybridSweeps<T>::sweep_and_follow(int part, Direction direction, SweepRange&& sweep,
                                       Follow&& follow) const -> Range {
  const bool upwards = direction == Direction::forward;
  const auto between = [&](LocalIndex from, LocalIndex to) {
    return upwards ? Range{part, from, to} : Range{part, to, from};
  };
  const LocalIndex begin = upwards ? first_row(part) : end_row(part);
  const LocalIndex end = upwards ? end_row(part) : first_row(part);
  LocalIndex swept = begin, followed = begin;
  for (const Stretch& to : passes_[upwards ? 0 : 1][static_cast<std::size_t>(part)]) {
    sweep(between(std::exchange(swept, to.first), to.first));
    if (followed != to.second) follow(between(std::exchange(followed, to.second), to.second));
  }
  return between(followed, end);
}

template <class T>
template <class Run, class Mixed>
void HybridSweeps<T>::follow_rest(const Range& left, Run&& run, Mixed&& mixed) const {
  const auto nothing = [](LocalIndex, LocalIndex) {};
  const Range before{left.part, first_row(left.part), left.first};
  const Range behind{left.part, left.last, end_row(left.part)};
  for_each_run(before, Direction::forward, nothing, mixed);
  for_each_run(left, Direction::forward, run, mixed);
  for_each_run(behind, Direction::forward, nothing, mixed);
}

}  // namespace nodewise::amg::relax
