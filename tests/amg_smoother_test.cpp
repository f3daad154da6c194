// Relaxation against sweeps written down for dense matrices.
#include <functional>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/matrix/operations.hpp"

#include "amg_support.hpp"
#include "mpi_counter.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_smoother_test {

using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::expect_near;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::NamedMatrix;
using test::norm;
using test::part_of;
using test::test_comm;

constexpr double tolerance = 1e-12;
constexpr const char* kinds[] = {"l1_gauss_seidel", "gauss_seidel", "l1_jacobi", "jacobi"};

bool is_jacobi(const std::string& kind) {
  return kind == "l1_jacobi" || kind == "jacobi";
}

/// Sweeps on whole vectors; which rank owns a row is all that is taken from the layout.
class Reference {
 public:
  Reference(const DenseMatrix& A, const matrix::Layout& layout, const Options& options)
      : A_(A), options_(options), is_jacobi_(is_jacobi(options.smoother.name())) {
    for (GlobalIndex i = 0; i < A.rows(); ++i) owners_.push_back(layout.owner(layout.first() + i));
  }

  /// The divisor of row i.
  double divisor(GlobalIndex i) const {
    double on = 0, off = 0;
    for (GlobalIndex j = 0; j < A_.cols(); ++j) {
      if (j != i) (same_rank(i, j) ? on : off) += std::abs(A_(i, j));
    }
    const double size = std::abs(A_(i, i));
    double larger = size;
    if (options_.smoother == "l1_jacobi") larger += on + off;
    const double weight = sor_weight(options_);
    if (options_.smoother == "l1_gauss_seidel" && off / 2 > (2 / weight - 1) * size / 3) {
      larger += weight * off / 2;
    }
    if (options_.smoother == "jacobi") larger /= jacobi_weight(options_);
    if (!is_jacobi_) larger /= weight;
    return std::copysign(larger, A_(i, i));
  }

  void sweep(bool forward, const DenseMatrix& b, DenseMatrix& x) const { half(forward, x, b, x); }

  /// A sweep from `start`, which takes what other ranks own from `others`.
  void half(bool forward, DenseMatrix others, const DenseMatrix& b, DenseMatrix& x) const {
    const DenseMatrix start = x;
    for (GlobalIndex k = 0; k < A_.rows(); ++k) {
      const GlobalIndex i = forward ? k : A_.rows() - 1 - k;
      if (A_(i, i) == 0) continue;
      double r = b[i];
      for (GlobalIndex j = 0; j < A_.cols(); ++j) {
        const bool use_new = !is_jacobi_ && same_rank(i, j);
        r -= A_(i, j) * (use_new ? x[j] : others[j]);
      }
      x[i] = start[i] + r / divisor(i);
    }
  }

  void symmetric_sweep(const DenseMatrix& b, DenseMatrix& x) const {
    const DenseMatrix others = x;
    half(true, others, b, x);
    half(false, others, b, x);
  }

  void presmooth(const DenseMatrix& b, DenseMatrix& x) const {
    x.fill(0);
    for (int k = 0; k < sweep_counts(options_.cycle).pre_sweeps; ++k) {
      if (symmetric()) {
        symmetric_sweep(b, x);
      } else {
        sweep(order_of(options_) != SweepOrder::backward, b, x);
        if (alternating()) sweep(false, b, x);
      }
    }
  }
  void postsmooth(const DenseMatrix& b, DenseMatrix& x) const {
    for (int k = 0; k < sweep_counts(options_.cycle).post_sweeps; ++k) {
      if (symmetric()) {
        symmetric_sweep(b, x);
      } else {
        if (alternating()) sweep(true, b, x);
        sweep(order_of(options_) == SweepOrder::forward, b, x);
      }
    }
  }

