#include "nodewise/kernels/dense.hpp"

#include <cmath>

#include <Eigen/Dense>

namespace nodewise::kernels {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The rows of a square matrix with so many entries.
Eigen::Index rows_of(std::size_t entries) {
  return std::lround(std::sqrt(static_cast<double>(entries)));
}

Eigen::Map<const MatrixXd> square(std::span<const double> matrix) {
  const Eigen::Index n = rows_of(matrix.size());
  return {matrix.data(), n, n};
}

}  // namespace

SymmetricEigen symmetric_eigen(std::span<const double> matrix, bool with_vectors) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(
      MatrixXd(square(matrix)), with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  SymmetricEigen result;
  result.values.assign(eigen.eigenvalues().begin(), eigen.eigenvalues().end());
  if (with_vectors) {
    const MatrixXd& vectors = eigen.eigenvectors();
    result.vectors.assign(vectors.data(), vectors.data() + vectors.size());
  }
  return result;
}

double largest_eigenvalue_modulus(std::span<const double> matrix) {
  const Eigen::EigenSolver<MatrixXd> eigen(MatrixXd(square(matrix)), false);
  return eigen.eigenvalues().cwiseAbs().maxCoeff();
}

std::vector<double> shortest_solution(std::span<const double> A, std::span<const double> b,
                                      double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> factors;
  factors.setThreshold(threshold);
  factors.compute(MatrixXd(square(A)));
  const VectorXd x =
      factors.solve(Eigen::Map<const VectorXd>(b.data(), static_cast<Eigen::Index>(b.size())));
  return {x.begin(), x.end()};
}

std::size_t invert_generalised(std::span<double> matrix, double threshold) {
  const Eigen::Index n = rows_of(matrix.size());
  Eigen::Map<MatrixXd> A(matrix.data(), n, n);
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> factors;
  factors.setThreshold(threshold);
  factors.compute(MatrixXd(A));
  A = MatrixXd(factors.pseudoInverse());
  return static_cast<std::size_t>(factors.rank());
}

}  // namespace nodewise::kernels
