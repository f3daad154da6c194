// Aggregation with a restriction of its own, smoothed by the transposed matrix: on every layout
// against dense references, and hierarchies of it.
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "aggregate_support.hpp"
#include "framework.hpp"
#include "problem_support.hpp"
#include "prolongator_reference.hpp"

namespace nodewise::amg {
namespace amg_smoothed_restriction_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::DenseMatrix;
using test::distribute;
using test::expect_near;
using test::gathered;
using test::gathered_vectors;
using test::layouts_of_points;
using test::part_of_vectors;
using test::test_comm;
using test::whole_vectors;

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Matrix shared(DistMatrix<double> A) {
  return std::make_shared<const DistMatrix<double>>(std::move(A));
}

Options smoothed_options(int unknowns = 1) {
  Options options;
  options.method = "aggregation";
  options.set("restriction", "smoothed");
  options.unknowns = unknowns;
  options.set("aggregation_distance", 1);
  options.max_coarse_rows = 6;
  options.smoother = "gauss_seidel";
  return options;
}

/// Couplings that differ by direction, in the plane, of several unknowns at each point that are
/// coupled, too: all rows and columns have a diagonal that is large enough.
DenseMatrix nonsymmetric(int n, int unknowns) {
  const DenseMatrix A = test::model("laplace9", n);
  DenseMatrix system(A.rows() * unknowns, A.cols() * unknowns);
  for (GlobalIndex i = 0; i < system.rows(); ++i) {
    for (GlobalIndex j = 0; j < system.cols(); ++j) {
      const double coupling = i % unknowns == j % unknowns ? 1.0 : 0.2;
      const double skew = i == j ? 1.3 : i < j ? 1.35 : 0.6;
      system(i, j) = coupling * skew * A(i / unknowns, j / unknowns);
    }
  }
  return system;
}

/// Others than those on the right, and as far from dependent.
DenseMatrix left_vectors(GlobalIndex n, int vectors, int unknowns) {
  DenseMatrix B = whole_vectors(n, vectors, unknowns);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex k = 0; k < vectors; ++k) B(i, k) *= 1 + 0.1 * double((3 * i + k) % 5);
  }
  return B;
}

/// Damped Jacobi on A B = 0, as NearNullSpace::improved() does it.
DenseMatrix reference_improved(const DenseMatrix& A, DenseMatrix B, int sweeps, double radius) {
  return test::reference_smoothed(A, std::move(B), 4.0 / 3.0 / radius, sweeps);
}

struct Case {
  int unknowns, vectors;
  int sweeps = 1;
  int candidate_sweeps = 0;
  bool filter = false;
};

/// The transposed restriction by the definition, and what it leaves to the next level.
struct LeftReference {
  DenseMatrix P, coarse;
};

LeftReference reference_left(const DenseMatrix& At, const DenseMatrix& B, const Case& c,
                             const GridTransfer<double>& transfer, const Layout& rows,
                             const Options& options) {
  const std::vector<int> of_point =
      test::gathered_numbers(*test_comm(), transfer.aggregates->of_point);
  const int n_aggregates = static_cast<int>(transfer.aggregates->layout.n_global());
  const double radius = transfer.spectral_radius;
  const auto& own = options.method.options<AggregationOptions>();
  const DenseMatrix candidates = reference_improved(At, B, c.candidate_sweeps, radius);
  const test::Reference T =
      test::reference_tentative(of_point, n_aggregates, c.unknowns, candidates);
  if (!c.filter) {
    return {test::reference_smoothed(At, T.Q, own.prolongation_weight / radius, c.sweeps), T.R};
  }
  const auto graph = point_graph(distribute(At, rows), c.unknowns, own);
  const auto marks = test::gathered_marks(graph.matrix(distribute(At, rows)), graph.strength);
  const DenseMatrix filtered = test::reference_filtered(At, marks, c.unknowns);
  const double of_filtered =
      spectral_radius(distribute(filtered, rows), spectrum_options(false, options));
  return {test::reference_smoothed(filtered, T.Q, own.prolongation_weight / of_filtered, c.sweeps),
          T.R};
}

