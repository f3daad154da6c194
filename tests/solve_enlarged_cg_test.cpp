// Enlarged CG: CG where nothing is enlarged, and fewer iterations where something is.
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"

#include "mpi_counter.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solve_enlarged_cg_test {

using solve::Options;
using solve::Outcome;
using solve::Report;

Report run(const solve::Operator<double>& A, const solve::Operator<double>* M,
           const std::vector<double>& b, std::vector<double>& x, const Options& options = {},
           const solve::EnlargedCgOptions& own = {}) {
  return solve::enlarged_cg<double>(A, M, b, x, options, {}, own);
}

solve::MatrixOperator<double> model_problem(const std::string& problem, int n) {
  io::GalleryOptions options;
  options.problem = problem;
  options.n = n;
  return solve::MatrixOperator<double>(std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), options)));
}

Pointwise<double> jacobi(const solve::MatrixOperator<double>& A) {
  const Array<double> d = matrix::diagonal(A.matrix());
  const GlobalIndex first = A.layout().begin();
  return {A.layout(), [d, first](GlobalIndex i, double r) {
            return r / d[static_cast<std::size_t>(i - first)];
          }};
}

TEST(EnlargedCg, IsCgWithOnePart) {
  const auto A = model_problem("laplace9", 12);
  const Pointwise<double> M = jacobi(A);
  const std::vector<double> b = hashed_vector(A.layout(), 1);
  std::vector<double> x(b.size(), 0.0);
  const Report plain = solve::cg<double>(A, &M, b, x, {.max_iterations = 15});
  std::vector<double> y(b.size(), 0.0);
  const Report one = run(A, &M, b, y, {.max_iterations = 15}, {.enlarging_factor = 1});
  EXPECT_EQ(one.method, "enlarged_cg");
  ASSERT_EQ(one.history.size(), plain.history.size());
  for (std::size_t k = 0; k < plain.history.size(); ++k) {
    EXPECT_NEAR(one.history[k], plain.history[k], 1e-8 * plain.history[k]);
  }
}

// Squares of directions, which are in the units of x, would leave the range of double.
TEST(EnlargedCg, DoesNotDependOnUnits) {
  const auto A = model_problem("laplace5", 20);
  const std::vector<double> b = hashed_vector(A.layout(), 4);
  std::vector<double> x(b.size(), 0.0);
  const Pointwise<double> M = jacobi(A);
  const Report plain = run(A, &M, b, x);
  ASSERT_TRUE(plain.converged()) << plain.diagnosis;
  for (const int exponent : {-560, 530}) {
    Array<double> on = A.matrix().on().vals, off = A.matrix().off().vals;
    for (Array<double>* values : {&on, &off}) {
      for (double& value : *values) value = std::ldexp(value, exponent);
    }
    const solve::MatrixOperator<double> scaled(std::make_shared<const matrix::DistMatrix<double>>(
        A.matrix().with_values(std::move(on), std::move(off))));
    std::fill(x.begin(), x.end(), 0.0);
    const Pointwise<double> scaled_M = jacobi(scaled);
    const Report report = run(scaled, &scaled_M, b, x);
    EXPECT_TRUE(report.converged()) << exponent << ": " << report.diagnosis;
    EXPECT_EQ(report.iterations, plain.iterations) << exponent;
  }
}

// The larger the factor the larger the space, for every problem and preconditioner: never more
// iterations than CG, and at last many fewer (docs/methods/krylov.md).
TEST(EnlargedCg, NeedsNoMoreIterationsThanCg) {
  for (const std::string problem : {"laplace5", "laplace27", "rotated_fe"}) {
    const auto A = model_problem(problem, problem == "laplace27" ? 8 : 24);
    const Pointwise<double> diagonal = jacobi(A);
    const std::vector<double> b = hashed_vector(A.layout(), 2);
    for (const solve::Operator<double>* M :
         {(const solve::Operator<double>*)nullptr, (const solve::Operator<double>*)&diagonal}) {
      std::vector<double> x(b.size(), 0.0);
      const int of_cg = solve::cg<double>(A, M, b, x, {}).iterations;
      for (const int factor : {2, 4, 8, 16}) {
        x.assign(b.size(), 0.0);
        const Report report = run(A, M, b, x, {}, {.enlarging_factor = factor});
        EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
        EXPECT_LE(report.true_relative_residual, 1e-8);
        EXPECT_LE(report.iterations, of_cg) << factor;
        if (factor == 16) {
          EXPECT_LE(report.iterations, 0.75 * of_cg);
        }
        expect_same_on_all_ranks(report);
      }
    }
  }
}

TEST(EnlargedCg, WorksWithMultigrid) {
  const auto A = model_problem("rotated_fe", 40);
  const amg::Hierarchy<double> M(std::make_shared<const matrix::DistMatrix<double>>(A.matrix()),
                                 {});
  const std::vector<double> b = hashed_vector(A.layout(), 3);
  std::vector<double> x(b.size(), 0.0);
  const int of_cg = solve::cg<double>(A, &M, b, x, {}).iterations;
  x.assign(b.size(), 0.0);
  const Report report = run(A, &M, b, x);
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_LE(report.iterations, of_cg);
}

// Where the residual hardly falls for a while, parts of it become alike, and a block method that
// takes its directions from them loses some.
TEST(EnlargedCg, KeepsItsDirectionsUnderAWeakPreconditioner) {
  const auto A = model_problem("beam", 2);
  const Pointwise<double> M = jacobi(A);
  const std::vector<double> b = hashed_vector(A.layout(), 3);
  std::vector<double> x(b.size(), 0.0);
  const int of_cg = solve::cg<double>(A, &M, b, x, {}).iterations;
  EXPECT_GT(of_cg, 100);
  for (const int factor : {2, 4, 8}) {
    x.assign(b.size(), 0.0);
    const Report report = run(A, &M, b, x, {}, {.enlarging_factor = factor});
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_LE(report.iterations, of_cg) << factor;
  }
}

