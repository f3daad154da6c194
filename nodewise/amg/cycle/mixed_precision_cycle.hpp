// A hierarchy's cycle in the precisions that its levels are applied in.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "nodewise/amg/cycle/cycle.hpp"
#include "nodewise/amg/cycle/single_precision_levels.hpp"
#include "nodewise/amg/options.hpp"

namespace nodewise::amg {

/// How the description of a direct solve ends where the coarsest matrix is symmetric and has a
/// negative eigenvalue.
inline constexpr const char* indefinite_suffix = ", indefinite";

/// Local. How reports describe a direct solve, and relaxation in the place of one.
template <class V>
std::string describe(const CoarseSolver<V>& solver, const Choice<CoarseSolveMethod>& where);
std::string describe_last_sweeps();

/// The cycle of a hierarchy that was set up in T. Its levels compute in T, or in float where
/// options.precision says so: all of them, or all below the finest where the product with that
/// one's matrix can follow its last sweep, which then reads the matrix in T anyway. The coarsest
/// matrix is inverted in T all the same.
template <class T>
class MixedPrecisionCycle {
 public:
  using Matrix = typename CycleLevel<T>::Matrix;

  /// Collective. `A` is the finest matrix, `next` that of the next level, or A where there is none,
  /// null on a rank that has no part of it. One allreduce where levels are in float.
  MixedPrecisionCycle(const matrix::DistMatrix<T>& A, const matrix::DistMatrix<T>* next,
                      const Options& options, bool symmetric_matrix);

  const mpi::Comm& comm() const { return *comm_; }
  /// Local. Adds a level that is smoothed, finest first. The caller must agree on its exceptions.
  void add_smoothed(const LevelParts<T>& parts);
  /// Local. Gives a level that is smoothed another matrix, and a relaxation of it; transfers stay.
  /// The caller must agree on its exceptions, and no cycle may be made where there is one.
  void replace_matrix(std::size_t level, const Matrix& A, const relax::MatrixFacts& facts);
  /// Collective. Adds the last level, to be solved directly; returns how. `sizes` are as
  /// CoarseSolver has them.
  std::string add_direct(const Matrix& A, std::span<const double> sizes);
  /// Local. Adds the first level of those that this rank has no part of: the last one here.
  void add_elsewhere();

  /// Collective. One cycle from x = 0.
  void apply(std::span<const T> b, std::span<T> x) const;
  /// Collective. The same and the product y = A x with the finest matrix, where saves_product().
  void apply_with_product(std::span<const T> b, std::span<T> x, std::span<T> y) const {
    cycle_.apply_with_product(b, x, y);
  }
  /// Whether the product is at hand, exact in T, for less than by itself.
  bool saves_product() const { return !cycle_.levels.empty() && cycle_.saves_product(); }
  /// Collective. One cycle for each of `width` vectors side by side, row-major, in the messages of
  /// one; false, and nothing is done, where the cycle is another for each vector.
  bool apply_block(std::span<const T> B, std::span<T> X, int width) const;

  /// Whether a level computes in float, and T is another type.
  bool is_single_precision(std::size_t level) const;
  /// Local. The matrix of such a level as it is applied: LevelParts::rounded_A.
  typename SinglePrecisionLevels<T>::RoundedMatrix rounded(const Matrix& A) const {
    return rounded_->rounded(A);
  }
  /// Local. The matrix of such a level in T: a copy, but for the places.
  Matrix restored_matrix(std::size_t level) const;
  /// Returns the bytes on this rank for the places of its entries.
  std::size_t pattern_bytes(std::size_t level) const;
  /// Returns the bytes on this rank for the levels, without the matrices that are the setup's own.
  std::size_t memory_bytes() const;

  /// The levels in T, and those in float below them; null: there are none. There are none in T
  /// where all are in float.
  const Cycle<T>& levels_in_own_precision() const { return cycle_; }
  const SinglePrecisionLevels<T>* levels_in_float() const { return rounded_.get(); }

 private:
  bool adds_to_rounded() const;
  const matrix::DistMatrix<float>& rounded_matrix(std::size_t level) const {
    return rounded_->matrix(finest_is_rounded_ ? level : level - 1);
  }

  std::shared_ptr<const mpi::Comm> comm_;
  Options options_;
  Cycle<T> cycle_;  // levels in T
  std::shared_ptr<SinglePrecisionLevels<T>>
      rounded_;  // those below them, in float; null: there are none
  bool finest_is_rounded_ = false;
};

}  // namespace nodewise::amg
