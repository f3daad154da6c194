// The cycles against the same ones written down for dense matrices.
#include <map>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solve/asymmetry.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace {

using test::DenseMatrix;
using test::distribute;
using test::expect_near;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::part_of;
using test::test_comm;

constexpr CycleKind kinds[] = {CycleKind::v, CycleKind::w, CycleKind::f, CycleKind::k,
                               CycleKind::additive};

Options options_for(CycleKind kind) {
  Options options;
  options.cycle = kind;
  options.set("coarsening", "pmis");
  options.smoother = SmootherKind::jacobi;  // the same on any number of ranks
  options.max_coarse_rows = 4;
  options.pre_sweeps = options.post_sweeps = 1;
  return options;
}

Eigen::MatrixXd to_eigen(const DenseMatrix& A) {
  Eigen::MatrixXd E(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) E(i, j) = A(i, j);
  }
  return E;
}

/// The textbook's recursion, with weighted Jacobi.
class Reference {
 public:
  Reference(const Hierarchy<double>& hierarchy, const Options& options)
      : weight_(options.jacobi_weight), kind_(options.cycle) {
    for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
      A_.push_back(to_eigen(gathered(*hierarchy.matrix(l))));
      const auto* P = hierarchy.interpolation(l);
      if (P != nullptr) P_.push_back(to_eigen(gathered(*P)));
    }
  }

  using Vector = Eigen::VectorXd;
  Vector apply(const Vector& b) const { return cycle(0, kind_, b, Vector::Zero(b.size())); }

 private:
  Vector jacobi(std::size_t l, const Vector& b, const Vector& x) const {
    const Vector r = b - A_[l] * x;
    return x + weight_ * r.cwiseQuotient(A_[l].diagonal());
  }

  Vector cycle(std::size_t l, CycleKind kind, const Vector& b, Vector x) const {
    if (l == P_.size()) return A_[l].colPivHouseholderQr().solve(b);
    const Eigen::MatrixXd& P = P_[l];
    if (kind == CycleKind::additive) {
      x = jacobi(l, b, jacobi(l, b, Vector::Zero(b.size())));
      const Vector coarse = P.transpose() * b;
      return x + P * cycle(l + 1, kind, coarse, Vector::Zero(coarse.size()));
    }
    x = jacobi(l, b, x);
    const Vector coarse = P.transpose() * (b - A_[l] * x);
    x += P * solve_coarse(l + 1, kind, coarse);
    return jacobi(l, b, x);
  }

  Vector solve_coarse(std::size_t l, CycleKind kind, const Vector& b) const {
    const Vector zero = Vector::Zero(b.size());
    if (kind == CycleKind::k && l < P_.size()) return krylov(l, b);
    const Vector x = cycle(l, kind, b, zero);
    if (kind == CycleKind::w) return cycle(l, kind, b, x);
    if (kind == CycleKind::f) return cycle(l, CycleKind::v, b, x);
    return x;
  }

  /// The best in the energy norm of what two preconditioned steps span.
  Vector krylov(std::size_t l, const Vector& b) const {
    const Vector zero = Vector::Zero(b.size());
    const Vector c = cycle(l, CycleKind::k, b, zero);
    const double step = c.dot(b) / c.dot(A_[l] * c);
    const Vector r = b - step * A_[l] * c;
    if (r.norm() <= 0.25 * b.norm()) return step * c;
    Eigen::MatrixXd V(b.size(), 2);
    V.col(0) = c;
    V.col(1) = cycle(l, CycleKind::k, r, zero);
    return V * (V.transpose() * A_[l] * V).ldlt().solve(V.transpose() * b);
  }

  double weight_;
  CycleKind kind_;
  std::vector<Eigen::MatrixXd> A_, P_;
};

DenseMatrix apply(const Hierarchy<double>& hierarchy, const DenseMatrix& b) {
  const std::vector<double> part = part_of(hierarchy.layout(), b);
  std::vector<double> x(part.size(), 1e3);
  hierarchy.apply(part, x);
  return gathered(hierarchy.layout().comm(), x);
}