 private:
  bool same_rank(GlobalIndex i, GlobalIndex j) const {
    return owners_[static_cast<std::size_t>(i)] == owners_[static_cast<std::size_t>(j)];
  }
  /// Whether a sweep is one each way; Jacobi's know no way.
  bool symmetric() const { return order_of(options_) == SweepOrder::symmetric && !is_jacobi_; }

  bool alternating() const { return order_of(options_) == SweepOrder::alternating && !is_jacobi_; }

  const DenseMatrix& A_;
  const Options& options_;
  bool is_jacobi_;
  std::vector<int> owners_;
};

constexpr SweepOrder symmetric_orders[] = {SweepOrder::forward_backward, SweepOrder::symmetric,
                                           SweepOrder::alternating};
constexpr SweepOrder all_orders[] = {SweepOrder::forward_backward, SweepOrder::symmetric,
                                     SweepOrder::alternating, SweepOrder::forward,
                                     SweepOrder::backward};

/// Collective. Calls f(options, name) for all kinds, the orders and 0 to 3 sweeps.
void for_each_options(std::span<const SweepOrder> orders,
                      const std::function<void(const Options&, const std::string&)>& f) {
  for (const std::string kind : kinds) {
    for (const SweepOrder order : orders) {
      for (int sweeps = 0; sweeps <= 3; ++sweeps) {
        Options options;
        options.smoother = kind;
        set_order(options, order);
        set_sweeps(options, sweeps);
        set_jacobi_weight(options, 0.7);
        set_sor_weight(options, sweeps == 3 ? 1.3 : 1.0);
        f(options, "kind " + kind + ", order " + std::to_string(static_cast<int>(order)) + ", " +
                       std::to_string(sweeps) + " sweeps");
      }
    }
  }
}

DenseMatrix with_zero_diagonals(DenseMatrix A) {
  for (GlobalIndex i = 2; i < A.rows(); i += 5) A(i, i) = 0;
  return A;
}

std::vector<NamedMatrix> matrices() {
  auto list = test::level_matrices();
  list.push_back({"dense random", test::random_matrix(13, 0.8, 0.2, 6)});
  list.push_back({"zero diagonals", with_zero_diagonals(test::random_matrix(24, 0.3, 0.2, 7))});
  return list;
}

struct Smoothed {
  DenseMatrix x, r;
};

/// Collective. The result of presmooth() from arrays full of rubbish.
Smoothed run_presmooth(const Smoother<double>& smoother, const matrix::Layout& layout,
                       const DenseMatrix& b) {
  const auto n = static_cast<std::size_t>(layout.n_local());
  std::vector<double> x(n, 1e3), r(n, -1e3);
  smoother.presmooth(part_of(layout, b), x, r);
  return {gathered(layout.comm(), x), gathered(layout.comm(), r)};
}

DenseMatrix run_postsmooth(const Smoother<double>& smoother, const matrix::Layout& layout,
                           const DenseMatrix& b, const DenseMatrix& start) {
  std::vector<double> x = part_of(layout, start);
  smoother.postsmooth(part_of(layout, b), x);
  return gathered(layout.comm(), x);
}

TEST(Smoother, PresmoothEqualsTheReferenceAndLeavesTheResidual) {
  for (const auto& [name, values] : matrices()) {
    const DenseMatrix b = hashed(values.rows(), 1);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = distribute(values, layout);
      for_each_options(all_orders, [&, &name = name, &values = values](const Options& options,
                                                                       const std::string& what) {
        const Smoothed got = run_presmooth(Smoother<double>(A, options), layout, b);
        DenseMatrix x(values.rows());
        Reference(values, layout, options).presmooth(b, x);
        expect_near(got.x, x, tolerance, name + ", " + what);
        // Relative to b: the residual may be as small as round-off.
        const DenseMatrix r = b - values * got.x;
        EXPECT_LE(norm(got.r - r), tolerance * (norm(b) + norm(values * got.x)))
            << name << ", " << what;
      });
    }
  }
}

