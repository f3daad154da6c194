// Gauss-Seidel relaxation and SOR.
#pragma once

#include <optional>
#include <vector>

#include "nodewise/amg/relax/hybrid_sweeps.hpp"
#include "nodewise/amg/relax/row_scales.hpp"
#include "nodewise/amg/relax/row_sweeps.hpp"
#include "nodewise/amg/relax/smoother_method.hpp"
#include "nodewise/base/array.hpp"

namespace nodewise::amg::relax {

/// Of every Gauss-Seidel smoother.
struct GaussSeidelOptions {
  double sor_weight = 1.0;
  SweepOrder sweep_order = SweepOrder::automatic;
};
std::span<const Field<GaussSeidelOptions>> gauss_seidel_fields();

/// What the descriptors of all of them say.
SweepOrder* gauss_seidel_order(Choice<SmootherMethod>& smoother);
SweepExchanges gauss_seidel_exchanges(const Choice<SmootherMethod>& smoother);
/// Local. By rows, in blocks where A has blocks(), or through coarse and fine points.
template <class T>
std::unique_ptr<const Relaxation<T>> make_gauss_seidel(const matrix::DistMatrix<T>& A,
                                                       const Choice<SmootherMethod>& smoother,
                                                       const MatrixFacts& facts);

/// In hybrid sweeps M is D / w + L forward and D / w + U backward, L and U being the triangles of
/// the blocks of the threads' own rows. The l1 form adds w / 2 times the CouplingSums with rows of
/// others to the diagonal where that is needed, which makes it converge for every symmetric
/// positive definite A on any number of ranks: Baker, Falgout, Kolev, Yang, "Multigrid smoothers
/// for ultraparallel computing", 2011, in the truncated form of remark 6.2, for other weights than
/// 1, too.
template <class T>
class GaussSeidel final : public HybridSweeps<T> {
 public:
  /// Local. `l1` is null for the other form.
  GaussSeidel(const matrix::DistMatrix<T>& A, double weight, const CouplingSums<T>* l1,
              const MatrixFacts& facts);

  void first_sweep(std::span<const T> b, std::span<T> x) const override;
  /// Reads each entry once, and most of the matrix from the memory once.
  void first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                 std::span<T> r) const override;
  /// The same where the matrix is symmetric.
  void first_symmetric_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                           std::span<T> r) const override;
  /// Where a backward sweep ends it: reads each entry for both, but for half of them twice, and
  /// most of the matrix from the memory once.
  bool saves_product(Sweep sweep) const override {
    return has_backward(sweep) && !is_from_zero(sweep);
  }
  std::size_t memory_bytes() const override;

 private:
  using typename HybridSweeps<T>::Vectors;
  using typename HybridSweeps<T>::Range;
  using HybridSweeps<T>::n_parts, HybridSweeps<T>::first_row, HybridSweeps<T>::end_row;

  /// What has become of the rows of a part.
  struct PreparedRows {
    std::vector<LocalIndex> frozen;
    bool is_shifted = false;  // some of them by the l1 form
  };

  PreparedRows prepare_part(int part, T weight, const CouplingSums<T>* l1);
  T diagonal(LocalIndex i) const;
  void first_sweep_of(const Range& range, const kernels::RowBlocks<T>& ahead, const T* b,
                      T* x) const;
  Range first_sweep_with_upper_residual(int part, const T* b, T* x, T* r) const;
  void rest_of_residual(const Range& left, const T* x, T* r) const;
  void first_sweep_with_mirrored_residual(int part, const T* b, T* x, T* r) const;
  void backward_with_mirrored_residual(int part, const T* b, T* x, T* r) const;
  void rest_of_mirrored_residual(int part, const T* x, T* r) const;
  void residual_of_frozen(std::span<const T> b, std::span<const T> x, std::span<T> r) const;
  void add_shifted(int part, const T* x, T* r) const;
  void backward_with_product(const Vectors& vectors, std::span<T> y) const override;
  Range backward_with_upper_product(int part, const Vectors& vectors, T* y) const;
  void rest_of_product(const Range& left, const T* x, T* y) const;
  void relax_mixed(LocalIndex i, Offset begin, Offset end, const Vectors& vectors) const;
  T product(Offset begin, Offset end, const T* x) const;
  void sweep_rows(const Range& range, Direction direction, const Vectors& vectors) const override;
  T product_with_others(LocalIndex i, Offset begin, Offset end, const Vectors& vectors) const;
  void sweep_rows_block(const Range& range, Direction direction, const Vectors& vectors) const;

  using Relaxation<T>::A_;
  Array<T> inverse_;                // of the smoother's diagonal
  Array<T> shift_;                  // the smoother's diagonal less A's; empty when 0 everywhere
  Array<LocalIndex> lower_;         // how many columns of a row are below the diagonal
  std::vector<LocalIndex> frozen_;  // rows with a zero diagonal
  std::optional<RowSweeps<T>> rows_;
  bool mirrors_;  // takes the upper triangle for the transpose of the lower one
};

}  // namespace nodewise::amg::relax
