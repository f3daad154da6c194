// Relaxation of points with several unknowns, against sweeps written down for dense matrices.
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "aggregate_support.hpp"
#include "framework.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_block_relaxation_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::expect_near;
using test::expect_same_error;
using test::gathered;
using test::hashed;
using test::layouts_of_points;
using test::norm;
using test::part_of;
using test::test_comm;

constexpr double tolerance = 1e-11;
constexpr const char* kinds[] = {"l1_block_gauss_seidel", "block_gauss_seidel", "l1_block_jacobi",
                                 "block_jacobi"};

Eigen::MatrixXd to_eigen(const DenseMatrix& A) {
  Eigen::MatrixXd result(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) result(i, j) = A(i, j);
  }
  return result;
}

/// Sweeps on whole vectors; which rank owns a row is all that is taken from the layout.
class Reference {
 public:
  Reference(const DenseMatrix& A, const Layout& layout, int block, const Options& options)
      : A_(to_eigen(A)), layout_(layout), b_(block), options_(options) {}

  bool is_jacobi() const {
    return options_.smoother == "l1_block_jacobi" || options_.smoother == "block_jacobi";
  }

  /// M's diagonal block of a point.
  Eigen::MatrixXd divisor(GlobalIndex p) const {
    Eigen::MatrixXd D = A_.block(p * b_, p * b_, b_, b_);
    Eigen::VectorXd others = Eigen::VectorXd::Zero(b_), off = others;
    for (GlobalIndex r = 0; r < b_; ++r) {
      for (GlobalIndex j = 0; j < A_.cols(); ++j) {
        const double size = std::abs(A_(p * b_ + r, j));
        if (j / b_ != p) others[r] += size;
        if (!same_rank(p, j / b_)) off[r] += size;
      }
    }
    const double weight = sor_weight(options_);
    const Eigen::MatrixXd left = (2 / weight - 1) * D - Eigen::MatrixXd((1.5 * off).asDiagonal());
    const bool outweighs =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(left).eigenvalues().minCoeff() > 0;
    if (options_.smoother == "l1_block_jacobi") D += others.asDiagonal();
    if (options_.smoother == "l1_block_gauss_seidel" && !outweighs) {
      D += (weight * off / 2).asDiagonal();
    }
    if (options_.smoother == "block_jacobi") return D / jacobi_weight(options_);
    return is_jacobi() ? D : Eigen::MatrixXd(D / weight);
  }

  void sweep(bool forward, const Eigen::VectorXd& b, Eigen::VectorXd& x) const {
    const Eigen::VectorXd old = x;
    const GlobalIndex n = A_.rows() / b_;
    for (GlobalIndex k = 0; k < n; ++k) {
      const GlobalIndex p = forward ? k : n - 1 - k;
      Eigen::VectorXd r = b.segment(p * b_, b_);
      for (GlobalIndex q = 0; q < n; ++q) {
        const Eigen::VectorXd& from = !is_jacobi() && same_rank(p, q) ? x : old;
        r -= A_.block(p * b_, q * b_, b_, b_) * from.segment(q * b_, b_);
      }
      x.segment(p * b_, b_) = old.segment(p * b_, b_) + divisor(p).fullPivLu().solve(r);
    }
  }

 private:
  bool same_rank(GlobalIndex p, GlobalIndex q) const {
    return layout_.owner(layout_.first() + p * b_) == layout_.owner(layout_.first() + q * b_);
  }

  Eigen::MatrixXd A_;
  const Layout& layout_;
  GlobalIndex b_;
  const Options& options_;
};

DenseMatrix to_dense(const Eigen::VectorXd& x) {
  DenseMatrix result(x.size());
  std::copy(x.begin(), x.end(), result.data());
  return result;
}

/// Symmetric positive definite, coupled by whole blocks, diagonal blocks far from diagonal.
DenseMatrix block_matrix(GlobalIndex points, int block, double density, std::uint64_t seed) {
  DenseMatrix A(points * block, points * block);
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j <= i; ++j) {
      const GlobalIndex p = i / block;
      const GlobalIndex q = j / block;
      if (p != q && hash_uniform(hash64(static_cast<std::uint64_t>(p), seed),
                                 static_cast<std::uint64_t>(q)) > density) {
        continue;
      }
      const double value =
          hash_uniform(hash64(static_cast<std::uint64_t>(i), seed), static_cast<std::uint64_t>(j));
      A(i, j) = A(j, i) = value - 0.3;
    }
  }
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    A(i, i) = 0.1;
    for (GlobalIndex j = 0; j < A.cols(); ++j) A(i, i) += i == j ? 0 : std::abs(A(i, j));
  }
  return A;
}