/// Calls f(options) for the Gauss-Seidel kinds, one sweep or a symmetric one, and some weights.
template <class F>
void for_each_gauss_seidel(const F& f) {
  for (const std::string kind : {"gauss_seidel", "l1_gauss_seidel"}) {
    for (const SweepOrder order : {SweepOrder::forward_backward, SweepOrder::symmetric}) {
      for (const double weight : {0.8, 1.0, 1.6}) {
        Options options;
        options.smoother = kind;
        set_sor_weight(options, weight);
        set_order(options, order);
        f(options);
      }
    }
  }
}

TEST(Smoother, LeavesTheResidualOfASymmetricMatrixFromOneTriangle) {
  DenseMatrix values = test::random_symmetric(40, 0.3, 0.2, 3);
  values(7, 7) = values(23, 23) = 0;
  const DenseMatrix b = hashed(values.rows(), 1);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    for_each_gauss_seidel([&](const Options& options) {
      const auto got =
          run_presmooth(Smoother<double>(A, options, {.is_symmetric = true}), layout, b);
      const auto expected = run_presmooth(Smoother<double>(A, options), layout, b);
      expect_near(got.x, expected.x, tolerance, "x");
      EXPECT_LE(norm(got.r - expected.r), tolerance * (norm(b) + norm(values * got.x)));
    });
  }
}

// What a rank has above the diagonal may be anything then.
TEST(Smoother, LooksAtOneTriangleOfASymmetricMatrix) {
  const DenseMatrix values = test::random_symmetric(40, 0.3, 0.2, 4);
  const DenseMatrix b = hashed(values.rows(), 1);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    DenseMatrix half = values;
    const auto owner = [&](GlobalIndex i) { return layout.owner(layout.first() + i); };
    for (GlobalIndex i = 0; i < half.rows(); ++i) {
      for (GlobalIndex j = i + 1; j < half.cols(); ++j) {
        if (owner(i) == owner(j)) half(i, j) *= 3;
      }
    }
    const auto A = distribute(values, layout), A_half = distribute(half, layout);
    for_each_gauss_seidel([&](const Options& options) {
      if (order_of(options) == SweepOrder::symmetric) return;  // whose sweep back reads the rest
      const relax::MatrixFacts symmetric = {.is_symmetric = true};
      const auto got = run_presmooth(Smoother<double>(A_half, options, symmetric), layout, b);
      const auto expected = run_presmooth(Smoother<double>(A, options, symmetric), layout, b);
      expect_near(got.x, expected.x, 0, "x");
      expect_near(got.r, expected.r, 0, "residual");
    });
  }
}

TEST(Smoother, PostsmoothEqualsTheReference) {
  for (const auto& [name, values] : matrices()) {
    const DenseMatrix b = hashed(values.rows(), 2);
    const DenseMatrix start = hashed(values.rows(), 3);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = distribute(values, layout);
      for_each_options(all_orders, [&, &name = name, &values = values](const Options& options,
                                                                       const std::string& what) {
        DenseMatrix x = start;
        Reference(values, layout, options).postsmooth(b, x);
        expect_near(run_postsmooth(Smoother<double>(A, options), layout, b, start), x, tolerance,
                    name + ", " + what);
      });
    }
  }
}

TEST(Smoother, UndirectedRelaxationsAreTheirOwnAdjoints) {
  const DenseMatrix values = test::random_symmetric(40, 0.1, 0.2, 3);
  const DenseMatrix u = hashed(values.rows(), 4);
  const DenseMatrix v = hashed(values.rows(), 5);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    for (const std::string kind : {"chebyshev", "ilu0"}) {
      Options options;
      options.smoother = kind;
      set_sweeps(options, 2);
      const Smoother<double> smoother(A, options, {.spectral_radius = 2.0});
      const DenseMatrix Mu = run_presmooth(smoother, layout, u).x;
      const DenseMatrix Mv = run_postsmooth(smoother, layout, v, DenseMatrix(values.rows()));
      EXPECT_NEAR(dot(Mu, v), dot(u, Mv), 1e-11 * norm(Mu) * norm(v));
    }
  }
}

