// Eigenpairs at the ends of spectra, beside dense diagonalisation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/eigen/bounds.hpp"
#include "nodewise/eigen/eigenpairs.hpp"
#include "nodewise/eigen/lanczos.hpp"
#include "nodewise/eigen/lobpcg.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/holstein_hubbard.hpp"

#include "collective_error.hpp"
#include "solve_support.hpp"
#include "threads_support.hpp"

namespace nodewise::test {
namespace eigen_test {

using eigen::Eigenpair;
using eigen::Eigenpairs;
using eigen::Options;
using eigen::Which;
using solve::Outcome;
using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Options options_of(const char* method, int pairs, double tolerance = 1e-9) {
  Options options;
  options.eigensolver = method;
  options.pairs = pairs;
  options.tolerance = tolerance;
  return options;
}

/// A symmetric matrix with entries of either sign, and both ends of the spectrum.
double indefinite(GlobalIndex i, GlobalIndex j) {
  if (std::abs(i - j) > 3) return 0;
  const auto key = static_cast<std::uint64_t>(std::min(i, j) * 1000 + std::max(i, j));
  return 4 * hash_uniform(key, 5) - 2;
}

/// The Laplacian of a square of n x n points.
Entry square_laplacian(GlobalIndex n) {
  return [n](GlobalIndex i, GlobalIndex j) {
    if (i == j) return 4.0;
    const bool beside = std::abs(i - j) == 1 && i / n == j / n;
    return beside || std::abs(i - j) == n ? -1.0 : 0.0;
  };
}

/// A mass matrix of linear elements whose lengths vary.
double mass(GlobalIndex i, GlobalIndex j) {
  const auto length = [](GlobalIndex k) { return 1.0 + 0.5 * std::cos(static_cast<double>(k)); };
  if (i == j) return (length(i) + length(i + 1)) / 3;
  return std::abs(i - j) == 1 ? length(std::max(i, j)) / 6 : 0.0;
}

Eigen::VectorXd dense_values(GlobalIndex n, const Entry& entry) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense(n, entry), Eigen::EigenvaluesOnly)
      .eigenvalues();
}

/// The vectors found, whole on every rank.
Eigen::MatrixXd whole_vectors(const Eigenpairs& found, int pairs) {
  const Eigen::VectorXd all = whole(found.vectors);
  Eigen::MatrixXd X(all.size() / pairs, pairs);
  for (Eigen::Index i = 0; i < X.rows(); ++i) {
    for (int c = 0; c < pairs; ++c) X(i, c) = all[i * pairs + c];
  }
  return X;
}

/// Values, vectors, residuals and bounds as they are said to be.
void expect_eigenpairs(const Eigenpairs& found, GlobalIndex n, const Entry& entry,
                       const Options& options, const Entry* B = nullptr) {
  const eigen::Report& report = found.report;
  ASSERT_EQ(report.outcome, Outcome::converged) << report.diagnosis;
  ASSERT_EQ(static_cast<int>(report.pairs.size()), options.pairs);
  const Eigen::MatrixXd A = dense(n, entry);
  const Eigen::MatrixXd M = B == nullptr ? Eigen::MatrixXd::Identity(n, n) : dense(n, *B);
  const Eigen::VectorXd exact =
      Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd>(A, M).eigenvalues();
  const Eigen::MatrixXd X = whole_vectors(found, options.pairs);
  EXPECT_LE((X.transpose() * M * X - Eigen::MatrixXd::Identity(X.cols(), X.cols())).norm(), 1e-10);
  for (int c = 0; c < options.pairs; ++c) {
    const Eigenpair& pair = report.pairs[static_cast<std::size_t>(c)];
    const double wanted = options.which == Which::smallest ? exact[c] : exact[n - 1 - c];
    const double slack = 1e-12 * (A.norm() + 1);
    const double error = std::abs(pair.value - wanted);
    EXPECT_LE(error, pair.bound + slack) << c;
    EXPECT_LE(error, 1e-8 * (1 + A.norm())) << c;
    if (pair.quadratic_bound) {
      EXPECT_LE(error, *pair.quadratic_bound + slack) << c;
    }
    const Eigen::VectorXd r = A * X.col(c) - pair.value * (M * X.col(c));
    EXPECT_NEAR(pair.residual, r.norm(), slack);
    const double by_inverse = std::sqrt(std::abs(r.dot(M.ldlt().solve(r))));
    EXPECT_NEAR(pair.bound, by_inverse, slack + 1e-5 * by_inverse);
    EXPECT_LE(pair.relative_residual, options.tolerance);
    EXPECT_TRUE(pair.converged);
    EXPECT_GE(pair.converged_at, 0);
  }
}