TEST(Cycle, EqualsTheRecursionOnDenseMatrices) {
  for (const DenseMatrix& values :
       {test::model(io::Problem::rotated_fe, 9), test::random_symmetric(60, 0.06, 0.1, 4)}) {
    const DenseMatrix b = hashed(values.rows(), 1);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = std::make_shared<const matrix::DistMatrix<double>>(distribute(values, layout));
      for (const CycleKind kind : kinds) {
        const Options options = options_for(kind);
        const Hierarchy<double> hierarchy(A, options);
        ASSERT_GE(hierarchy.levels().size(), 3U);
        const Eigen::VectorXd x = Reference(hierarchy, options).apply(to_eigen(b));
        DenseMatrix expected(b.rows());
        for (GlobalIndex i = 0; i < b.rows(); ++i) expected[i] = x[i];
        const std::string what = "cycle " + std::to_string(static_cast<int>(kind));
        expect_near(apply(hierarchy, b), expected, 1e-10, what);
        expect_near(apply(hierarchy, b), expected, 1e-10, what + ", a second time");
      }
    }
  }
}

TEST(Cycle, IsSymmetricWhereTheOptionsSaySo) {
  const DenseMatrix values = test::model(io::Problem::rotated_fe, 9);
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      distribute(values, matrix::Layout::uniform(test_comm(), values.rows())));
  for (const CycleKind kind : kinds) {
    for (const SmootherKind smoother :
         {SmootherKind::l1_gauss_seidel, SmootherKind::chebyshev, SmootherKind::ilu0}) {
      for (const SweepOrder order : {SweepOrder::automatic, SweepOrder::forward}) {
        for (const int post : {1, 2}) {
          Options options = options_for(kind);
          options.smoother = smoother;
          options.sweep_order = order;
          options.post_sweeps = post;
          const double asymmetry = solve::asymmetry(Hierarchy<double>(A, options));
          if (asymmetry_of(options).empty()) {
            EXPECT_LT(asymmetry, 1e-10);
          } else if (kind == CycleKind::v) {  // others may come out symmetric by chance
            EXPECT_GT(asymmetry, 1e-8) << asymmetry_of(options);
          }
        }
      }
    }
  }
}

// One K-cycle does at least what a V-cycle does, a W-cycle too: fewer iterations, or as many.
TEST(Cycle, MoreWorkOnCoarseLevelsNeverCostsIterations) {
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = io::Problem::rotated_fe, .n = 40}));
  const solve::MatrixOperator<double> product(A);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::map<CycleKind, int> iterations;
  for (const CycleKind kind : kinds) {
    const Hierarchy<double> M(A, options_for(kind));
    std::vector<double> x(b.size());
    const solve::Report report = solve::fgmres<double>(product, &M, b, x, {});
    EXPECT_TRUE(report.converged());
    iterations[kind] = report.iterations;
  }
  EXPECT_LE(iterations[CycleKind::f], iterations[CycleKind::v]);
  EXPECT_LE(iterations[CycleKind::w], iterations[CycleKind::v]);
  EXPECT_LE(iterations[CycleKind::k], iterations[CycleKind::v]);
  EXPECT_GT(iterations[CycleKind::additive], iterations[CycleKind::v]);
}

// A nonsymmetric matrix has GCR in the place of conjugate gradients.
TEST(Cycle, KrylovCycleSolvesNonsymmetricSystems) {
  const DenseMatrix values = test::random_matrix(120, 0.03, 0.0, 3);
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      distribute(values, matrix::Layout::uniform(test_comm(), values.rows())));
  const solve::MatrixOperator<double> product(A);
  const Hierarchy<double> M(A, options_for(CycleKind::k));
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<double> x(b.size());
  EXPECT_TRUE(solve::fgmres<double>(product, &M, b, x, {}).converged());
}

}  // namespace
}  // namespace nodewise::amg