TEST(SmoothedRestriction, IsThatOfTheReferenceOnEveryLayout) {
  const int n = 6;
  for (const Case& c : {Case{1, 1}, Case{1, 2, 2}, Case{2, 2, 1, 3}, Case{2, 3, 1, 0, true},
                        Case{1, 1, 0}, Case{1, 1, 1, 2, true}}) {
    const DenseMatrix values = nonsymmetric(n, c.unknowns);
    const DenseMatrix right = whole_vectors(values.rows(), c.vectors, c.unknowns);
    const DenseMatrix left = left_vectors(values.rows(), c.vectors, c.unknowns);
    Options options = smoothed_options(c.unknowns);
    options.set("prolongation_sweeps", c.sweeps);
    options.set("candidate_sweeps", c.candidate_sweeps);
    options.set("filter_prolongation", c.filter);
    if (c.filter) options.set("aggregation_threshold", 0.12);
    const std::string what = std::to_string(c.unknowns) + " unknowns, " +
                             std::to_string(c.vectors) + " vectors, " + std::to_string(c.sweeps) +
                             " sweeps" + (c.filter ? ", filtered" : "");
    for (const Layout& rows : layouts_of_points(GlobalIndex{n} * n, c.unknowns)) {
      const DistMatrix<double> A = distribute(values, rows);
      ProblemInfo<double> knowledge;
      knowledge.near_null_space = part_of_vectors<double>(rows, right);
      knowledge.left_near_null_space = part_of_vectors<double>(rows, left);
      knowledge.symmetric = false;
      const GridTransfer<double> transfer = aggregation_transfer(A, knowledge, options);
      ASSERT_NE(transfer.R, nullptr);
      test::expect_invariants(*transfer.R);
      EXPECT_TRUE(transfer.R->rows() == transfer.P->cols());
      EXPECT_TRUE(transfer.R->cols() == A.rows());
      const LeftReference expected =
          reference_left(values.transpose(), left, c, transfer, rows, options);
      expect_near(gathered(*transfer.R).transpose(), expected.P, 1e-12, "R, " + what);
      expect_near(gathered_vectors(*test_comm(), transfer.coarse_left_near_null_space),
                  expected.coarse, 1e-12, "left candidates, " + what);
      const LeftReference of_P = reference_left(values, right, c, transfer, rows, options);
      expect_near(gathered(*transfer.P), of_P.P, 1e-12, "P, " + what);
      EXPECT_GT(test::norm(gathered(*transfer.R).transpose() - of_P.P), 1e-3) << what;
      // Without left vectors those on the right are taken.
      knowledge.left_near_null_space = {};
      const LeftReference same =
          reference_left(values.transpose(), right, c, transfer, rows, options);
      const GridTransfer<double> by_right = aggregation_transfer(A, knowledge, options);
      expect_near(gathered(*by_right.R).transpose(), same.P, 1e-12, "R by right vectors, " + what);
    }
  }
}

TEST(SmoothedRestriction, LevelsAreProductsAndPassTheirVectorsOn) {
  const DenseMatrix values = nonsymmetric(8, 2);
  const DenseMatrix left = left_vectors(128, 2, 2);
  for (const Layout& rows : layouts_of_points(64, 2)) {
    ProblemInfo<double> knowledge;
    knowledge.near_null_space = part_of_vectors<double>(rows, whole_vectors(128, 2, 2));
    knowledge.left_near_null_space = part_of_vectors<double>(rows, left);
    const Options options = smoothed_options(2);
    const Matrix A = shared(distribute(values, rows));
    const Hierarchy<double> hierarchy(A, options, knowledge);
    ASSERT_GE(hierarchy.levels().size(), 3U);
    knowledge.symmetric = false;
    const GridTransfer<double> first = aggregation_transfer(*A, knowledge, options);
    ProblemInfo<double> below;
    below.near_null_space = first.coarse_near_null_space;
    below.left_near_null_space = first.coarse_left_near_null_space;
    below.unknowns = first.coarse_unknowns;
    below.symmetric = false;
    const GridTransfer<double> second = aggregation_transfer(*hierarchy.matrix(1), below, options);
    expect_near(gathered(*hierarchy.restriction(0)), gathered(*first.R), 1e-14, "first R");
    expect_near(gathered(*hierarchy.restriction(1)), gathered(*second.R), 1e-14, "second R");
    for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
      const DenseMatrix product = gathered(*hierarchy.restriction(l)) *
                                  gathered(*hierarchy.matrix(l)) *
                                  gathered(*hierarchy.interpolation(l));
      expect_near(gathered(*hierarchy.matrix(l + 1)), product, 1e-12, "coarse matrix");
    }
  }
}