/// Even parts, all rows on the last rank, and parts that grow with the rank, the first being empty.
std::vector<comm::Layout> layouts(GlobalIndex n) {
  const GlobalIndex ranks = test_comm()->size();
  std::vector<GlobalIndex> starts;
  const GlobalIndex whole = std::max<GlobalIndex>(ranks * (ranks - 1), 1);
  for (GlobalIndex r = 0; r <= ranks; ++r) starts.push_back(n * r * (r - 1) / whole);
  starts.back() = n;
  return {uniform(n), on_last_rank(n), {test_comm(), starts}};
}

TEST(Eigenpairs, LanczosFindsBothEndsOfAnIndefiniteSpectrum) {
  for (const GlobalIndex n : {3, 20, 150}) {
    for (const comm::Layout& layout : layouts(n)) {
      const auto A = make_operator(layout, indefinite);
      for (const Which which : {Which::smallest, Which::largest}) {
        Options options = options_of("lanczos", 3);
        options.which = which;
        expect_eigenpairs(eigen::find_eigenpairs({A}, options), n, indefinite, options);
      }
    }
  }
}

TEST(Eigenpairs, LobpcgFindsThemWithoutPreconditioner) {
  for (const GlobalIndex n : {3, 4, 7, 60}) {
    for (const comm::Layout& layout : layouts(n)) {
      const auto A = make_operator(layout, indefinite);
      for (const Which which : {Which::smallest, Which::largest}) {
        Options options = options_of("lobpcg", 3);
        options.which = which;
        expect_eigenpairs(eigen::find_eigenpairs({A}, options), n, indefinite, options);
      }
    }
  }
}

TEST(Eigenpairs, MultipleEigenvaluesAreFoundAsOftenAsTheyAre) {
  const GlobalIndex n = 9;
  const Entry entry = square_laplacian(n);
  const Eigen::VectorXd exact = dense_values(n * n, entry);
  ASSERT_NEAR(exact[1], exact[2], 1e-12);
  for (const comm::Layout& layout : layouts(n * n)) {
    const auto A = make_operator(layout, entry);
    for (const char* method : {"lanczos", "lobpcg"}) {
      for (const int pairs : {2, 3, 8}) {
        const Options options = options_of(method, pairs);
        expect_eigenpairs(eigen::find_eigenpairs({A}, options), n * n, entry, options);
      }
    }
  }
}

// The eigenvalues 1, 1, 1, 2, 2, ...: one vector sees each once, and the space closes early.
TEST(Eigenpairs, CopiesBeyondTheReachOfOneVector) {
  const GlobalIndex n = 200;
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    return i == j ? 1.0 + static_cast<double>(i / 4) : 0.0;
  };
  const auto A = make_operator(uniform(n), entry);
  for (const char* method : {"lanczos", "lobpcg"}) {
    const Options options = options_of(method, 6, 1e-10);
    const Eigenpairs found = eigen::find_eigenpairs({A}, options);
    expect_eigenpairs(found, n, entry, options);
  }
  Options alone = options_of("lanczos", 2, 1e-4);
  alone.eigensolver.options<eigen::LanczosOptions>().look_again = false;
  const Eigenpairs found = eigen::find_eigenpairs({A}, alone);
  EXPECT_NEAR(found.report.pairs[1].value, 2, 1e-3) << "without the check a copy is missed";
}

TEST(Eigenpairs, Clusters) {
  const GlobalIndex n = 120;
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    if (i != j) return 0.0;
    return i < 5 ? 1.0 + 1e-7 * static_cast<double>(i) : 2.0 + static_cast<double>(i);
  };
  const auto A = make_operator(uniform(n), entry);
  for (const char* method : {"lanczos", "lobpcg"}) {
    const Options options = options_of(method, 5, 1e-11);
    expect_eigenpairs(eigen::find_eigenpairs({A}, options), n, entry, options);
  }
}

