// Hierarchies by every coarsening and interpolation, seen from outside.
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace amg_classical_test {

using matrix::DistMatrix;
using test::test_comm;

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Matrix make(const std::shared_ptr<const mpi::Comm>& comm, const std::string& problem, int n) {
  return std::make_shared<const DistMatrix<double>>(
      io::generate<double>(comm, {.problem = problem, .n = n}));
}

std::vector<GlobalIndex> level_sizes(const Hierarchy<double>& hierarchy) {
  std::vector<GlobalIndex> sizes;
  for (const LevelInfo& level : hierarchy.levels()) sizes.push_back(level.rows);
  return sizes;
}

/// Collective. Iterations of CG to eight digits for a right-hand side of ones.
int iterations(const Matrix& A, const Options& options) {
  const Hierarchy<double> hierarchy(A, options);
  const auto n = static_cast<std::size_t>(A->n_local());
  const std::vector<double> b(n, 1.0);
  std::vector<double> x(n, 0.0);
  const auto report = solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  return report.iterations;
}

TEST(Classical, EveryCoarseningConverges) {
  for (const std::string problem : {"laplace27", "rotated_fe"}) {
    const Matrix A = make(test_comm(), problem, problem == "laplace27" ? 10 : 40);
    for (const std::string& coarsening : CoarseningMethod::family().names()) {
      Options options;
      options.set("coarsening", coarsening);
      EXPECT_LE(iterations(A, options), 18) << coarsening;
    }
  }
}

// Those that need fine points with coarse points in common, with a coarsening that gives them.
TEST(Classical, EveryInterpolationConverges) {
  const Matrix A = make(test_comm(), "laplace27", 12);
  for (const std::string& interpolation : InterpolationMethod::family().names()) {
    if (interpolation == "one_point") continue;  // which is for other restrictions
    Options options;
    options.set("coarsening", "falgout");
    options.set("interpolation", interpolation);
    EXPECT_LE(iterations(A, options), 10) << interpolation;
  }
}

TEST(Classical, AggressiveLevelsAreMuchSmaller) {
  const Matrix A = make(test_comm(), "laplace7", 16);
  for (const char* coarsening : {"hmis", "pmis"}) {
    Options options;
    options.set("coarsening", coarsening);
    options.set("aggressive_levels", 1);
    GlobalIndex before = 0;
    for (const int paths : {1, 2}) {
      options.set("aggressive_paths", paths);
      const Hierarchy<double> hierarchy(A, options);
      const auto sizes = level_sizes(hierarchy);
      ASSERT_GT(sizes.size(), 2U);
      EXPECT_LT(6 * sizes[1], sizes[0]) << "paths " << paths;
      EXPECT_GT(sizes[1], before);
      Options twice = options;
      twice.set("aggressive_levels", 2);
      const auto smaller = level_sizes(Hierarchy<double>(A, twice));
      EXPECT_EQ(smaller[1], sizes[1]);
      EXPECT_LT(smaller[2], sizes[2]);
      EXPECT_LE(iterations(A, options), 25);
      before = sizes[1];
    }
  }
}

TEST(Classical, AsManyVirtualRanksCoarsenAggressivelyAlike) {
  Options options;
  options.set("aggressive_levels", 2);
  options.set("max_interpolation_entries", 0);
  options.max_coarse_rows = 10;
  for (const std::string& coarsening : CoarseningMethod::family().names()) {
    options.set("coarsening", coarsening);
    const Hierarchy<double> real(make(test_comm(), "laplace9", 30), options);
    ProblemInfo<double> knowledge;
    knowledge.virtual_starts = comm::uniform_starts(900, test_comm()->size());
    const Hierarchy<double> alone(make(test::self_comm(), "laplace9", 30), options,
                                  std::move(knowledge), {});
    EXPECT_EQ(level_sizes(alone), level_sizes(real)) << coarsening;
  }
}

// PMIS and CLJP draw weights from global indices.
TEST(Classical, SomeHierarchiesAreThoseOfOneRank) {
  Options options;
  for (const int entries : {0, 4}) {  // of a row of the interpolation; equal weights are the rule
    options.set("max_interpolation_entries", entries);
    for (const char* coarsening : {"pmis", "cljp"}) {
      options.set("coarsening", coarsening);
      for (const int aggressive : {0, 1}) {
        options.set("aggressive_levels", aggressive);
        const int n = entries == 0 ? 9 : 15;
        const Hierarchy<double> real(make(test_comm(), "laplace7", n), options);
        const Hierarchy<double> alone(make(test::self_comm(), "laplace7", n), options);
        EXPECT_EQ(level_sizes(alone), level_sizes(real))
            << coarsening << ", " << entries << " entries";
      }
    }
  }
}

}  // namespace amg_classical_test
}  // namespace nodewise::amg