TEST(Smoother, PostsmoothIsTheAdjointOfPresmooth) {
  const DenseMatrix values = test::random_symmetric(40, 0.1, 0.2, 3);
  const DenseMatrix u = hashed(values.rows(), 4);
  const DenseMatrix v = hashed(values.rows(), 5);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    for_each_options(symmetric_orders, [&](const Options& options, const std::string& what) {
      const Smoother<double> smoother(A, options);
      const DenseMatrix Mu = run_presmooth(smoother, layout, u).x;
      const DenseMatrix Mv = run_postsmooth(smoother, layout, v, DenseMatrix(values.rows()));
      EXPECT_NEAR(dot(Mu, v), dot(u, Mv), tolerance * norm(Mu) * norm(v)) << what;
    });
  }
}

// Both ways on one rank's values of the others: as many messages as one way, and none from zero.
TEST(Smoother, ASymmetricSweepExchangesOnce) {
  const DenseMatrix values = test::random_symmetric(40, 0.3, 0.2, 3);
  const std::vector<int> nodes(static_cast<std::size_t>(test_comm()->size()), 0);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    Options options;
    set_order(options, SweepOrder::symmetric);
    const Smoother<double> smoother(A, options);
    const auto n = static_cast<std::size_t>(layout.n_local());
    std::vector<double> b(n, 1.0), x(n), r(n);
    const auto product = test::counted(
        nodes, [&] { matrix::multiply(A, std::span<const double>(b), std::span<double>(r)); });
    EXPECT_EQ(test::counted(nodes, [&] { smoother.presmooth(b, x, r); }), product);
    EXPECT_EQ(test::counted(nodes, [&] { smoother.postsmooth(b, x); }), product);
  }
}

// Dense and written out once more, so that the reference itself is checked.
TEST(Smoother, OnOneRankTheL1FormIsGaussSeidel) {
  const DenseMatrix values = test::random_matrix(20, 0.4, 0.3, 8);
  const DenseMatrix b = hashed(20, 6);
  DenseMatrix x(20);
  for (GlobalIndex i = 0; i < 20; ++i) {
    double sum = b[i];
    for (GlobalIndex j = 0; j < 20; ++j) sum -= j == i ? 0 : values(i, j) * x[j];
    x[i] = sum / values(i, i);
  }
  const auto A = test::serial(values);
  for (const std::string kind : {"gauss_seidel", "l1_gauss_seidel"}) {
    Options options;
    options.smoother = kind;
    set_order(options, SweepOrder::forward_backward);
    expect_near(run_presmooth(Smoother<double>(A, options), A.rows(), b).x, x, tolerance, "");
  }
}

// x += w D^-1 (b - A x): the weight damps the correction, not x.
TEST(Smoother, JacobiDampsTheCorrectionOnly) {
  const DenseMatrix values = test::random_matrix(20, 0.3, 0.3, 9);
  const DenseMatrix b = hashed(20, 7);
  const DenseMatrix start = hashed(20, 8);
  const DenseMatrix r = b - values * start;
  for (const double weight : {0.5, 1.0, 1.5}) {
    DenseMatrix expected = start;
    for (GlobalIndex i = 0; i < 20; ++i) expected[i] += weight * r[i] / values(i, i);
    for (const matrix::Layout& layout : layouts_of(test_comm(), 20)) {
      const auto A = distribute(values, layout);
      Options options;
      options.smoother = "jacobi";
      set_order(options, SweepOrder::forward_backward);
      set_jacobi_weight(options, weight);
      const Smoother<double> smoother(A, options);
      expect_near(run_postsmooth(smoother, layout, b, start), expected, tolerance, "jacobi");
      // The solution is a fixed point, whatever the weight.
      expect_near(run_postsmooth(smoother, layout, values * start, start), start, tolerance, "");
    }
  }
}