TEST(Eigenpairs, ScalesDoNotMatter) {
  const auto reference = make_operator(uniform(70), laplace);
  for (const double scale : {1e-100, 1e100}) {
    const auto A = make_operator(
        uniform(70), [scale](GlobalIndex i, GlobalIndex j) { return scale * laplace(i, j); });
    for (const char* method : {"lanczos", "lobpcg"}) {
      const Options options = options_of(method, 3);
      const eigen::Report scaled = eigen::find_eigenpairs({A}, options).report;
      const eigen::Report plain = eigen::find_eigenpairs({reference}, options).report;
      ASSERT_EQ(scaled.outcome, Outcome::converged) << scaled.diagnosis;
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(scaled.pairs[c].value / scale, plain.pairs[c].value, 1e-12);
      }
    }
  }
}

TEST(Eigenpairs, PlainMatrices) {
  const Entry entries[] = {
      [](GlobalIndex, GlobalIndex) { return 0.0; },
      [](GlobalIndex i, GlobalIndex j) { return i == j ? 1.0 : 0.0; },
      [](GlobalIndex i, GlobalIndex j) { return i == j ? 7.0 - static_cast<double>(i) : 0.0; }};
  for (const GlobalIndex n : {1, 2, 3, 50}) {
    for (const Entry& entry : entries) {
      const auto A = make_operator(on_last_rank(n), entry);
      for (const char* method : {"lanczos", "lobpcg"}) {
        const int pairs = static_cast<int>(std::min<GlobalIndex>(n, 2));
        const Options options = options_of(method, pairs);
        expect_eigenpairs(eigen::find_eigenpairs({A}, options), n, entry, options);
      }
    }
  }
}

TEST(Eigenpairs, GeneralisedProblem) {
  const Entry B = mass;
  for (const GlobalIndex n : {2, 5, 80}) {
    for (const comm::Layout& layout : layouts(n)) {
      const auto A = make_operator(layout, laplace);
      const auto M = make_operator(layout, mass);
      const Pointwise<double> diagonal(layout, [](GlobalIndex, double r) { return r / 2; });
      for (const bool with_preconditioner : {false, true}) {
        const Options options = options_of("lobpcg", 2);
        const eigen::Problem problem = {A, &M, with_preconditioner ? &diagonal : nullptr};
        expect_eigenpairs(eigen::find_eigenpairs(problem, options), n, laplace, options, &B);
      }
      Options largest = options_of("lobpcg", 2);
      largest.which = Which::largest;
      expect_eigenpairs(eigen::find_eigenpairs({A, &M}, largest), n, laplace, largest, &B);
    }
  }
}

TEST(Eigenpairs, MultigridNeedsFewIterationsAndTakesSingularMatrices) {
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = "laplace5", .n = 40}));
  const solve::MatrixOperator<double> map(A);
  const amg::Hierarchy<double> M(A, amg::Options());
  const Options options = options_of("lobpcg", 4, 1e-8);
  const eigen::Report with = eigen::find_eigenpairs({map, nullptr, &M}, options).report;
  ASSERT_EQ(with.outcome, Outcome::converged) << with.diagnosis;
  EXPECT_LE(with.iterations, 15);
  EXPECT_GT(eigen::find_eigenpairs({map}, options).report.iterations, 3 * with.iterations);
  const auto exact = [](int p, int q) {
    const auto one = [](int k) { return 4 * std::pow(std::sin(k * std::acos(-1.0) / 82), 2); };
    return one(p) + one(q);
  };
  EXPECT_NEAR(with.pairs[0].value, exact(1, 1), 1e-10);
  EXPECT_NEAR(with.pairs[1].value, exact(1, 2), 1e-10);
  EXPECT_NEAR(with.pairs[2].value, exact(1, 2), 1e-10);
  EXPECT_NEAR(with.pairs[3].value, exact(2, 2), 1e-10);
}

TEST(Eigenpairs, SingularMatrices) {
  const GlobalIndex n = 90;
  const Entry entry = neumann(n);
  const auto A = make_operator(uniform(n), entry);
  const amg::Hierarchy<double> M(std::make_shared<const matrix::DistMatrix<double>>(A.matrix()),
                                 amg::Options());
  const Options options = options_of("lobpcg", 3);
  const Eigenpairs found = eigen::find_eigenpairs({A, nullptr, &M}, options);
  expect_eigenpairs(found, n, entry, options);
  EXPECT_NEAR(found.report.pairs[0].value, 0, 1e-13);
  EXPECT_LE(found.report.iterations, 20);
}