template <class F>
void for_each_options(const F& f) {
  for (const std::string kind : kinds) {
    for (const double weight : {1.0, 0.7}) {
      Options options;
      options.smoother = kind;
      set_order(options, SweepOrder::forward_backward);
      set_jacobi_weight(options, weight);
      set_sor_weight(options, weight);
      f(options, "kind " + kind + ", weight " + std::to_string(weight));
    }
  }
}

std::vector<double> zeros(const Layout& layout, double value = 0) {
  return std::vector<double>(static_cast<std::size_t>(layout.n_local()), value);
}

TEST(BlockRelaxation, SweepsAreThoseOfTheReference) {
  for (const int block : {2, 3, 4, 5, 6}) {
    const DenseMatrix values = block_matrix(7, block, 0.4, 1);
    const DenseMatrix b = hashed(values.rows(), 1);
    const DenseMatrix start = hashed(values.rows(), 2);
    for (const Layout& layout : layouts_of_points(7, block)) {
      const auto A = distribute(values, layout).with_blocks(block);
      for_each_options([&](const Options& options, const std::string& what) {
        const auto relaxation = relax::make_relaxation(A, options.smoother);
        const Reference reference(values, layout, block, options);
        const Eigen::VectorXd rhs = to_eigen(b);
        for (const bool forward : {true, false}) {
          std::vector<double> x = part_of(layout, start);
          relaxation->sweep(forward ? relax::Direction::forward : relax::Direction::backward,
                            part_of(layout, b), x);
          Eigen::VectorXd expected = to_eigen(start);
          reference.sweep(forward, rhs, expected);
          expect_near(gathered(layout.comm(), x), to_dense(expected), tolerance, what);
        }
        std::vector<double> x = zeros(layout, 1e3), y = x, r = x;
        relaxation->first_sweep(part_of(layout, b), x);
        relaxation->first_sweep_with_residual(part_of(layout, b), y, r);
        EXPECT_EQ(x, y) << what;
        Eigen::VectorXd expected = Eigen::VectorXd::Zero(rhs.size());
        reference.sweep(true, rhs, expected);
        expect_near(gathered(layout.comm(), x), to_dense(expected), tolerance, what);
        // Relative to b: the residual may be as small as round-off.
        const DenseMatrix left = b - values * to_dense(expected);
        EXPECT_LE(norm(gathered(layout.comm(), r) - left), tolerance * norm(b)) << what;
      });
    }
  }
}

TEST(BlockRelaxation, TheBackwardSweepIsTheAdjointOfTheForwardOne) {
  const DenseMatrix values = block_matrix(12, 3, 0.3, 2);
  const DenseMatrix u = hashed(36, 4);
  const DenseMatrix v = hashed(36, 5);
  for (const Layout& layout : layouts_of_points(12, 3)) {
    const auto A = distribute(values, layout).with_blocks(3);
    for_each_options([&](Options options, const std::string& what) {
      for (const int sweeps : {1, 2}) {
        set_sweeps(options, sweeps);
        const Smoother<double> smoother(A, options);
        std::vector<double> Mu = zeros(layout, 1e3), r = Mu, Mv = zeros(layout);
        smoother.presmooth(part_of(layout, u), Mu, r);
        smoother.postsmooth(part_of(layout, v), Mv);
        const DenseMatrix mu = gathered(layout.comm(), Mu);
        const DenseMatrix mv = gathered(layout.comm(), Mv);
        EXPECT_NEAR(dot(mu, v), dot(u, mv), tolerance * norm(mu) * norm(v)) << what;
      }
    });
  }
}

// With one point a rank nothing but the l1 terms keeps hybrid sweeps from growing.
TEST(BlockRelaxation, L1FormsConvergeForStronglyCoupledRanks) {
  constexpr GlobalIndex n = 24;
  DenseMatrix values(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) values(i, j) = i == j ? 1.0 : 0.9;
  }
  const auto energy = [&](const DenseMatrix& x) { return dot(x, values * x); };
  for (const Layout& layout : layouts_of_points(8, 3)) {
    const auto A = distribute(values, layout).with_blocks(3);
    for (const std::string kind : {"l1_block_gauss_seidel", "l1_block_jacobi"}) {
      for (const double weight : {1.0, 0.5, 1.5, 1.95}) {  // of Gauss-Seidel, as SOR has it
        Options options;
        options.smoother = kind;
        set_sor_weight(options, weight);
        const auto relaxation = relax::make_relaxation(A, options.smoother);
        std::vector<double> x = part_of(layout, hashed(n, 3));
        double before = energy(gathered(layout.comm(), x));
        for (int k = 0; k < 5; ++k) {
          relaxation->sweep(relax::Direction::forward, zeros(layout), x);
          const double after = energy(gathered(layout.comm(), x));
          EXPECT_LT(after, before) << "sweep " << k << ", weight " << weight;
          before = after;
        }
      }
    }
  }
}

