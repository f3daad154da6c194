// Blocks of vectors with their products, and making them orthonormal.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/array.hpp"
#include "nodewise/eigen/method.hpp"
#include "nodewise/eigen/tall.hpp"

namespace nodewise::eigen {

/// Vectors X, A X and, where there is a B, B X: this rank's rows x width, row-major. Room for
/// `most` vectors is taken at once.
class Block {
 public:
  void reserve(std::size_t rows, std::size_t most, bool with_mass);
  void resize(std::size_t width);

  std::size_t width() const { return width_; }
  std::size_t rows() const { return rows_; }
  std::span<double> X() { return part(X_); }
  std::span<double> AX() { return part(AX_); }
  /// B X, or X itself where there is no B.
  std::span<double> BX() { return with_mass_ ? part(BX_) : part(X_); }
  ConstTall x() { return {X(), width_}; }
  ConstTall ax() { return {AX(), width_}; }
  ConstTall bx() { return {BX(), width_}; }
  bool with_mass() const { return with_mass_; }

 private:
  std::span<double> part(Array<double>& values) { return std::span(values).first(rows_ * width_); }

  std::size_t rows_ = 0, width_ = 0;
  bool with_mass_ = false;
  Array<double> X_, AX_, BX_;
};

/// A block that others are to be orthogonal to.
using Blocks = std::span<Block* const>;

enum class Orthonormal { done, not_finite, indefinite_mass };

/// Makes and multiplies blocks for one problem, counting the work.
class BlockBasis {
 public:
  BlockBasis(const EigenCall& call, Work& work, std::size_t most);

  std::size_t rows() const { return rows_; }
  /// Collective. A X, and B X, from X.
  void multiply(Block& block);
  void multiply_mass(Block& block);
  /// Collective. Makes X orthogonal to the others, which are orthonormal, and orthonormal, in the
  /// scalar product of B; directions that depend on others to working precision are left out. B X
  /// goes along; A X is lost. One reduction a pass, two to four passes.
  Orthonormal orthonormalise(Block& block, Blocks others);
  /// Collective. Sums over the ranks: one reduction.
  void sum(std::span<double> sums);
  /// Y = the sum of X_k C_k over the blocks, with C_k the rows of C that belong to block k, for X,
  /// A X and B X. Y is none of them.
  void combine(Blocks blocks, std::span<const double> C, std::size_t width, Block& Y);
  std::span<double> work() { return work_vectors_; }

 private:
  void subtract(Block& block, Blocks others, std::span<const double> C);
  void turn(Block& block, std::span<const double> T, std::size_t width);

  const EigenCall& call_;
  Work& counted_;
  std::size_t rows_;
  Array<double> scratch_, work_vectors_;
  std::vector<double> sums_;
};

}  // namespace nodewise::eigen
