// Sweeps through the rows of a rank that see the newest values of their own thread only.
#pragma once

#include <span>
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
    return old_.size() * sizeof(T) + within_.size() * sizeof(Within);
  }

 protected:
  /// The on-process rows, whether single ones or points, and the exchange that brings `unknowns`
  /// values of each of their ghosts.
  struct Rows {
    std::span<const Offset> row_ptr;
    std::span<const LocalIndex> cols;
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
  /// Where the entries of row i at rows of its own part begin.
  Offset first(LocalIndex i) const {
    const auto u = static_cast<std::size_t>(i);
    return rows_.row_ptr[u] + (within_.empty() ? 0 : within_[u].begin);
  }
  /// Where they end.
  Offset last(LocalIndex i) const {
    const auto u = static_cast<std::size_t>(i);
    return within_.empty() ? rows_.row_ptr[u + 1] : rows_.row_ptr[u] + within_[u].end;
  }

 private:
  /// Where a row's entries at rows of the same part begin and end, counted from its first.
  struct Within {
    LocalIndex begin, end;
  };

  std::size_t scratch_size(std::size_t width) const;
  Within within_part(LocalIndex i, LocalIndex first_row, LocalIndex end_row) const;
  Vectors look_at_others(std::span<const T> B, std::span<T> X, int width) const;
  void run(Direction direction, const Vectors& vectors) const;

  Rows rows_;
  std::vector<LocalIndex> parts_;
  std::vector<Within> within_;  // of each row; empty where there is one part
  mutable Array<T> old_;        // x before the sweep, where there are several parts
};

}  // namespace nodewise::amg::relax
