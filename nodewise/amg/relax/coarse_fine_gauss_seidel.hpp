// Gauss-Seidel relaxation and SOR through the coarse points, then through the fine ones.
#pragma once

#include <span>
#include <vector>

#include "nodewise/amg/relax/hybrid_sweeps.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::relax {

/// Hybrid sweeps through rows in another order: the coarse rows of a thread, ascending, then its
/// fine ones; backward all of that the other way about, which is the adjoint for a symmetric A. M
/// is D / w + L in that order (C/F relaxation: Stüben, in Trottenberg, Oosterlee, Schüller,
/// "Multigrid", 2001, appendix A), with the l1 form's terms (hybrid_diagonal.hpp) where that is
/// asked for. Fine points see the newest values of the coarse points of their own thread, and those
/// of before the sweep of all others, so that a sweep takes one exchange, and none from zero, as in
/// the order of the rows. It reads whole rows from zero, too. `both_ways`: all coarse rows forward
/// and backward and then the fine ones likewise, or first these.
template <class T>
class CoarseFineGaussSeidel final : public HybridSweeps<T> {
 public:
  /// Local. Rows that are not in coarse_rows, which ascend, are fine: all of them on a last level.
  /// `l1` is null for the other form.
  CoarseFineGaussSeidel(const matrix::DistMatrix<T>& A, std::span<const LocalIndex> coarse_rows,
                        double weight, const CouplingSums<T>* l1, bool both_ways);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  std::size_t memory_bytes() const override;

 private:
  using typename HybridSweeps<T>::Range;
  using typename HybridSweeps<T>::Vectors;
  using HybridSweeps<T>::n_parts;

  void sweep_rows(const Range& range, Direction direction, const Vectors& vectors) const override;
  template <class IsMixed>
  void relax(LocalIndex i, Offset begin, Offset end, IsMixed is_mixed, const Vectors& vectors,
             std::span<T> sums) const;

  using Relaxation<T>::A_;
  Array<T> inverse_;  // of the smoother's diagonal; 0 where a row is left alone
  std::vector<char> is_coarse_;
  bool both_ways_;
};

}  // namespace nodewise::amg::relax
