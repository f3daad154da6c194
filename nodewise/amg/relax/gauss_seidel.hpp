// Gauss-Seidel relaxation and SOR.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::relax {

/// Hybrid: Gauss-Seidel within the rows of a thread, Jacobi between threads and between ranks. M is
/// D / w + L forward and D / w + U backward, L and U being the triangles of the blocks of the
/// threads' own rows: t threads do what t ranks with these rows would. The l1 form adds half of
/// what couples to rows of others to the diagonal where that is needed, which makes it converge for
/// every symmetric positive definite A on any number of ranks: Baker, Falgout, Kolev, Yang,
/// "Multigrid smoothers for ultraparallel computing", 2011, in the truncated form of remark 6.2.
template <class T>
class GaussSeidel final : public Relaxation<T> {
 public:
  /// Local.
  GaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  /// Reads each entry once.
  void first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                 std::span<T> r) const override;
  void sweep(Direction direction, std::span<const T> b, std::span<T> x) const override;
  /// One exchange.
  void symmetric_sweep(std::span<const T> b, std::span<T> x) const override;
  /// No exchange.
  void first_symmetric_sweep(std::span<const T> b, std::span<T> x) const override;
  void sweep_together(Sweep sweep, std::span<const T> B, std::span<T> X, int width) const override;
  bool has_direction() const override { return true; }
  std::size_t memory_bytes() const override;

 protected:
  std::size_t room_for(std::size_t width) const override;

 private:
  /// Where a row's entries at rows of the same thread begin and end, counted from its first.
  struct Within {
    LocalIndex begin, end;
  };

  int n_blocks() const { return static_cast<int>(blocks_.size()) - 1; }
  void find_blocks();
  Within within_block(LocalIndex i, LocalIndex first, LocalIndex last) const;
  T outside_sum(LocalIndex i) const;
  Offset first(LocalIndex i) const;
  Offset last(LocalIndex i) const;
  Offset upper(LocalIndex i) const;
  void keep_others(std::span<const T> x) const;
  void sweep_beside_others(Direction direction, std::span<const T> b, std::span<T> x) const;
  void first_sweep_of(int block, std::span<const T> b, std::span<T> x) const;
  template <bool has_others>
  void sweep_all(Direction direction, std::span<const T> b, std::span<T> x) const;
  template <bool has_others>
  void sweep_block(int block, Direction direction, std::span<const T> b, std::span<T> x) const;
  T product_with_others(LocalIndex i, const T* ghosts) const;
  /// Several vectors, and what is seen of others; nothing from x = 0.
  struct Together {
    std::span<const T> B;
    std::span<T> X;
    std::span<const T> ghosts, old;
    std::span<T> sums;  // of the rows that the threads are at
    std::size_t width;
    bool from_zero;
  };
  void sweep_rows_together(int block, Direction direction, const Together& vectors) const;

  using Relaxation<T>::A_;
  std::vector<LocalIndex> blocks_;  // where the rows of each thread begin, and where the last end
  std::vector<Within> within_;      // of each row; empty where there is one block
  Array<T> inverse_;                // of the smoother's diagonal
  std::vector<T> shift_;            // the smoother's diagonal less A's; empty when 0 everywhere
  Array<LocalIndex> lower_;         // how many columns of a row are below the diagonal
  std::vector<LocalIndex> frozen_;  // rows with a zero diagonal
  mutable std::vector<T> old_;      // x before the sweep, where there are several blocks
};

}  // namespace nodewise::amg::relax
