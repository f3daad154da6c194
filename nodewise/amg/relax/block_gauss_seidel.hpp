// Gauss-Seidel relaxation of points with several unknowns.
#pragma once

#include <array>
#include <vector>

#include "nodewise/amg/relax/hybrid_sweeps.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/kernels/bsr.hpp"

namespace nodewise::amg::relax {

/// The way the unknowns of a point are solved for: all at once, or one after another, in the
/// direction of the sweep, as GaussSeidel does.
enum class PointSolve { together, one_by_one };

/// GaussSeidel with the blocks of A.blocks() in the place of entries: in hybrid sweeps M is D / w +
/// L forward and D / w + U backward, D being the diagonal blocks and L and U the blocks below and
/// above them among the threads' own points. In the l1 form truncated_half_sums() (block_l1.hpp)
/// are added to the diagonal of D, which makes it converge for every symmetric positive definite A
/// on any number of ranks. On one thread of one rank both are block Gauss-Seidel (Saad 2003,
/// section 4.1.1).
///
/// With PointSolve::one_by_one D is its lower triangle forward and its upper one backward, the
/// diagonal over w: the sweeps of GaussSeidel up to round-off, its l1 form included, that read the
/// matrix in blocks. Where the blocks are full that takes less time.
template <class T>
class BlockGaussSeidel final : public HybridSweeps<T> {
 public:
  /// Local. A must have blocks(). `l1` is null for the other form.
  BlockGaussSeidel(const matrix::DistMatrix<T>& A, double weight, const CouplingSums<T>* l1,
                   PointSolve solve);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  /// Reads each block once.
  void first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                 std::span<T> r) const override;
  std::size_t memory_bytes() const override;

 private:
  using typename HybridSweeps<T>::Vectors;
  using typename HybridSweeps<T>::Range;
  using HybridSweeps<T>::n_parts;

  template <int B>
  std::array<T, B> solve_point(LocalIndex i, Direction direction, const T* r) const;
  template <int B>
  void sweep_from_zero(const Range& range, const T* b, T* x, T* r) const;
  template <int B>
  void subtract_above(LocalIndex first, LocalIndex last, const T* x, T* r) const;
  template <int B>
  Range sweep_from_zero_with_residual(int part, const T* b, T* x, T* r) const;
  template <int B>
  void rest_of_residual(const Range& left, const T* x, T* r) const;
  void sweep_rows(const Range& range, Direction direction, const Vectors& vectors) const override;
  template <int B>
  void sweep_points(const Range& range, Direction direction, const Vectors& vectors) const;
  template <int B>
  void sweep_points_block(const Range& range, Direction direction, const Vectors& vectors) const;

  /// The row that comes `ahead_` later in a direction, or the last one there is.
  LocalIndex later(LocalIndex i, Direction direction) const;

  using Relaxation<T>::A_;
  PointSolve solve_;
  Array<T> inverse_;              // of M's diagonal blocks, or of both triangles of each
  std::vector<Offset> diagonal_;  // where they are in a block row, or would be
  LocalIndex ahead_;              // for how many rows ahead the memory is asked
};

}  // namespace nodewise::amg::relax
