#include "nodewise/amg/restriction/local_system.hpp"

#include <Eigen/LU>

#include "nodewise/kernels/dense.hpp"

namespace nodewise::amg::restriction {

namespace {

/// Below this reciprocal condition number a system counts as singular.
constexpr double nearly_singular = 1e-10;

/// One over each, and one where there is nothing but zeros.
Eigen::VectorXd inverses(const Eigen::VectorXd& sizes) {
  return sizes.unaryExpr([](double size) { return size > 0 ? 1 / size : 1; });
}

}  // namespace

void solve_local(std::span<double> matrix, std::span<double> right_side) {
  const auto n = static_cast<Eigen::Index>(right_side.size());
  if (n == 0) return;
  Eigen::Map<Eigen::MatrixXd> B(matrix.data(), n, n);
  Eigen::Map<Eigen::VectorXd> b(right_side.data(), n);
  const Eigen::VectorXd of_unknowns = inverses(B.cwiseAbs().colwise().maxCoeff().transpose());
  B *= of_unknowns.asDiagonal();
  const Eigen::VectorXd of_equations = inverses(B.cwiseAbs().rowwise().maxCoeff());
  B = of_equations.asDiagonal() * B;
  b = of_equations.cwiseProduct(b);
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(B);
  Eigen::VectorXd x;
  if (lu.rcond() > nearly_singular) {
    x = lu.solve(b);
  } else {
    x = Eigen::VectorXd::Map(
        kernels::shortest_solution({B.data(), static_cast<std::size_t>(B.size())}, right_side,
                                   nearly_singular)
            .data(),
        n);
  }
  b = of_unknowns.cwiseProduct(x);
  if (!b.allFinite()) b.setZero();
}

}  // namespace nodewise::amg::restriction
