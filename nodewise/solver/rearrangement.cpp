#include "nodewise/solver/rearrangement.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::solver {

namespace {

using Matrix = Rearrangement::Matrix;
using Values = std::span<const double>;

/// r_i times the same power or root for a_ij and a_ji, so that a symmetric matrix stays symmetric.
Array<double> scaled(const kernels::Csr<double>& part, Values of_rows, Values of_columns) {
  Array<double> values = part.vals;
  for (LocalIndex i = 0; i < part.n_rows; ++i) {
    for (Offset e = part.begin(i); e < part.end(i); ++e) {
      const auto k = static_cast<std::size_t>(e);
      values[k] *=
          of_rows[static_cast<std::size_t>(i)] * of_columns[static_cast<std::size_t>(part.cols[k])];
    }
  }
  return values;
}

/// Collective.
Matrix scaled(const Matrix& A, const ScaleFactors& factors) {
  std::vector<double> of_ghosts;
  mpi::collectively(A.comm(), [&] { of_ghosts.resize(static_cast<std::size_t>(A.n_ghosts())); });
  A.exchange().forward<double>(factors.columns, of_ghosts);
  Array<double> on, off;
  mpi::collectively(A.comm(), [&] {
    on = scaled(A.on(), factors.rows, factors.columns);
    off = scaled(A.off(), factors.rows, of_ghosts);
  });
  return A.with_values(std::move(on), std::move(off));
}

/// The product of two numbers for each row.
void multiply_by(std::span<double> values, Values factors, int width) {
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i / w];
}

}  // namespace

Rearrangement::Rearrangement(const MatrixPointer& A, const Choice<ScalingMethod>& scaling,
                             const Choice<RowPermutationMethod>& permutation, bool symmetric)
    : scaling_(scaling), symmetric_(symmetric && *permutation->find == nullptr) {
  if (*permutation->find != nullptr) {
    RowOrder order = (*permutation->find)(*A);
    move_ = comm::RowMove::to_numbers(A->rows(), A->rows(), order.numbers);
    with_move_ = std::move(order.factors);
  }
  arrange(A);
}

/// Collective. What follows from the permutation.
void Rearrangement::arrange(const MatrixPointer& A) {
  B_ = A;
  const bool scales = *scaling_->find != nullptr;
  if (move_) {
    const comm::RowMove stay(A->cols(), A->cols());
    B_ = std::make_shared<const Matrix>(matrix::redistribute(*B_, *move_, stay));
  }
  if (scales) {
    factors_ = (*scaling_->find)(*B_, symmetric_);
  } else if (move_) {
    factors_.columns = with_move_.columns;
    factors_.rows.resize(with_move_.rows.size());
    move_->forward<double>(with_move_.rows, factors_.rows);
  } else {
    return;
  }
  B_ = std::make_shared<const Matrix>(scaled(*B_, factors_));
}

Rearrangement Rearrangement::again(const MatrixPointer& next) const {
  Rearrangement way(scaling_, symmetric_);
  way.move_ = move_;
  way.with_move_ = with_move_;
  way.arrange(next);
  if (!move_) return way;
  way.B_ = std::make_shared<const Matrix>(way.B_->with_exchange_of(*B_));
  return way;
}

void Rearrangement::to_unknowns(std::span<double> vectors, int width) const {
  const auto w = static_cast<std::size_t>(width);
  if (factors_.columns.empty()) return;
  for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] /= factors_.columns[i / w];
}

void Rearrangement::to_rows(Values x, std::span<double> y, int width) const {
  if (move_) {
    move_->forward<double>(x, y, width);
  } else {
    std::copy(x.begin(), x.end(), y.begin());
  }
  if (!factors_.rows.empty()) multiply_by(y, factors_.rows, width);
}

void Rearrangement::from_unknowns(std::span<double> y, int width) const {
  if (!factors_.columns.empty()) multiply_by(y, factors_.columns, width);
}

RearrangedPreconditioner::RearrangedPreconditioner(const Rearrangement& way,
                                                   const solve::Operator<double>* M)
    : way_(way), M_(M) {
  mpi::collectively(layout().comm(),
                    [&] { rows_.resize(static_cast<std::size_t>(layout().n_local())); });
}

void RearrangedPreconditioner::apply_block(Values X, std::span<double> Y, int width,
                                           std::span<double> work) const {
  if (rows_.size() < X.size()) rows_.resize(X.size());
  const std::span<double> rows = std::span(rows_).first(X.size());
  way_.to_rows(X, rows, width);
  if (M_ == nullptr) {
    std::copy(rows.begin(), rows.end(), Y.begin());
  } else if (width == 1) {
    M_->apply(rows, Y);
  } else {
    M_->apply_block(rows, Y, width, work);
  }
  way_.from_unknowns(Y, width);
}

std::string RearrangedPreconditioner::broken_symmetry() const {
  if (way_.permutes()) return "rows in another order";
  return M_ == nullptr ? std::string() : M_->broken_symmetry();
}

}  // namespace nodewise::solver