// Of a singular block the range is solved for, and what it maps to zero is left alone, however
// different its unknowns are in size.
TEST(BlockRelaxation, SingularBlocksAreInvertedOnTheirRange) {
  DenseMatrix values(9, 9);
  for (GlobalIndex i = 0; i < 9; ++i) values(i, i) = 1;
  const double v[] = {1.0, 2e3, -3e-4};
  for (GlobalIndex r = 0; r < 3; ++r) {
    for (GlobalIndex c = 0; c < 3; ++c) values(3 + r, 3 + c) = v[r] * v[c];
  }
  for (GlobalIndex i = 6; i < 9; ++i) values(i, i) = 0;
  DenseMatrix b(9);
  for (GlobalIndex i = 0; i < 9; ++i) b[i] = i < 3 || i > 5 ? 5.0 : v[i - 3];
  for (const Layout& layout : layouts_of_points(3, 3)) {
    const auto A = distribute(values, layout).with_blocks(3);
    for (const std::string kind : kinds) {
      Options options;
      options.smoother = kind;
      set_jacobi_weight(options, 1);
      std::vector<double> x = zeros(layout, 1e3);
      relax::make_relaxation(A, options.smoother)->first_sweep(part_of(layout, b), x);
      const DenseMatrix got = gathered(layout.comm(), x);
      const DenseMatrix product = values * got;
      for (GlobalIndex i = 0; i < 6; ++i) EXPECT_NEAR(product[i], b[i], 1e-9 * std::abs(b[i]));
      for (GlobalIndex i = 6; i < 9; ++i) EXPECT_EQ(got[i], 0);
    }
  }
}

// With several zeros on the diagonal, whatever the units of the unknowns.
TEST(BlockRelaxation, BlocksAreInvertibleInAnyUnits) {
  const double block[3][3] = {{0, 2, 1}, {2, 0, -1}, {1, -1, 3}};
  for (const double size : {1.0, 1e5, 1e12}) {
    const double unit[3] = {1, size, 1 / size};
    DenseMatrix values(9, 9), b(9);
    for (GlobalIndex i = 0; i < 9; ++i) {
      for (GlobalIndex j = i / 3 * 3; j < i / 3 * 3 + 3; ++j) {
        values(i, j) = unit[i % 3] * block[i % 3][j % 3] * unit[j % 3];
        b[i] += values(i, j) * (1 + static_cast<double>(j)) / unit[j % 3];
      }
    }
    for (const Layout& layout : layouts_of_points(3, 3)) {
      const auto A = distribute(values, layout).with_blocks(3);
      Options options;
      options.smoother = "block_jacobi";
      set_jacobi_weight(options, 1);
      std::vector<double> x = zeros(layout);
      relax::make_relaxation(A, options.smoother)->first_sweep(part_of(layout, b), x);
      const DenseMatrix got = gathered(layout.comm(), x);
      for (GlobalIndex i = 0; i < 9; ++i) {
        EXPECT_NEAR(got[i] * unit[i % 3], 1 + static_cast<double>(i), 1e-9) << size;
      }
    }
  }
}

// A saddle point in every block: [[d, 1], [1, 0]], also with a d that is far larger than the rest.
TEST(BlockRelaxation, ZerosOnTheDiagonalDoNotMatterWhereBlocksAreInvertible) {
  for (const double d : {0.0, 1.0, 1e6}) {
    DenseMatrix values(8, 8), b(8);
    for (GlobalIndex p = 0; p < 8; p += 2) {
      values(p, p) = d;
      values(p, p + 1) = values(p + 1, p) = 1;
      b[p] = 3 + d;  // of the solution (1, 3)
      b[p + 1] = 1;
    }
    for (const Layout& layout : layouts_of_points(4, 2)) {
      const auto A = distribute(values, layout).with_blocks(2).with_type<float>();
      for (const std::string kind : kinds) {
        Options options;
        options.smoother = kind;
        set_jacobi_weight(options, 1);
        std::vector<float> x(static_cast<std::size_t>(layout.n_local()));
        const std::vector<double> mine = part_of(layout, b);
        const std::vector<float> rhs(mine.begin(), mine.end());
        relax::make_relaxation(A, options.smoother)->first_sweep(rhs, x);
        for (std::size_t i = 0; i < x.size(); i += 2) {
          EXPECT_NEAR(x[i], 1, 1e-5);
          EXPECT_NEAR(d * x[i] + x[i + 1], 3 + d, 1e-5 * (3 + d));
        }
      }
    }
  }
}