/// S L with a Laplacian L of a graph and a diagonal S: it maps constants to zero, and its transpose
/// the inverse of S.
TEST(SmoothedRestriction, KeepsNullVectorsOfBothSides) {
  const int n = 7;
  DenseMatrix values = test::model("laplace5", n);
  DenseMatrix left(n * n);
  for (GlobalIndex i = 0; i < n * n; ++i) {
    double others = 0;
    for (GlobalIndex j = 0; j < n * n; ++j) others += i == j ? 0 : values(i, j);
    values(i, i) = -others;
    const double scale = 0.5 + double(i % 4);
    left[i] = 1 / scale;
    for (GlobalIndex j = 0; j < n * n; ++j) values(i, j) *= scale;
  }
  for (const Layout& rows : layouts_of_points(n * n, 1)) {
    ProblemInfo<double> knowledge;
    knowledge.left_near_null_space = part_of_vectors<double>(rows, left);
    knowledge.symmetric = false;
    const auto transfer =
        aggregation_transfer(distribute(values, rows), knowledge, smoothed_options());
    const DenseMatrix R = gathered(*transfer.R), P = gathered(*transfer.P);
    const DenseMatrix coarse = R * values * P;
    const DenseMatrix of_right = gathered_vectors(*test_comm(), transfer.coarse_near_null_space);
    const DenseMatrix of_left =
        gathered_vectors(*test_comm(), transfer.coarse_left_near_null_space);
    expect_near(R.transpose() * of_left, left, 1e-13, "left vector");
    EXPECT_LT(test::norm(coarse * of_right), 1e-12);
    EXPECT_LT(test::norm(coarse.transpose() * of_left), 1e-12);
  }
}

TEST(SmoothedRestriction, OfASymmetricMatrixIsTheTransposedProlongation) {
  const test::Framework framework(7, 8, true);
  for (const bool filter : {false, true}) {
    for (const Layout& rows : layouts_of_points(56, 2)) {
      Options options = smoothed_options(2);
      options.set("candidate_sweeps", 2);
      options.set("filter_prolongation", filter);
      options.smoother = "chebyshev";
      const Matrix A = shared(distribute(framework.A, rows));
      const Hierarchy<double> smoothed(A, options, test::rigid_knowledge(framework, rows));
      options.set("restriction", "transposed");
      const Hierarchy<double> transposed(A, options, test::rigid_knowledge(framework, rows));
      ASSERT_EQ(smoothed.levels().size(), transposed.levels().size());
      ASSERT_GE(smoothed.levels().size(), 3U);
      for (std::size_t l = 0; l < smoothed.levels().size(); ++l) {
        expect_near(gathered(*smoothed.matrix(l)), gathered(*transposed.matrix(l)), 1e-11, "A");
        EXPECT_EQ(transposed.restriction(l), nullptr);
        if (smoothed.interpolation(l) == nullptr) continue;
        const DenseMatrix P = gathered(*smoothed.interpolation(l));
        expect_near(gathered(*smoothed.restriction(l)).transpose(), P, 1e-12, "R");
        expect_near(P, gathered(*transposed.interpolation(l)), 1e-11, "P");
      }
    }
  }
}