TEST(Eigenpairs, GroundStatesOfHolsteinHubbard) {
  for (const auto& [repulsion, energy] : {std::pair{0.0, -8.0}, {4.0, -3.66870618}}) {
    io::GalleryOptions ring;
    ring.problem = "holstein_hubbard";
    io::problems::HolsteinHubbardOptions own;
    own.sites = 6;
    own.electrons_up = own.electrons_down = 3;
    own.phonons = 0;
    own.interaction = repulsion;
    own.coupling = 0;
    ring.problem.options<io::problems::HolsteinHubbardOptions>() = own;
    const solve::MatrixOperator<double> H(std::make_shared<const matrix::DistMatrix<double>>(
        io::generate<double>(test_comm(), ring)));
    for (const char* method : {"lanczos", "lobpcg"}) {
      const eigen::Report found = eigen::find_eigenpairs({H}, options_of(method, 1)).report;
      ASSERT_EQ(found.outcome, Outcome::converged) << found.diagnosis;
      EXPECT_NEAR(found.pairs[0].value, energy, 1e-8);
    }
  }
}

TEST(Eigenpairs, CountsWhatItTook) {
  const auto A = make_operator(uniform(100), laplace);
  const eigen::Report lanczos = eigen::find_eigenpairs({A}, options_of("lanczos", 2)).report;
  EXPECT_EQ(lanczos.method, "lanczos");
  EXPECT_EQ(static_cast<int>(lanczos.history.size()), lanczos.iterations);
  // Two reductions a product, and a few for vectors to begin with and for the result.
  EXPECT_LE(lanczos.work.reductions, 2 * lanczos.work.products + 20);
  EXPECT_GE(lanczos.work.products, lanczos.work.product_calls);
  const eigen::Report lobpcg = eigen::find_eigenpairs({A}, options_of("lobpcg", 2)).report;
  EXPECT_EQ(lobpcg.method, "lobpcg");
  EXPECT_LE(lobpcg.work.reductions, 6 * lobpcg.iterations + 30);
  EXPECT_LT(lobpcg.work.product_calls, 2 * lobpcg.iterations);
}

TEST(Eigenpairs, TheSameOnAnyNumberOfRanks) {
  const GlobalIndex n = 64;
  for (const char* method : {"lanczos", "lobpcg"}) {
    const Options options = options_of(method, 3);
    const eigen::Report spread =
        eigen::find_eigenpairs({make_operator(uniform(n), laplace)}, options).report;
    const eigen::Report together =
        eigen::find_eigenpairs({make_operator(on_last_rank(n), laplace)}, options).report;
    EXPECT_EQ(spread.iterations, together.iterations);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(spread.pairs[c].value, together.pairs[c].value, 1e-13);
      const std::vector<double> here = {spread.pairs[c].value};
      for (const double other : mpi::concatenate_all<double>(*test_comm(), here)) {
        EXPECT_EQ(other, here[0]) << "ranks differ";
      }
    }
  }
}

TEST(Eigenpairs, TheSameBitsOnAnyNumberOfThreads) {
  if (!can_test_threads()) GTEST_SKIP() << "no threads, or many ranks";
  const solve::MatrixOperator<double> A(std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = "laplace5", .n = 130})));
  const Pointwise<double> M(A.layout(), [](GlobalIndex, double r) { return r / 4; });
  for (const bool lobpcg : {false, true}) {
    Options options = options_of(lobpcg ? "lobpcg" : "lanczos", 3);
    options.max_iterations = 5;
    const auto find = [&](int threads) {
      const Threads many(threads);
      return eigen::find_eigenpairs({A, nullptr, lobpcg ? &M : nullptr}, options);
    };
    const Eigenpairs one = find(1);
    const Eigenpairs three = find(3);
    EXPECT_FALSE(one.vectors.empty());
    EXPECT_EQ(one.vectors, three.vectors);
    EXPECT_EQ(one.report.history, three.report.history);
  }
}