TEST(BlockRelaxation, NamesTheRowOfABlockThatIsNotFinite) {
  DenseMatrix values = block_matrix(4, 2, 0.5, 3);
  values(5, 4) = std::numeric_limits<double>::infinity();
  for (const Layout& layout : layouts_of_points(4, 2)) {
    const auto A = distribute(values, layout).with_blocks(2);
    Options options;
    options.smoother = "block_jacobi";
    const std::string text = expect_same_error(layout.comm(), ErrorCode::unsuitable_matrix, [&] {
      mpi::collectively(layout.comm(), [&] { relax::make_relaxation(A, options.smoother); });
    });
    EXPECT_NE(text.find("begins in row 4, counted from 0,"), std::string::npos) << text;
  }
}

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Options aggregation_options(const std::string& smoother) {
  Options options;
  options.method = "aggregation";
  options.unknowns = 2;
  options.max_coarse_rows = 10;
  options.smoother = smoother;
  return options;
}

int iterations_of_cg(const Matrix& A, const Hierarchy<double>& hierarchy) {
  const std::vector<double> b = part_of(A->rows(), hashed(A->rows().n_global(), 1));
  std::vector<double> x(b.size(), 0.0);
  const auto report = solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  return report.iterations;
}

TEST(BlockRelaxation, SmoothsTheLevelsOfAnAggregationByTheirPoints) {
  const test::Framework framework(12, 10, true);
  for (const Layout& rows : test::two_layouts_of_points(120, 2)) {
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(framework.A, rows));
    for (const std::string kind : kinds) {
      const Hierarchy<double> hierarchy(A, aggregation_options(kind),
                                        test::rigid_knowledge(framework, rows));
      ASSERT_GE(hierarchy.levels().size(), 3U);
      EXPECT_EQ(hierarchy.matrix(0)->blocks()->block(), 2);
      EXPECT_EQ(hierarchy.matrix(1)->blocks()->block(), 3);  // a row for each rigid motion
      // Jacobi's are weaker.
      EXPECT_LE(iterations_of_cg(A, hierarchy), kind == kinds[0] || kind == kinds[1] ? 20 : 45);
    }
  }
}

TEST(BlockRelaxation, MakesASymmetricCycle) {
  const test::Framework framework(9, 7, true);
  const DenseMatrix u = hashed(126, 4);
  const DenseMatrix v = hashed(126, 5);
  for (const Layout& rows : test::two_layouts_of_points(63, 2)) {
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(framework.A, rows));
    for (const std::string kind : kinds) {
      const Hierarchy<double> hierarchy(A, aggregation_options(kind),
                                        test::rigid_knowledge(framework, rows));
      const auto apply = [&](const DenseMatrix& b) {
        std::vector<double> x = zeros(rows, 1e3);
        hierarchy.apply(part_of(rows, b), x);
        return gathered(rows.comm(), x);
      };
      const DenseMatrix Mu = apply(u);
      EXPECT_NEAR(dot(Mu, v), dot(u, apply(v)), 1e-10 * norm(Mu) * norm(v));
    }
  }
}

/// A Laplacian in one dimension with the block [[0, 1], [1, 0]] in the place of 1.
DenseMatrix saddle_points(GlobalIndex n) {
  DenseMatrix A(2 * n, 2 * n);
  for (GlobalIndex p = 0; p < n; ++p) {
    for (GlobalIndex q = std::max<GlobalIndex>(p - 1, 0); q < std::min(p + 2, n); ++q) {
      const double a = p == q ? 2.1 : -1;
      A(2 * p, 2 * q + 1) = A(2 * p + 1, 2 * q) = a;
    }
  }
  return A;
}

