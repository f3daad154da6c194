// Sweeps through the rows of a rank that see the newest values of their own thread only.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::relax {

/// Hybrid sweeps: Gauss-Seidel within the rows of a thread, Jacobi between threads and between
/// ranks, so that t threads do what t ranks with these rows would. Rows may be those of the matrix
/// or points of several. A sweep sees of other threads and ranks what they had before it, and so do
/// both halves of a symmetric one: within a thread's rows that is symmetric Gauss-Seidel, between
/// them Jacobi, which is its own adjoint. Derived classes have the arithmetic of a thread's rows.
template <class T>
class HybridSweeps : public Relaxation<T> {
 public:
  /// One exchange.
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const final;
  /// One exchange.
  void symmetric_sweep(std::span<const T> b, std::span<T> x) const final;
  /// No exchange.
  void first_symmetric_sweep(std::span<const T> b, std::span<T> x) const final;
  /// None from zero, otherwise one.
  void sweep_together(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const final;
  bool has_direction() const final { return true; }
  std::size_t memory_bytes() const override {
    return old_.size() * sizeof(T) + mixed_.size() * sizeof(MixedRow);
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

  /// Local. A sweep through the rows of a part.
  virtual void sweep_part(int part, Direction direction, const Vectors& vectors) const = 0;
  /// What a part works with where there are several vectors.
  std::span<T> scratch_of(int part, const Vectors& vectors) const {
    const auto w = static_cast<std::size_t>(vectors.width);
    return vectors.scratch.subspan(static_cast<std::size_t>(part) * scratch_size(w),
                                   static_cast<std::size_t>(rows_.unknowns) * w);
  }
  std::size_t room_for(std::size_t width) const final;

  int n_parts() const { return static_cast<int>(parts_.size()) - 1; }
  /// Where the rows of each part begin, and where the last end.
  std::span<const LocalIndex> parts() const { return parts_; }
  LocalIndex first_row(int part) const { return parts_[static_cast<std::size_t>(part)]; }
  LocalIndex end_row(int part) const { return parts_[static_cast<std::size_t>(part) + 1]; }
  /// Calls f(i, begin, end, is_mixed) for each row i of a part in a direction, where [begin, end)
  /// are its on-process entries at rows of this part. is_mixed is a constant of type std::true_type
  /// where there may be entries at rows of other parts or ranks, which few rows have: the others
  /// need not look for them.
  template <class F>
  void for_each_row(int part, Direction direction, F&& f) const;

 private:
  /// A row with entries at rows of other parts or ranks, and where those at rows of its own part
  /// begin and end, counted from its first.
  struct MixedRow {
    LocalIndex row, begin, end;
  };

  std::size_t scratch_size(std::size_t width) const;
  std::vector<MixedRow> mixed_rows(LocalIndex first_row, LocalIndex end_row) const;
  MixedRow within_part(LocalIndex i, LocalIndex first_row, LocalIndex end_row) const;
  Vectors look_at_others(std::span<const T> B, std::span<T> X, int width) const;
  void run(Direction direction, const Vectors& vectors) const;

  Rows rows_;
  std::vector<LocalIndex> parts_;
  std::vector<MixedRow> mixed_;            // upwards
  std::vector<std::size_t> mixed_starts_;  // where those of each part begin, and the last end
  mutable Array<T> old_;                   // x before the sweep, where there are several parts
};

template <class T>
template <class F>
void HybridSweeps<T>::for_each_row(int part, Direction direction, F&& f) const {
  const Offset* const row_ptr = rows_.row_ptr.data();
  const auto inner = [&](LocalIndex i) { f(i, row_ptr[i], row_ptr[i + 1], std::false_type()); };
  const auto mixed = [&](const MixedRow& m) {
    f(m.row, row_ptr[m.row] + m.begin, row_ptr[m.row] + m.end, std::true_type());
  };
  const auto p = static_cast<std::size_t>(part);
  const auto rows =
      std::span(mixed_).subspan(mixed_starts_[p], mixed_starts_[p + 1] - mixed_starts_[p]);
  if (direction == Direction::forward) {
    LocalIndex i = first_row(part);
    for (auto m = rows.begin(); m != rows.end(); ++m, ++i) {
      for (; i < m->row; ++i) inner(i);
      mixed(*m);
    }
    for (; i < end_row(part); ++i) inner(i);
  } else {
    LocalIndex i = end_row(part) - 1;
    for (auto m = rows.rbegin(); m != rows.rend(); ++m, --i) {
      for (; i > m->row; --i) inner(i);
      mixed(*m);
    }
    for (; i >= first_row(part); --i) inner(i);
  }
}

}  // namespace nodewise::amg::relax