TEST(Eigenpairs, EndsWithoutConvergence) {
  const auto A = make_operator(uniform(400), laplace);
  for (const char* method : {"lanczos", "lobpcg"}) {
    Options options = options_of(method, 2, 1e-12);
    options.max_iterations = 1;
    const Eigenpairs found = eigen::find_eigenpairs({A}, options);
    EXPECT_EQ(found.report.outcome, Outcome::max_iterations);
    EXPECT_THAT(found.report.diagnosis, HasSubstr("`max_iterations`"));
    EXPECT_EQ(found.report.pairs.size(), 2U);
    EXPECT_FALSE(found.vectors.empty() && A.layout().n_local() > 0);
    options.max_iterations = 100;
    const eigen::Report stopped =
        eigen::find_eigenpairs({A}, options, [](int i, double) { return i < 1; }).report;
    EXPECT_EQ(stopped.outcome, Outcome::interrupted);
    EXPECT_EQ(stopped.iterations, 1);
    options.tolerance = 1e-17;
    const eigen::Report in_vain =
        eigen::find_eigenpairs({make_operator(uniform(40), laplace)}, options).report;
    EXPECT_NE(in_vain.outcome, Outcome::converged);
    EXPECT_THAT(in_vain.diagnosis, HasSubstr("raise"));
  }
}

TEST(Eigenpairs, EntriesThatAreNotFinite) {
  for (const double value : {nan, std::numeric_limits<double>::infinity()}) {
    const auto A = make_operator(uniform(30), [value](GlobalIndex i, GlobalIndex j) {
      return i == 29 && j == 29 ? value : laplace(i, j);
    });
    for (const char* method : {"lanczos", "lobpcg"}) {
      const Eigenpairs found = eigen::find_eigenpairs({A}, options_of(method, 2));
      EXPECT_EQ(found.report.outcome, Outcome::not_finite);
      EXPECT_TRUE(found.vectors.empty());
    }
  }
  for (const double scale : {1e-200, 1e200}) {
    const auto A = make_operator(
        uniform(30), [scale](GlobalIndex i, GlobalIndex j) { return scale * laplace(i, j); });
    const Eigenpairs found = eigen::find_eigenpairs({A}, options_of("lanczos", 2));
    EXPECT_EQ(found.report.outcome, Outcome::not_finite);
    EXPECT_THAT(found.report.diagnosis, HasSubstr("scale"));
  }
  const auto A = make_operator(uniform(30), laplace);
  const Pointwise<double> broken(A.layout(),
                                 [](GlobalIndex i, double r) { return i == 7 ? nan : r; });
  const auto found = eigen::find_eigenpairs({A, nullptr, &broken}, options_of("lobpcg", 2));
  EXPECT_EQ(found.report.outcome, Outcome::not_finite);
}

TEST(Eigenpairs, IndefiniteMatricesAreNotForAPreconditioner) {
  const auto A = make_operator(uniform(50), indefinite);
  const Pointwise<double> M(A.layout(), [](GlobalIndex, double r) { return r / 2; });
  const eigen::Report report =
      eigen::find_eigenpairs({A, nullptr, &M}, options_of("lobpcg", 2)).report;
  EXPECT_EQ(report.outcome, Outcome::indefinite_matrix);
  EXPECT_THAT(report.diagnosis, HasSubstr("`preconditioner none`"));
  const auto B = make_operator(uniform(50), [](GlobalIndex i, GlobalIndex j) {
    return i == j ? (i == 3 ? -100.0 : 1.0) : 0.0;
  });
  const auto L = make_operator(uniform(50), laplace);
  const eigen::Report mass_report = eigen::find_eigenpairs({L, &B}, options_of("lobpcg", 2)).report;
  EXPECT_EQ(mass_report.outcome, Outcome::indefinite_matrix);
  EXPECT_THAT(mass_report.diagnosis, HasSubstr("mass matrix"));
}

