// A distributed matrix as an Operator.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::solve {

/// The map x -> A x of a square matrix whose rows and columns have one layout. Shares the matrix.
template <class T>
class MatrixOperator final : public Operator<T> {
 public:
  /// Local; throws dimension_mismatch, on every rank alike, where the layouts of A differ, and
  /// invalid_argument where A is null.
  explicit MatrixOperator(std::shared_ptr<const matrix::DistMatrix<T>> A) : A_(std::move(A)) {
    if (!A_) throw Error(ErrorCode::invalid_argument, "solve: there is no matrix");
    if (!(A_->rows() == A_->cols())) {
      throw Error(ErrorCode::dimension_mismatch,
                  "solve: the matrix must be square, its rows and columns laid out alike");
    }
  }

  const comm::Layout& layout() const override { return A_->rows(); }
  void apply(std::span<const T> x, std::span<T> y) const override {
    const mpi::Scope scope(A_->comm(), "krylov_product");
    matrix::multiply(*A_, x, y);
  }
  /// One exchange for all vectors.
  void apply_block(std::span<const T> X, std::span<T> Y, int width,
                   std::span<T> /*work*/) const override {
    const mpi::Scope scope(A_->comm(), "krylov_product");
    matrix::multiply(*A_, X, Y, width);
  }
  const matrix::DistMatrix<T>& matrix() const { return *A_; }

 private:
  std::shared_ptr<const matrix::DistMatrix<T>> A_;
};

}  // namespace nodewise::solve