// As the last level of a graph is whose components have all become points.
TEST(Smoother, NothingIsDoneOnALevelOfZeros) {
  const DenseMatrix b = hashed(12, 1), start = hashed(12, 2);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 12)) {
    const auto A = distribute(DenseMatrix(12, 12), layout);
    for (const std::string kind :
         {"l1_gauss_seidel", "gauss_seidel", "l1_jacobi", "jacobi", "chebyshev", "ilu0"}) {
      Options options;
      options.smoother = kind;
      set_order(options, SweepOrder::forward_backward);
      set_chebyshev_degree(options, 3);
      const Smoother<double> smoother(A, options, {.spectral_radius = 0});
      const Smoothed got = run_presmooth(smoother, layout, b);
      expect_near(got.x, DenseMatrix(12), 0, "x");
      expect_near(got.r, b, 0, "residual");
      expect_near(run_postsmooth(smoother, layout, b, start), start, 0, "x");
    }
  }
}

TEST(Smoother, RowsWithAZeroDiagonalAreLeftAlone) {
  const DenseMatrix values = with_zero_diagonals(test::random_matrix(24, 0.3, 0.2, 7));
  const DenseMatrix b = hashed(24, 1);
  const DenseMatrix start = hashed(24, 2);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 24)) {
    const auto A = distribute(values, layout);
    for_each_options(all_orders, [&](const Options& options, const std::string& what) {
      const Smoother<double> smoother(A, options);
      const DenseMatrix pre = run_presmooth(smoother, layout, b).x;
      const DenseMatrix post = run_postsmooth(smoother, layout, b, start);
      for (GlobalIndex i = 2; i < 24; i += 5) {
        EXPECT_EQ(pre[i], 0) << what;
        EXPECT_EQ(post[i], start[i]) << what;
      }
    });
  }
}

TEST(Smoother, ApproximateSolutionIsASymmetricOperator) {
  const DenseMatrix values = test::random_symmetric(30, 0.15, 0.1, 5);
  const DenseMatrix u = hashed(30, 4);
  const DenseMatrix v = hashed(30, 5);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 30)) {
    const auto A = distribute(values, layout);
    for (const std::string kind : kinds) {
      Options options;
      options.smoother = kind;
      set_order(options, SweepOrder::forward_backward);
      const Smoother<double> smoother(A, options);
      const auto apply = [&](const DenseMatrix& b) {
        std::vector<double> x(static_cast<std::size_t>(layout.n_local()), 1e3);
        smoother.solve_approximately(3, part_of(layout, b), x);
        return gathered(layout.comm(), x);
      };
      const DenseMatrix Mu = apply(u);
      DenseMatrix expected(30);
      const Reference reference(values, layout, options);
      for (int k = 0; k < 6; ++k) reference.sweep(k < 3, u, expected);
      expect_near(Mu, expected, tolerance, "six sweeps");
      EXPECT_NEAR(dot(Mu, v), dot(u, apply(v)), tolerance * norm(Mu) * norm(v));
    }
  }
}

// What the l1 forms are for: they reduce the energy norm of the error for any symmetric positive
// definite matrix on any number of ranks, where plain hybrid Gauss-Seidel or Jacobi may increase
// it.
TEST(Smoother, L1FormsConvergeForStronglyCoupledRanks) {
  constexpr GlobalIndex n = 24;
  DenseMatrix values(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) values(i, j) = i == j ? 1.0 : 0.9;
  }
  const DenseMatrix zero(n);
  const auto energy = [&](const DenseMatrix& x) { return dot(x, values * x); };
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    const auto A = distribute(values, layout);
    for (const std::string kind : {"l1_gauss_seidel", "l1_jacobi"}) {
      for (const double weight : {1.0, 0.5, 1.5, 1.95}) {  // of Gauss-Seidel, as SOR has it
        Options options;
        options.smoother = kind;
        set_sor_weight(options, weight);
        set_order(options, SweepOrder::forward_backward);
        const Smoother<double> smoother(A, options);
        DenseMatrix error = hashed(n, 3);
        for (int k = 0; k < 5; ++k) {
          const DenseMatrix next = run_postsmooth(smoother, layout, zero, error);
          EXPECT_LT(energy(next), energy(error)) << "sweep " << k << ", weight " << weight;
          error = next;
        }
      }
    }
  }
}