/// Two rows and three vectors in single points: the third is empty on both sides; where two vectors
/// are the same on one side, another one is on this side alone.
TEST(SmoothedRestriction, TreatsVectorsThatDependOnEachOtherOnOneSide) {
  DenseMatrix values = nonsymmetric(5, 2);
  const GlobalIndex n = values.rows();
  for (const bool on_left : {false, true}) {
    DenseMatrix full = left_vectors(n, 2, 2), half = full;
    for (GlobalIndex i = 0; i < n; ++i) half(i, 1) = 2 * half(i, 0);
    for (const Layout& rows : layouts_of_points(25, 2)) {
      ProblemInfo<double> knowledge;
      knowledge.near_null_space = part_of_vectors<double>(rows, on_left ? full : half);
      knowledge.left_near_null_space = part_of_vectors<double>(rows, on_left ? half : full);
      const Matrix A = shared(distribute(values, rows));
      Hierarchy<double> hierarchy(A, smoothed_options(2), knowledge);
      ASSERT_GE(hierarchy.levels().size(), 2U);
      const DenseMatrix coarse = gathered(*hierarchy.matrix(1));
      const DenseMatrix R = gathered(*hierarchy.restriction(0));
      DenseMatrix expected = R * values * gathered(*hierarchy.interpolation(0));
      for (GlobalIndex i = 1; i < expected.rows(); i += 2) {
        EXPECT_NEAR(expected(i, i), 0, 1e-13);
        expected(i, i) = expected(i - 1, i - 1);
        // The other side has the vector: its row, or its column, is not empty.
        double row = 0;
        for (GlobalIndex j = 0; j < R.cols(); ++j) row += std::abs(R(i, j));
        EXPECT_EQ(row > 0, !on_left);
      }
      expect_near(coarse, expected, 1e-12, "coarse matrix");
      hierarchy.rebuild(A);
      EXPECT_EQ(gathered(*hierarchy.matrix(1)), coarse);
      const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
      std::vector<double> x(b.size());
      const solve::MatrixOperator<double> product(A);
      EXPECT_TRUE(solve::gmres<double>(product, &hierarchy, b, x, {}).converged());
    }
  }
}

TEST(EmptyColumns, GetADiagonal) {
  DenseMatrix values = nonsymmetric(2, 2);
  for (GlobalIndex i = 0; i < 8; ++i) values(i, 3) = 0;
  for (const Layout& rows : layouts_of_points(4, 2)) {
    const auto A = distribute(values, rows);
    std::vector<LocalIndex> empty;
    if (rows.owns(rows.first() + 3)) empty.push_back(rows.to_local(rows.first() + 3));
    DenseMatrix expected = values;
    expect_near(gathered(aggregate::with_unit_rows(A, 2)), expected, 0, "row with entries");
    // No stored diagonal entry: nothing to set.
    const auto stored = matrix::transpose(distribute(values.transpose(), rows));
    expect_near(gathered(aggregate::with_unit_rows(stored, 2, empty)), expected, 0, "not stored");
    expected(3, 3) = expected(2, 2);
    DenseMatrix marked = values;
    marked(3, 3) = 1;
    auto with_place = distribute(marked, rows);
    Array<double> on = with_place.on().vals, off = with_place.off().vals;
    for (const LocalIndex i : empty) {
      for (Offset k = with_place.on().begin(i); k < with_place.on().end(i); ++k) {
        if (with_place.on().cols[static_cast<std::size_t>(k)] == i) {
          on[static_cast<std::size_t>(k)] = 0;
        }
      }
    }
    with_place = with_place.with_values(std::move(on), std::move(off));
    expect_near(gathered(aggregate::with_unit_rows(with_place, 2, empty)), expected, 0, "unit");
  }
}

io::GalleryOptions flow(int n, double diffusion) {
  return test::flow_problem("convection2d", n,
                            {.diffusion = diffusion, .flow = test::Flow::rotating});
}