// The hierarchy, too, asks for invertible blocks only, and its coarse matrices are left as they
// are.
TEST(BlockRelaxation, AnAggregationNeedsInvertibleBlocksOnly) {
  const GlobalIndex n = 40;
  const auto layouts = layouts_of_points(n, 2);
  for (const Layout& layout : {layouts.front(), layouts.back()}) {
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(saddle_points(n), layout));
    Hierarchy<double> hierarchy(A, aggregation_options("l1_block_gauss_seidel"));
    EXPECT_GE(hierarchy.levels().size(), 2U);
    std::vector<double> x = zeros(layout);
    const auto report = solve::gmres<double>(solve::MatrixOperator<double>(A), &hierarchy,
                                             part_of(layout, hashed(2 * n, 3)), x, {});
    EXPECT_TRUE(report.converged()) << report.diagnosis;
    EXPECT_LE(report.iterations, 30);
    hierarchy.rebuild(A);
    const auto refused = [&](const DenseMatrix& values, const std::string& smoother,
                             const char* what) {
      const auto M = std::make_shared<const DistMatrix<double>>(distribute(values, layout));
      const std::string text = expect_same_error(layout.comm(), ErrorCode::unsuitable_matrix, [&] {
        Hierarchy<double>(M, aggregation_options(smoother));
      });
      EXPECT_NE(text.find(what), std::string::npos) << text;
    };
    refused(saddle_points(n), "l1_gauss_seidel",
            "have no nonzero diagonal entry, which multigrid needs");
    DenseMatrix singular = saddle_points(n);
    singular(4, 5) = singular(5, 4) = 0;
    refused(singular, "l1_block_gauss_seidel", "row 4, counted from 0) have no nonzero");
  }
}

TEST(BlockRelaxation, RebuildsWithTheSameBits) {
  const test::Framework framework(9, 8, true);
  for (const Layout& rows : test::two_layouts_of_points(72, 2)) {
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(framework.A, rows));
    const auto doubled =
        std::make_shared<const DistMatrix<double>>(distribute(2 * framework.A, rows));
    for (const Precision precision : {Precision::same, Precision::single}) {
      Options options = aggregation_options("block_gauss_seidel");
      options.precision = precision;
      Hierarchy<double> hierarchy(A, options, test::rigid_knowledge(framework, rows));
      const std::vector<double> b = part_of(rows, hashed(144, 6));
      std::vector<double> before = zeros(rows), half = before, after = before;
      hierarchy.apply(b, before);
      hierarchy.rebuild(doubled);
      hierarchy.apply(b, half);
      hierarchy.rebuild(A);
      hierarchy.apply(b, after);
      EXPECT_EQ(after, before);
      for (double& value : half) value *= 2;
      const DenseMatrix expected = gathered(rows.comm(), before);
      expect_near(gathered(rows.comm(), half), expected,
                  precision == Precision::same ? 1e-10 : 1e-3, "twice the matrix");
    }
  }
}

// Where coarse points have unknowns of their own, points are single rows.
TEST(BlockRelaxation, IsForTheFinestLevelOnlyInClassicalCoarsening) {
  const test::Framework framework(12, 10, true);
  for (const Layout& rows : test::two_layouts_of_points(120, 2)) {
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(framework.A, rows));
    Options options = aggregation_options("block_gauss_seidel");
    options.method = "classical";
    const Hierarchy<double> hierarchy(A, options);
    ASSERT_GE(hierarchy.levels().size(), 2U);
    EXPECT_NE(hierarchy.matrix(0)->blocks(), nullptr);
    EXPECT_EQ(hierarchy.matrix(1)->blocks(), nullptr);
    EXPECT_LE(iterations_of_cg(A, hierarchy), 40);
  }
}

TEST(BlockRelaxation, RefusesPointsThatItCannotTake) {
  const DenseMatrix values = test::random_symmetric(28, 0.3, 0.2, 3);
  for (const Layout& rows : layouts_of_points(4, 7)) {
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(values, rows));
    Options options = aggregation_options("block_jacobi");
    options.unknowns = 7;
    const std::string text = expect_same_error(rows.comm(), ErrorCode::unsupported,
                                               [&] { Hierarchy<double>(A, options); });
    EXPECT_NE(text.find("points of 7 rows"), std::string::npos) << text;
    options.method = "classical";
    options.unknowns = 3;
    expect_same_error(rows.comm(), ErrorCode::invalid_argument,
                      [&] { Hierarchy<double>(A, options); });
  }
}

}  // namespace amg_block_relaxation_test
}  // namespace nodewise::amg