// Parts of a right-hand side in the range of a singular matrix are not in it themselves.
TEST(EnlargedCg, SolvesSingularSystems) {
  constexpr GlobalIndex n = 90;
  const auto neumann = [](GlobalIndex i, GlobalIndex j) {
    const auto weight = [](GlobalIndex k) { return k % 3 == 0 ? 1000.0 : 0.01 + double(k % 7); };
    const double left = i > 0 ? weight(i) : 0, right = i + 1 < n ? weight(i + 1) : 0;
    if (i == j) return left + right;
    return i == j + 1 ? -left : (i + 1 == j ? -right : 0.0);
  };
  const auto A = make_operator(uniform(n), neumann);
  const Pointwise<double> M(A.layout(), [&](GlobalIndex i, double r) { return r / neumann(i, i); });
  std::vector<double> x = hashed_vector(A.layout(), 7), b(x.size());
  A.apply(x, b);
  for (const int factor : {1, 2, 4, 8, 16}) {
    for (const solve::ResidualNorm norm :
         {solve::ResidualNorm::unpreconditioned, solve::ResidualNorm::natural}) {
      x.assign(b.size(), 0.0);
      const int of_cg = solve::cg<double>(A, &M, b, x, {.norm = norm}).iterations;
      x.assign(b.size(), 0.0);
      const Report report = run(A, &M, b, x, {.norm = norm}, {.enlarging_factor = factor});
      EXPECT_EQ(report.outcome, Outcome::converged) << factor << ": " << report.diagnosis;
      EXPECT_LE(report.iterations, 1.25 * of_cg);
    }
  }
}

// M r is among the directions, so that a preconditioner that is not quite linear still corrects x.
TEST(EnlargedCg, ConvergesWithACycleInSinglePrecision) {
  const auto A = model_problem("laplace27", 10);
  amg::Options options;
  options.precision = amg::Precision::single;
  options.max_coarse_rows = 20;
  const amg::Hierarchy<double> M(std::make_shared<const matrix::DistMatrix<double>>(A.matrix()),
                                 options);
  const std::vector<double> b = hashed_vector(A.layout(), 3);
  for (const int factor : {1, 2, 4, 8}) {
    std::vector<double> x(b.size(), 0.0);
    const Report report = run(A, &M, b, x, {.tolerance = 1e-11}, {.enlarging_factor = factor});
    EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
    EXPECT_LE(report.iterations, 16);
  }
}

TEST(EnlargedCg, TheSplitDoesNotDependOnTheRanks) {
  const auto history_on = [](const comm::Layout& layout) {
    const auto A = make_operator(
        layout, [](GlobalIndex i, GlobalIndex j) { return laplace(i, j) + (i == j ? 0.1 : 0.0); });
    const std::vector<double> b = hashed_vector(layout, 4);
    std::vector<double> x(b.size(), 0.0);
    return run(A, nullptr, b, x, {.max_iterations = 10}, {.enlarging_factor = 5}).history;
  };
  const std::vector<double> spread = history_on(uniform(83));
  const std::vector<double> single = history_on(on_last_rank(83));
  ASSERT_EQ(spread.size(), single.size());
  for (std::size_t k = 0; k < single.size(); ++k) {
    EXPECT_NEAR(spread[k], single[k], 1e-8 * single[k]);
  }
}

// More parts than rows: most directions are nothing, and the rest span the whole space at once.
TEST(EnlargedCg, MorePartsThanRows) {
  const comm::Layout layout = uniform(5);
  const auto A = make_operator(layout, laplace);
  const std::vector<double> b = hashed_vector(layout, 5);
  std::vector<double> x(b.size(), 0.0);
  const Report report = run(A, nullptr, b, x, {}, {.enlarging_factor = 64});
  EXPECT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  EXPECT_EQ(report.iterations, 1);
  EXPECT_LE(dense_residual(laplace, b, x), 1e-8);
}

// The messages of one product however many parts, each as much longer.
TEST(EnlargedCg, SendsNoMoreMessages) {
  const comm::Layout layout = uniform(300);
  const auto A = make_operator(
      layout, [](GlobalIndex i, GlobalIndex j) { return laplace(i, j) + (i == j ? 0.5 : 0.0); });
  const std::vector<double> b = hashed_vector(layout, 6);
  const std::vector<int> one_node(static_cast<std::size_t>(test_comm()->size()), 0);
  const auto calls_of = [&](int factor, int iterations) {
    std::vector<double> x(b.size(), 0.0);
    const Options options{.tolerance = 1e-14, .max_iterations = iterations};
    return counted(one_node, [&] { run(A, nullptr, b, x, options, {.enlarging_factor = factor}); });
  };
  const MpiCalls one = calls_of(1, 8), one_less = calls_of(1, 3);
  const MpiCalls six = calls_of(6, 8), six_less = calls_of(6, 3);
  EXPECT_EQ(six.messages() - six_less.messages(), one.messages() - one_less.messages());
  EXPECT_EQ(six.bytes() - six_less.bytes(), 6 * (one.bytes() - one_less.bytes()));
  EXPECT_EQ(six.collectives - six_less.collectives, one.collectives - one_less.collectives);
}

}  // namespace solve_enlarged_cg_test
}  // namespace nodewise::test
