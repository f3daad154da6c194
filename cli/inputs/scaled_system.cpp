#include "cli/inputs/scaled_system.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/row_text.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"

namespace nodewise::cli {

namespace {

/// Collective.
std::vector<double> inverse_roots(const Matrix& A) {
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
                "--scale diagonal: " + row_text(first_bad) + ", has no nonzero diagonal entry");
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

DiagonalScaling::DiagonalScaling(std::shared_ptr<const Matrix>& matrix, solver::RightHandSides& rhs)
    : A_(matrix), b_(rhs.values) {
  const Matrix& A = *A_;
  std::vector<double> of_ghosts;
  s_ = inverse_roots(A);
  mpi::collectively(A.comm(), [&] { of_ghosts.resize(static_cast<std::size_t>(A.n_ghosts())); });
  A.exchange().forward<double>(s_, of_ghosts);
  Array<double> on, off;
  mpi::collectively(A.comm(), [&] {
    on = scaled_values(A.on(), s_, s_);
    off = scaled_values(A.off(), s_, of_ghosts);
  });
  matrix = std::make_shared<const Matrix>(A.with_values(std::move(on), std::move(off)));
  scale_back(rhs.values, rhs.count);  // S b
}

void DiagonalScaling::scale(std::span<double> x, int n_rhs) const {
  const auto k = static_cast<std::size_t>(n_rhs);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] /= s_[i / k];
}

void DiagonalScaling::scale_back(std::span<double> y, int n_rhs) const {
  const auto k = static_cast<std::size_t>(n_rhs);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= s_[i / k];
}

double DiagonalScaling::residual(std::span<const double> x, int n_rhs) const {
  const auto k = static_cast<std::size_t>(n_rhs);
  std::vector<double> one(s_.size()), product(s_.size());
  double largest = 0;
  for (std::size_t c = 0; c < k; ++c) {
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = x[i * k + c];
    matrix::multiply<double>(*A_, one, product);
    double squares[2] = {0, 0};
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double b = b_[i * k + c];
      squares[0] += (b - product[i]) * (b - product[i]);
      squares[1] += b * b;
    }
    mpi::sum_in_place<double>(A_->comm(), squares);
    if (squares[1] > 0) largest = std::max(largest, std::sqrt(squares[0] / squares[1]));
  }
  return largest;
}

std::optional<DiagonalScaling> scaling_of(std::shared_ptr<const Matrix>& A,
                                          solver::RightHandSides& rhs, const Settings& settings) {
  if (settings.rhs.scale == ScaleChoice::none) return std::nullopt;
  return std::optional<DiagonalScaling>(std::in_place, A, rhs);
}

}  // namespace nodewise::cli
