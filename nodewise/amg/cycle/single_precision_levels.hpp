// Levels of a cycle in single precision.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/cycle/cycle.hpp"

namespace nodewise::amg {

/// What a level of a cycle is made of: see CycleLevel.
template <class T>
struct LevelParts {
  typename CycleLevel<T>::Matrix A, P, R;
  typename CycleLevel<T>::Matrix to_copies = nullptr;
  std::optional<comm::RowMove> move = {};  // to the ranks of the next level: CycleLevel::arrival
  CycleLevel<float>::Matrix rounded_A = nullptr;  // in place of A, where that is rounded already
  relax::MatrixFacts facts = {};
};

/// The last levels of a cycle, or all of them, in float under a setup and right-hand sides in T.
/// The matrices are multiplied by one power of two and each right-hand side by another, which bring
/// both near one, so that float neither overflows nor loses small numbers. The latter costs an
/// allreduce whenever the levels are visited.
template <class T>
class SinglePrecisionLevels final : public LowerLevels<T> {
 public:
  using Matrix = typename CycleLevel<T>::Matrix;
  using RoundedMatrix = CycleLevel<float>::Matrix;

  /// Collective. `A` is the matrix of the first of these levels, null on a rank that has no part of
  /// it, `first_depth` its number: 0 where none are above them. An allreduce.
  SinglePrecisionLevels(const matrix::DistMatrix<T>* A, const Options& options,
                        bool symmetric_matrix, int first_depth);

  /// Local. A level's matrix as these have it.
  RoundedMatrix rounded(const Matrix& A) const;
  /// Local. Adds a level that is smoothed.
  void add_smoothed(const LevelParts<T>& parts);
  /// Local. MixedPrecisionCycle::replace_matrix(), the first of these levels being 0.
  void replace_matrix(std::size_t level, const Matrix& A, const relax::MatrixFacts& facts) {
    cycle_.levels.at(level).replace_matrix(rounded(A), options_, facts);
  }
  /// Local. Adds the last level, which is solved by an inverse of scale() A.
  void add_direct(const Matrix& A, std::shared_ptr<const CoarseSolver<float>> solver);
  /// Local. Adds a level of other ranks, the last one here.
  void add_elsewhere() { cycle_.levels.emplace_back(); }
  double scale() const { return scale_; }
  const Cycle<float>& levels() const { return cycle_; }
  /// The matrix of a level, the first of these being 0, as the cycle has it.
  const matrix::DistMatrix<float>& matrix(std::size_t level) const {
    return *cycle_.levels.at(level).A;
  }

  void visit(const CycleMethod& method, std::span<const T> b, std::span<T> x) const override;
  void visit(const CycleMethod& method, std::span<const T> B, std::span<T> X,
             int width) const override;
  void reserve_workspace(int width) const override;

  /// Collective. A cycle, where no levels are above these.
  void apply(std::span<const T> b, std::span<T> x) const;
  /// Collective. The same for `width` vectors; not a K-cycle.
  void apply(std::span<const T> B, std::span<T> X, int width) const;

  std::size_t memory_bytes() const;

 private:
  using Level = CycleLevel<float>;

  void add(Level level);
  template <class Run>
  void round(std::span<const T> b, std::span<T> x, Run&& run) const;
  template <class Run>
  void round(std::span<const T> B, std::span<T> X, int width, Run&& run) const;

  Options options_;
  bool has_finest_;
  double scale_;  // of the matrices
  Cycle<float> cycle_;
  mutable std::vector<double> scales_;  // of several vectors
};

}  // namespace nodewise::amg
