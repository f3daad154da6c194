#include "nodewise/solve/diagonal_preconditioner.hpp"

#include <cmath>

#include <fmt/format.h>

#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::solve {

DiagonalPreconditioner::DiagonalPreconditioner(const matrix::DistMatrix<double>& A)
    : layout_(A.rows()), diagonal_(matrix::diagonal(A)) {
  mpi::collectively(A.comm(), [&] {
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      if (std::isfinite(diagonal_[i]) && diagonal_[i] != 0) continue;
      throw Error(ErrorCode::unsuitable_matrix,
                  fmt::format("the diagonal entry of row {} (counted from 1) is {}; choose "
                              "`preconditioner none`",
                              layout_.to_global(static_cast<LocalIndex>(i)) + 1,
                              diagonal_[i] == 0 ? "zero or missing" : "not finite"));
    }
  });
}

void DiagonalPreconditioner::apply(std::span<const double> x, std::span<double> y) const {
  for (std::size_t i = 0; i < diagonal_.size(); ++i) y[i] = x[i] / diagonal_[i];
}

void DiagonalPreconditioner::apply_block(std::span<const double> X, std::span<double> Y, int width,
                                         std::span<double> /*work*/) const {
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < diagonal_.size(); ++i) {
    for (std::size_t k = i * w; k < (i + 1) * w; ++k) Y[k] = X[k] / diagonal_[i];
  }
}

}  // namespace nodewise::solve