int iterations(const io::GalleryOptions& problem, Options options, const char* restriction) {
  options.set("restriction", restriction);
  const Matrix A = shared(io::generate<double>(test_comm(), problem));
  const Hierarchy<double> M(A, options);
  const std::vector<double> b = test::part_of(A->rows(), test::hashed(A->rows().n_global(), 4));
  std::vector<double> x(b.size());
  const auto report = solve::gmres<double>(solve::MatrixOperator<double>(A), &M, b, x, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  return report.iterations;
}

TEST(SmoothedRestriction, ConvergesWhereThingsFlow) {
  Options options = smoothed_options();
  options.set("aggregation_distance", 2);
  options.smoother = "jacobi";  // the same on any number of ranks
  for (const double diffusion : {1.0, 1e-2}) {
    const int coarse = iterations(flow(16, diffusion), options, "smoothed");
    const int fine = iterations(flow(48, diffusion), options, "smoothed");
    EXPECT_LE(fine, coarse + 12) << diffusion;
    EXPECT_LE(fine, iterations(flow(48, diffusion), options, "transposed") + 2);
  }
}

void expect_same_bits(const DistMatrix<double>& A, const DistMatrix<double>& B) {
  test::expect_same_bits(A.on(), B.on(), "own columns");
  test::expect_same_bits(A.off(), B.off(), "ghost columns");
}

/// Other values on the same pattern.
Matrix changed(const DistMatrix<double>& A) {
  Array<double> on = A.on().vals, off = A.off().vals;
  for (std::size_t k = 0; k < on.size(); ++k) on[k] *= 1 + 0.1 * hash_uniform(k, 1);
  for (double& value : off) value *= 0.9;
  return shared(A.with_values(std::move(on), std::move(off)));
}

TEST(SmoothedRestriction, RebuildsTheSameBits) {
  const Matrix A = shared(io::generate<double>(test_comm(), flow(20, 1e-2)));
  const Matrix B = changed(*A);
  for (const std::string smoother : {"gauss_seidel", "chebyshev"}) {
    Options options = smoothed_options();
    options.smoother = smoother;
    options.set("candidate_sweeps", 2);
    options.set("filter_prolongation", smoother == "chebyshev");
    const Hierarchy<double> fresh(A, options);
    ASSERT_GE(fresh.levels().size(), 3U);
    Hierarchy<double> hierarchy(A, options);
    for (int step = 0; step < 2; ++step) {
      hierarchy.rebuild(B);
      for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
        expect_same_bits(*hierarchy.restriction(l), *fresh.restriction(l));
        expect_same_bits(
            *hierarchy.matrix(l + 1),
            matrix::multiply(*hierarchy.restriction(l),
                             matrix::multiply(*hierarchy.matrix(l), *hierarchy.interpolation(l))));
      }
      hierarchy.rebuild(A);
      for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
        expect_same_bits(*hierarchy.matrix(l), *fresh.matrix(l));
      }
    }
    hierarchy.rebuild(B, Reuse::splitting);
    EXPECT_NE(gathered(*hierarchy.restriction(0)), gathered(*fresh.restriction(0)));
    hierarchy.rebuild(A, Reuse::splitting);
    for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
      expect_same_bits(*hierarchy.matrix(l), *fresh.matrix(l));
      if (fresh.restriction(l)) expect_same_bits(*hierarchy.restriction(l), *fresh.restriction(l));
    }
    const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
    std::vector<double> x(b.size()), y(b.size());
    fresh.apply(b, x);
    hierarchy.apply(b, y);
    EXPECT_EQ(x, y);
  }
}

TEST(SmoothedRestriction, IsNoSymmetricOperator) {
  Options options = smoothed_options();
  EXPECT_EQ(asymmetry_of(options), "restriction smoothed");
  options.set("restriction", "transposed");
  EXPECT_EQ(asymmetry_of(options), "");
  options.set("restriction", "smoothed");
  options.method = "classical";  // which has no use for it
  EXPECT_EQ(asymmetry_of(options), "");
}

