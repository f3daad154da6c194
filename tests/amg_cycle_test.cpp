// The cycles against the same ones written down for dense matrices.
#include <map>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/solve/asymmetry.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_cycle_test {

using test::DenseMatrix;
using test::distribute;
using test::expect_near;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::part_of;
using test::test_comm;

constexpr const char* kinds[] = {"v", "w", "f", "k", "additive"};

Options options_for(const std::string& kind) {
  Options options;
  options.cycle = kind;
  options.set("coarsening", "pmis");
  options.smoother = "jacobi";  // the same on any number of ranks
  options.max_coarse_rows = 4;
  set_sweeps(options, 1);
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
      : weight_(jacobi_weight(options)), kind_(options.cycle.name()) {
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

  Vector cycle(std::size_t l, const std::string& kind, const Vector& b, Vector x) const {
    if (l == P_.size()) return A_[l].colPivHouseholderQr().solve(b);
    const Eigen::MatrixXd& P = P_[l];
    if (kind == "additive") {
      x = jacobi(l, b, jacobi(l, b, Vector::Zero(b.size())));
      const Vector coarse = P.transpose() * b;
      return x + P * cycle(l + 1, kind, coarse, Vector::Zero(coarse.size()));
    }
    x = jacobi(l, b, x);
    const Vector coarse = P.transpose() * (b - A_[l] * x);
    x += P * solve_coarse(l + 1, kind, coarse);
    return jacobi(l, b, x);
  }

  Vector solve_coarse(std::size_t l, const std::string& kind, const Vector& b) const {
    const Vector zero = Vector::Zero(b.size());
    if (kind == "k" && l < P_.size()) return krylov(l, b);
    const Vector x = cycle(l, kind, b, zero);
    if (kind == "w") return cycle(l, kind, b, x);
    if (kind == "f") return cycle(l, "v", b, x);
    return x;
  }

  /// The best in the energy norm of what two preconditioned steps span.
  Vector krylov(std::size_t l, const Vector& b) const {
    const Vector zero = Vector::Zero(b.size());
    const Vector c = cycle(l, "k", b, zero);
    const double step = c.dot(b) / c.dot(A_[l] * c);
    const Vector r = b - step * A_[l] * c;
    if (r.norm() <= 0.25 * b.norm()) return step * c;
    Eigen::MatrixXd V(b.size(), 2);
    V.col(0) = c;
    V.col(1) = cycle(l, "k", r, zero);
    return V * (V.transpose() * A_[l] * V).ldlt().solve(V.transpose() * b);
  }

  double weight_;
  std::string kind_;
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
       {test::model("rotated_fe", 9), test::random_symmetric(60, 0.06, 0.1, 4)}) {
    const DenseMatrix b = hashed(values.rows(), 1);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = std::make_shared<const matrix::DistMatrix<double>>(distribute(values, layout));
      for (const std::string kind : kinds) {
        const Options options = options_for(kind);
        const Hierarchy<double> hierarchy(A, options);
        ASSERT_GE(hierarchy.levels().size(), 3U);
        const Eigen::VectorXd x = Reference(hierarchy, options).apply(to_eigen(b));
        DenseMatrix expected(b.rows());
        for (GlobalIndex i = 0; i < b.rows(); ++i) expected[i] = x[i];
        const std::string what = "cycle " + kind;
        expect_near(apply(hierarchy, b), expected, 1e-10, what);
        expect_near(apply(hierarchy, b), expected, 1e-10, what + ", a second time");
      }
    }
  }
}

TEST(Cycle, IsSymmetricWhereTheOptionsSaySo) {
  const DenseMatrix values = test::model("rotated_fe", 9);
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      distribute(values, matrix::Layout::uniform(test_comm(), values.rows())));
  for (const std::string kind : kinds) {
    for (const std::string smoother : {"l1_gauss_seidel", "chebyshev", "ilu0"}) {
      for (const SweepOrder order : {SweepOrder::automatic, SweepOrder::forward}) {
        for (const int post : {1, 2}) {
          Options options = options_for(kind);
          options.smoother = smoother;
          set_order(options, order);
          if (options.cycle.has_options<SweepCounts>()) sweeps_of(options).post_sweeps = post;
          const double asymmetry = solve::asymmetry(Hierarchy<double>(A, options));
          if (asymmetry_of(options).empty()) {
            EXPECT_LT(asymmetry, 1e-10);
          } else if (kind == "v") {  // others may come out symmetric by chance
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
      io::generate<double>(test_comm(), {.problem = "rotated_fe", .n = 40}));
  const solve::MatrixOperator<double> product(A);
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::map<std::string, int> iterations;
  for (const std::string kind : kinds) {
    const Hierarchy<double> M(A, options_for(kind));
    std::vector<double> x(b.size());
    const solve::Report report = solve::fgmres<double>(product, &M, b, x, {});
    EXPECT_TRUE(report.converged());
    iterations[kind] = report.iterations;
  }
  EXPECT_LE(iterations["f"], iterations["v"]);
  EXPECT_LE(iterations["w"], iterations["v"]);
  EXPECT_LE(iterations["k"], iterations["v"]);
  EXPECT_GT(iterations["additive"], iterations["v"]);
}

// A nonsymmetric matrix has GCR in the place of conjugate gradients.
TEST(Cycle, KrylovCycleSolvesNonsymmetricSystems) {
  const DenseMatrix values = test::random_matrix(120, 0.03, 0.0, 3);
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      distribute(values, matrix::Layout::uniform(test_comm(), values.rows())));
  const solve::MatrixOperator<double> product(A);
  const Hierarchy<double> M(A, options_for("k"));
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  std::vector<double> x(b.size());
  EXPECT_TRUE(solve::fgmres<double>(product, &M, b, x, {}).converged());
}

}  // namespace amg_cycle_test
}  // namespace nodewise::amg