TEST(Eigenpairs, RefusesAlikeOnEveryRank) {
  const comm::Layout layout = uniform(10);
  const auto A = make_operator(layout, laplace);
  const auto skew = make_operator(layout, [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) + (j == i + 1 ? 0.5 : 0.0);
  });
  const auto refused = [&](const eigen::Problem& problem, const Options& options, ErrorCode code,
                           const char* text) {
    const std::string told =
        expect_same_error(*test_comm(), code, [&] { eigen::find_eigenpairs(problem, options); });
    EXPECT_THAT(told, HasSubstr(text));
  };
  const ErrorCode invalid = ErrorCode::invalid_argument;
  refused({A}, options_of("lanczos", 11), invalid, "option pairs");
  refused({A}, options_of("lobpcg", 11), invalid, "option pairs");
  refused({A, &A}, options_of("lanczos", 1), invalid, "lobpcg");
  refused({A, nullptr, &A}, options_of("lanczos", 1), invalid, "no use for a preconditioner");
  refused({A}, options_of("lanczos", 1, 2.0), invalid, "tolerance");
  refused({skew}, options_of("lanczos", 1), ErrorCode::unsuitable_matrix, "not symmetric");
  refused({A, &skew}, options_of("lobpcg", 1), ErrorCode::unsuitable_matrix, "the mass matrix");
  Options options = options_of("lobpcg", 3);
  options.eigensolver.options<eigen::LobpcgOptions>().block_size = 2;
  refused({A}, options, invalid, "block_size");
  options = options_of("lanczos", 3);
  options.eigensolver.options<eigen::LanczosOptions>().basis = 4;
  refused({A}, options, invalid, "option basis");
  options = options_of("lobpcg", 1);
  options.which = Which::largest;
  refused({A, nullptr, &A}, options, invalid, "option which");
  refused({make_operator(uniform(100), laplace)}, options_of("lobpcg", 65), invalid, "lanczos");
  options = options_of("lanczos", 1);
  options.pairs = 1 + (test_comm()->rank() == 0 ? 1 : 0);
  if (test_comm()->size() > 1) refused({A}, options, invalid, "eigen");
}

TEST(Eigenpairs, ChoosesByTheSignsOfEigenvalues) {
  const auto definite = make_operator(uniform(20), laplace);
  const auto other = make_operator(uniform(20), indefinite);
  const auto chosen = [](const auto& A, bool has_mass, bool given, Which which) {
    const auto matrix = std::make_shared<const matrix::DistMatrix<double>>(A.matrix());
    return eigen::choose_eigensolver(matrix, has_mass, given, which).name();
  };
  const auto squared = make_operator(uniform(50), [](GlobalIndex i, GlobalIndex j) {
    const double entries[] = {6, -4, 1};  // no eigenvalue is negative, which rows do not show
    return std::abs(i - j) < 3 ? entries[std::abs(i - j)] : 0.0;
  });
  const auto shifted = make_operator(uniform(50), [](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) - (i == j ? 0.5 : 0.0);
  });
  const auto zero = make_operator(uniform(3), [](GlobalIndex, GlobalIndex) { return 0.0; });
  EXPECT_EQ(chosen(squared, false, false, Which::smallest), "lobpcg");
  EXPECT_EQ(chosen(shifted, false, false, Which::smallest), "lanczos");
  EXPECT_EQ(chosen(zero, false, false, Which::smallest), "lanczos");
  EXPECT_EQ(chosen(definite, false, false, Which::smallest), "lobpcg");
  EXPECT_EQ(chosen(definite, false, false, Which::largest), "lanczos");
  EXPECT_EQ(chosen(other, false, false, Which::smallest), "lanczos");
  EXPECT_EQ(chosen(other, false, true, Which::smallest), "lobpcg");
  EXPECT_EQ(chosen(other, true, false, Which::largest), "lobpcg");
}

TEST(Eigenpairs, QuadraticBoundsByTheGaps) {
  std::vector<Eigenpair> pairs(4);
  const double values[] = {1, 2, 2.001, 5}, bounds[] = {0.01, 0.001, 0.001, 0.1};
  for (std::size_t c = 0; c < 4; ++c) {
    pairs[c].value = values[c];
    pairs[c].bound = bounds[c];
  }
  eigen::set_quadratic_bounds(pairs, std::nullopt);
  EXPECT_NEAR(*pairs[0].quadratic_bound, 1e-4 / 0.999, 1e-15);
  EXPECT_NEAR(*pairs[1].quadratic_bound, 2e-6 / 0.99, 1e-15);  // with the next, which touches it
  EXPECT_NEAR(*pairs[2].quadratic_bound, 2e-6 / 0.99, 1e-15);
  EXPECT_FALSE(pairs[3].quadratic_bound);
  eigen::set_quadratic_bounds(pairs, 6.0);
  EXPECT_NEAR(*pairs[3].quadratic_bound, 0.01 / 1, 1e-15);
  pairs[1].bound = nan;
  eigen::set_quadratic_bounds(pairs, 6.0);
  EXPECT_FALSE(pairs[0].quadratic_bound && pairs[1].quadratic_bound);
}

}  // namespace eigen_test
}  // namespace nodewise::test
