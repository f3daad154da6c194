#include "nodewise/solver/diagonal_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nodewise/base/row_text.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::solver {

namespace {

/// Collective. Of the moduli of the diagonal.
std::vector<double> inverse_roots(const matrix::DistMatrix<double>& A) {
  std::vector<double> s;
  GlobalIndex first_bad = A.rows().last();
  mpi::collectively(A.comm(), [&] {
    const Array<double> diagonal = matrix::diagonal(A);
    s.resize(diagonal.size());
    for (std::size_t i = s.size(); i-- > 0;) {
      if (diagonal[i] == 0 || !std::isfinite(diagonal[i])) {
        first_bad = A.rows().to_global(static_cast<LocalIndex>(i));
      }
      s[i] = 1 / std::sqrt(std::abs(diagonal[i]));
    }
  });
  first_bad = mpi::min(A.comm(), first_bad);
  if (first_bad < A.rows().last()) {
    throw Error(ErrorCode::unsuitable_matrix,
                "`scale diagonal`: " + row_text(first_bad) + ", has no nonzero diagonal entry");
  }
  return s;
}

Array<double> scaled_values(const kernels::Csr<double>& part, std::span<const double> of_rows,
                            std::span<const double> of_columns) {
  Array<double> values = part.vals;
  for (LocalIndex i = 0; i < part.n_rows; ++i) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      // The same product for a_ij and a_ji, so that a symmetric matrix stays symmetric.
      values[p] *=
          of_rows[static_cast<std::size_t>(i)] * of_columns[static_cast<std::size_t>(part.cols[p])];
    }
  }
  return values;
}

}  // namespace

DiagonalScaling::DiagonalScaling(std::shared_ptr<const matrix::DistMatrix<double>> A,
                                 RightHandSides& rhs)
    : A_(std::move(A)), n_rhs_(static_cast<std::size_t>(rhs.count)) {
  const matrix::DistMatrix<double>& M = *A_;
  std::vector<double> of_ghosts;
  s_ = inverse_roots(M);
  mpi::collectively(M.comm(), [&] {
    b_ = rhs.values;
    of_ghosts.resize(static_cast<std::size_t>(M.n_ghosts()));
  });
  M.exchange().forward<double>(s_, of_ghosts);
  Array<double> on, off;
  mpi::collectively(M.comm(), [&] {
    on = scaled_values(M.on(), s_, s_);
    off = scaled_values(M.off(), s_, of_ghosts);
  });
  scaled_ = std::make_shared<const matrix::DistMatrix<double>>(
      M.with_values(std::move(on), std::move(off)));
  scale_back(rhs.values);  // S b
}

void DiagonalScaling::scale(std::span<double> x) const {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] /= s_[i / n_rhs_];
}

void DiagonalScaling::scale_back(std::span<double> y) const {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= s_[i / n_rhs_];
}

double DiagonalScaling::residual(std::span<const double> x) const {
  std::vector<double> one(s_.size()), product(s_.size());
  double largest = 0;
  for (std::size_t c = 0; c < n_rhs_; ++c) {
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = x[i * n_rhs_ + c];
    matrix::multiply<double>(*A_, one, product);
    double squares[2] = {0, 0};
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double b = b_[i * n_rhs_ + c];
      squares[0] += (b - product[i]) * (b - product[i]);
      squares[1] += b * b;
    }
    mpi::sum_in_place<double>(A_->comm(), squares);
    if (squares[1] > 0) largest = std::max(largest, std::sqrt(squares[0] / squares[1]));
  }
  return largest;
}

}  // namespace nodewise::solver