// The rest of a sweep of Chebyshev is an eigenvector times the polynomial's value: that is what the
// recurrence is for, so it is checked against the closed form.
TEST(Smoother, ChebyshevReducesEigenvectorsByItsPolynomial) {
  const DenseMatrix values = test::random_symmetric(24, 0.3, 0.2, 6);
  const GlobalIndex n = values.rows();
  Eigen::MatrixXd A(n, n);
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) A(i, j) = values(i, j);
    D(i, i) = values(i, i);
  }
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> eigen(A, D);
  const double radius = eigen.eigenvalues()[n - 1];
  for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
    const auto matrix = distribute(values, layout);
    for (const int degree : {1, 2, 3, 5}) {
      Options options;
      options.smoother = "chebyshev";
      set_order(options, SweepOrder::forward_backward);
      set_chebyshev_degree(options, degree);
      const Smoother<double> smoother(matrix, options, {.spectral_radius = radius});
      const double fraction =
          options.smoother.options<relax::ChebyshevOptions>().chebyshev_fraction;
      const double center = radius * (1.1 + fraction) / 2;
      const double half = radius * (1.1 - fraction) / 2;
      const auto chebyshev = [degree](double t) {
        return std::abs(t) <= 1 ? std::cos(degree * std::acos(t))
                                : std::copysign(1.0, degree % 2 == 0 ? 1.0 : t) *
                                      std::cosh(degree * std::acosh(std::abs(t)));
      };
      for (const GlobalIndex k : {GlobalIndex{0}, n / 2, n - 1}) {
        DenseMatrix v(n), expected(n);
        const double rest =
            chebyshev((center - eigen.eigenvalues()[k]) / half) / chebyshev(center / half);
        for (GlobalIndex i = 0; i < n; ++i) {
          v[i] = eigen.eigenvectors()(i, k);
          expected[i] = (1 - rest) * v[i];
        }
        const std::string what = "degree " + std::to_string(degree);
        const DenseMatrix b = values * v;
        expect_near(run_presmooth(smoother, layout, b).x, expected, 1e-10, what);
        expect_near(run_postsmooth(smoother, layout, b, DenseMatrix(n)), expected, 1e-10, what);
      }
    }
  }
}

/// Eliminates within the pattern of A and within the blocks of the ranks: A becomes L and U.
DenseMatrix incomplete_factors(DenseMatrix A, const matrix::Layout& layout) {
  const GlobalIndex n = A.rows();
  const auto owner = [&](GlobalIndex i) { return layout.owner(layout.first() + i); };
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) A(i, j) = owner(i) == owner(j) ? A(i, j) : 0.0;
  }
  const DenseMatrix pattern = A;
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex k = 0; k < i; ++k) {
      if (pattern(i, k) == 0) continue;
      A(i, k) /= A(k, k);
      for (GlobalIndex j = k + 1; j < n; ++j) {
        if (pattern(i, j) != 0) A(i, j) -= A(i, k) * A(k, j);
      }
    }
  }
  return A;
}