TEST(SmoothedRestriction, WorksInSinglePrecisionAndUnderEveryCycle) {
  const Matrix A = shared(io::generate<double>(test_comm(), flow(24, 1e-1)));
  const std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0);
  for (const std::string cycle : {"v", "w", "f", "k"}) {
    Options options = smoothed_options();
    options.cycle = cycle;
    options.precision = Precision::single;
    const Hierarchy<double> M(A, options);
    std::vector<double> x(b.size());
    const auto report = solve::fgmres<double>(solve::MatrixOperator<double>(A), &M, b, x, {});
    EXPECT_TRUE(report.converged());
  }
  Options options = smoothed_options();
  options.precision = Precision::automatic;
  const Hierarchy<double> nonsymmetric_one(A, options);
  EXPECT_FALSE(nonsymmetric_one.precision().single);
  const Matrix L = shared(io::generate<double>(test_comm(), {.problem = "laplace9", .n = 16}));
  const Hierarchy<double> symmetric_one(L, options);
  EXPECT_FALSE(symmetric_one.precision().single);
  EXPECT_NE(symmetric_one.precision().reason.find("restriction"), std::string::npos);
}

TEST(SmoothedRestriction, RefusesLeftVectorsThatDoNotFit) {
  const Layout layout = Layout::uniform(test_comm(), 18);
  const Matrix A = shared(distribute(nonsymmetric(3, 2), layout));
  const auto refused = [&](const ProblemInfo<double>& knowledge, int unknowns) {
    return test::expect_same_error(*test_comm(), ErrorCode::dimension_mismatch, [&] {
      Hierarchy<double>(A, smoothed_options(unknowns), knowledge);
    });
  };
  ProblemInfo<double> knowledge;
  knowledge.left_near_null_space = part_of_vectors<double>(layout, whole_vectors(18, 2, 1));
  EXPECT_NE(refused(knowledge, 1).find("2 vectors, and the other one 1"), std::string::npos);
  if (test_comm()->rank() == 0) knowledge.left_near_null_space.values.push_back(1);
  knowledge.near_null_space = part_of_vectors<double>(layout, whole_vectors(18, 2, 1));
  EXPECT_NE(refused(knowledge, 1).find("left near null space has"), std::string::npos);
}

TEST(NearNullSpaceErrors, NameVectorsThatAreOfNoUse) {
  const Layout layout = Layout::uniform(test_comm(), 18);
  const Matrix A = shared(distribute(nonsymmetric(3, 2), layout));
  const auto refused = [&](ErrorCode code, const NearNullSpace<double>& right,
                           const NearNullSpace<double>& left = {}) {
    ProblemInfo<double> knowledge;
    knowledge.near_null_space = right;
    knowledge.left_near_null_space = left;
    return test::expect_same_error(*test_comm(), code,
                                   [&] { Hierarchy<double>(A, smoothed_options(1), knowledge); });
  };
  const auto good = part_of_vectors<double>(layout, whole_vectors(18, 2, 1));
  auto zero = good, infinite = good;
  for (std::size_t i = 1; i < zero.values.size(); i += 2) zero.values[i] = 0;
  if (!infinite.values.empty()) infinite.values[0] = std::numeric_limits<double>::infinity();
  const std::string of_zero = refused(ErrorCode::invalid_argument, zero);
  EXPECT_NE(of_zero.find("vector 2 of the near null space is zero"), std::string::npos) << of_zero;
  const std::string of_left = refused(ErrorCode::invalid_argument, good, infinite);
  EXPECT_NE(of_left.find("vector 1 of the left near null space has a value that is not a finite"),
            std::string::npos)
      << of_left;
  if (test_comm()->size() == 1) return;
  NearNullSpace<double> fewer = good;
  if (test_comm()->rank() == 1) fewer = part_of_vectors<double>(layout, whole_vectors(18, 1, 1));
  refused(ErrorCode::dimension_mismatch, fewer);
}

}  // namespace amg_smoothed_restriction_test
}  // namespace nodewise::amg
