// Gauss-Seidel relaxation of points with several unknowns.
#pragma once

#include <vector>

#include "nodewise/amg/relax/relaxation.hpp"
#include "nodewise/base/array.hpp"
#include "nodewise/kernels/bsr.hpp"

namespace nodewise::amg::relax {

/// Hybrid, as GaussSeidel, with the blocks of A.blocks() in the place of entries: M is D / w + L
/// forward and D / w + U backward, D being the diagonal blocks and L and U the blocks below and
/// above them on the rank. In the l1 form truncated_half_sums() (block_l1.hpp) are
/// added to the diagonal of D, which makes it converge for every symmetric positive definite A on
/// any number of ranks. On one rank both are block Gauss-Seidel (Saad 2003, section 4.1.1).
template <class T>
class BlockGaussSeidel final : public Relaxation<T> {
 public:
  /// Local. A must have blocks().
  BlockGaussSeidel(const matrix::DistMatrix<T>& A, double weight, bool l1);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  /// Reads each block once.
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
  std::span<const T> fetch_ghosts(std::span<const T> X, int width) const;
  void sweep_beside(std::span<const T> ghosts, Direction direction, std::span<const T> b,
                    std::span<T> x) const;

  using Relaxation<T>::A_;
  Array<T> inverse_;              // of M's diagonal blocks
  std::vector<Offset> diagonal_;  // where they are in a block row, or would be
};

}  // namespace nodewise::amg::relax