TEST(Smoother, Ilu0SolvesWithTheIncompleteFactors) {
  for (const DenseMatrix& values :
       {test::model("laplace9", 6), test::random_matrix(40, 0.15, 0.3, 2)}) {
    const GlobalIndex n = values.rows();
    const DenseMatrix b = hashed(n, 1);
    const DenseMatrix start = hashed(n, 2);
    for (const matrix::Layout& layout : layouts_of(test_comm(), n)) {
      const auto A = distribute(values, layout);
      const DenseMatrix LU = incomplete_factors(values, layout);
      Options options;
      options.smoother = "ilu0";
      set_order(options, SweepOrder::forward_backward);
      const Smoother<double> smoother(A, options);
      const auto solve = [&](DenseMatrix x) {
        for (GlobalIndex i = 0; i < n; ++i) {
          for (GlobalIndex j = 0; j < i; ++j) x[i] -= LU(i, j) * x[j];
        }
        for (GlobalIndex i = n - 1; i >= 0; --i) {
          for (GlobalIndex j = i + 1; j < n; ++j) x[i] -= LU(i, j) * x[j];
          x[i] /= LU(i, i);
        }
        return x;
      };
      expect_near(run_presmooth(smoother, layout, b).x, solve(b), 1e-10, "from zero");
      expect_near(run_postsmooth(smoother, layout, b, start), start + solve(b - values * start),
                  1e-10, "from another");
    }
  }
}

TEST(Smoother, Ilu0SurvivesZeroPivots) {
  DenseMatrix values(6, 6);
  for (GlobalIndex i = 0; i < 6; ++i) values(i, i) = 1;
  values(0, 1) = values(1, 0) = 1;  // the second pivot vanishes
  values(4, 4) = 0;                 // a row that is left alone
  const DenseMatrix b = hashed(6, 1);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 6)) {
    const auto A = distribute(values, layout);
    Options options;
    options.smoother = "ilu0";
    const Smoother<double> smoother(A, options);
    const DenseMatrix x = run_presmooth(smoother, layout, b).x;
    for (GlobalIndex i = 0; i < 6; ++i) EXPECT_TRUE(std::isfinite(x[i])) << i;
    EXPECT_EQ(x[4], 0);
    EXPECT_NEAR(x[5], b[5], tolerance);
  }
}

TEST(Smoother, FurtherSweepsStartFromWhatIsGiven) {
  const DenseMatrix values = test::random_symmetric(30, 0.15, 0.1, 5);
  const DenseMatrix b = hashed(30, 4);
  const DenseMatrix start = hashed(30, 5);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 30)) {
    const auto A = distribute(values, layout);
    for_each_options(all_orders, [&](const Options& options, const std::string& what) {
      const Smoother<double> smoother(A, options);
      std::vector<double> x = part_of(layout, start);
      std::vector<double> r(x.size(), 1e3);
      smoother.presmooth_further(part_of(layout, b), x, r);
      // Linear: what it makes of (b, start) is start and what it makes of (b - A start, 0).
      const Smoothed rest = run_presmooth(smoother, layout, b - values * start);
      expect_near(gathered(layout.comm(), x), start + rest.x, 1e-11, what);
      expect_near(gathered(layout.comm(), r), b - values * (start + rest.x), 1e-10, what);
    });
  }
}

TEST(Smoother, FloatAgreesToItsPrecision) {
  const DenseMatrix values = test::model("laplace5", 6);
  const auto layout = matrix::Layout::uniform(test_comm(), values.rows());
  const auto A = distribute<float>(values, layout);
  const DenseMatrix b = hashed(values.rows(), 1);
  for_each_options(all_orders, [&](const Options& options, const std::string& what) {
    const Smoother<float> smoother(A, options);
    const std::vector<double> part = part_of(layout, b);
    const std::vector<float> bf(part.begin(), part.end());
    std::vector<float> x(bf.size()), r(bf.size());
    smoother.presmooth(bf, x, r);
    smoother.postsmooth(bf, x);
    DenseMatrix expected(values.rows());
    const Reference reference(values, layout, options);
    reference.presmooth(b, expected);
    reference.postsmooth(b, expected);
    expect_near(gathered(layout.comm(), x), expected, 1e-5, what);
  });
}

}  // namespace amg_smoother_test
}  // namespace nodewise::amg
