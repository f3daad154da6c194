// Real matrices, solved with the default options and compared with what PyAMG's defaults need, and
// beams with their rigid body modes.
//
// The matrices are not part of the repository: CMake's NODEWISE_MATRIX_DIR names the directory of
// their gzip'd Matrix Market files, and a matrix that is not there is skipped, which the output
// says.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/io/graph.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solver/presets.hpp"

#include "support.hpp"

namespace nodewise {
namespace {

using Matrix = std::shared_ptr<const matrix::DistMatrix<double>>;

enum class System {
  matrix,
  graph,   // the file is an adjacency matrix: its grounded Laplacian
  neumann  // singular, its null space is the constants
};

enum class Expectation {
  as_good_as_peer,  // in at most 1.5 times the iterations of the better of the peer's two methods
  convergence,      // elasticity and structures without their rigid body modes: any number
  diagnosis         // the peer fails: convergence, or an end that is explained
};

constexpr int fails = 0;

struct Case {
  const char* name;
  int ruge_stueben;  // iterations of the peer, or `fails`
  int aggregation;
  Expectation expectation = Expectation::as_good_as_peer;
  System system = System::matrix;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }
};

// Iterations of PyAMG 5.4.1 defaults: ruge_stuben_solver and smoothed_aggregation_solver as
// preconditioner of CG, of FGMRES where the matrix is not symmetric, to 1e-8 for a random
// right-hand side.
constexpr Case cases[] = {
    {"rail_79841", 59, 25},
    {"evsl_stiff1", 24, 15},
    {"restricted_channel_3d", 22, 12, Expectation::as_good_as_peer, System::neumann},
    {"bcsstk16", 42, 38, Expectation::convergence},
    {"bcsstk18", fails, 341, Expectation::convergence},
    {"nasa4704", fails, fails, Expectation::diagnosis},
    {"s1rmq4m1", 110, 148, Expectation::convergence},
    {"1138_bus", 33, 65},
    {"hypre_beam_tet_2475", 95, 101, Expectation::convergence},
    {"hypre_ams_edge", fails, fails, Expectation::diagnosis},
    {"pyamg_bar", 39, 39, Expectation::convergence},
    {"pyamg_ldg", 32, 59},
    {"ibmpg1", 42, 93},
    {"usroads-48", 41, 23, Expectation::as_good_as_peer, System::graph},
    {"ct2010", 51, 19, Expectation::as_good_as_peer, System::graph},
    {"delaunay_n16", 17, 23, Expectation::as_good_as_peer, System::graph},
    {"wave", 15, 13, Expectation::as_good_as_peer, System::graph},
    {"ca-CondMat", 15, 16, Expectation::as_good_as_peer, System::graph},
    {"memplus", 5, 215},
    {"cage11", 4, 4},
    {"bentpipe2d_100", 11, 13},
    {"cavity14", fails, fails, Expectation::diagnosis},
    {"sherman3", 13, 51},
    {"pflare_stream_2364", 27, fails},
    {"fem_beam_16k", 226, 213, Expectation::convergence},
    {"fem_beam_111k", fails, 423, Expectation::convergence},
    {"fem_dg_24k", 13, 20},
    {"fem_actii_poisson", 66, 21},
};

/// 1.5 times the better count, rounded down.
int iteration_limit(const Case& c) {
  if (c.ruge_stueben == fails) return 3 * c.aggregation / 2;
  if (c.aggregation == fails) return 3 * c.ruge_stueben / 2;
  return 3 * std::min(c.ruge_stueben, c.aggregation) / 2;
}

Matrix read_system(const Case& c, const std::string& path) {
  auto A = io::read_matrix<double>(test::test_comm(), path);
  if (c.system == System::graph) A = io::grounded_laplacian(A);
  return std::make_shared<const matrix::DistMatrix<double>>(std::move(A));
}

std::vector<double> right_hand_side(const Case& c, const comm::Layout& layout) {
  std::vector<double> b;
  for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
    b.push_back(hash_normal(static_cast<std::uint64_t>(i)));
  }
  if (c.system == System::neumann) {
    const double mean = mpi::sum(layout.comm(), std::accumulate(b.begin(), b.end(), 0.0)) /
                        static_cast<double>(layout.n_global());
    for (double& value : b) value -= mean;
  }
  return b;
}

/// Collective. |b - A x| / |b| from the entries and the whole of x, without the library's product.
double true_residual(const matrix::DistMatrix<double>& A, const std::vector<double>& x,
                     const std::vector<double>& b) {
  const auto all = mpi::concatenate_all(A.comm(), std::span<const double>(x));
  double squares[2] = {0, 0};
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    double r = b[static_cast<std::size_t>(i)];
    for (auto k = static_cast<std::size_t>(A.on().begin(i));
         k < static_cast<std::size_t>(A.on().end(i)); ++k) {
      r -= A.on().vals[k] * x[static_cast<std::size_t>(A.on().cols[k])];
    }
    for (auto k = static_cast<std::size_t>(A.off().begin(i));
         k < static_cast<std::size_t>(A.off().end(i)); ++k) {
      const GlobalIndex j = A.ghosts()[static_cast<std::size_t>(A.off().cols[k])];
      r -= A.off().vals[k] * all[static_cast<std::size_t>(j)];
    }
    squares[0] += r * r;
    squares[1] += b[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
  }
  mpi::sum_in_place<double>(A.comm(), squares);
  return std::sqrt(squares[0] / squares[1]);
}

struct Result {
  solve::Report report;
  double residual = 0;
  std::string error;  // of the setup
};

Result solve_with_defaults(const Case& c, const Matrix& A) {
  Result result;
  const std::vector<double> b = right_hand_side(c, A->rows());
  std::vector<double> x(b.size(), 0.0);
  try {
    const amg::Hierarchy<double> hierarchy(A, {});
    const char* method = matrix::is_symmetric(*A) ? "cg" : "gmres";
    result.report =
        solve::solve_by<double>(method, solve::MatrixOperator<double>(A), &hierarchy, b, x, {}, {});
  } catch (const Error& error) {  // the same on every rank
    result.error = error.what();
    return result;
  }
  result.residual = true_residual(*A, x, b);
  return result;
}

void expect_explained(const Result& result) {
  if (!result.error.empty() || result.report.converged()) return;
  EXPECT_FALSE(result.report.diagnosis.empty());
}

void expect_converged(const Case& c, const Result& result) {
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(result.report.converged()) << result.report.diagnosis;
  EXPECT_LE(result.residual, 1e-8);
  if (c.expectation == Expectation::as_good_as_peer) {
    EXPECT_LE(result.report.iterations, iteration_limit(c));
  }
}

class RealMatrices : public testing::TestWithParam<Case> {};

TEST_P(RealMatrices, AreSolvedByTheDefaults) {
  const Case& c = GetParam();
  const std::string path = std::string(NODEWISE_MATRIX_DIR) + "/" + c.name + ".mtx.gz";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "NOT TESTED: there is no " << path
                 << "; NODEWISE_MATRIX_DIR names the directory of the matrices";
  }
  // RealBeams solves the one that takes most with its modes, in few iterations, everywhere.
  if (c.aggregation > 400 && test::test_comm()->size() != 3) {
    GTEST_SKIP() << "on three ranks only, for its " << c.aggregation << " iterations";
  }
  const Matrix A = read_system(c, path);
  const Result result = solve_with_defaults(c, A);
  RecordProperty("iterations", result.report.iterations);
  if (test::test_comm()->is_root()) {
    std::printf("  %-22s %9lld rows  %-6s %4d iterations  residual %.1e  %s%s\n", c.name,
                static_cast<long long>(A->rows().n_global()), result.report.method.c_str(),
                result.report.iterations, result.residual, result.report.diagnosis.c_str(),
                result.error.c_str());
  }
  if (c.expectation == Expectation::diagnosis) {
    expect_explained(result);
  }
  if (c.expectation != Expectation::diagnosis || result.report.converged()) {
    expect_converged(c, result);
  }
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, RealMatrices, testing::ValuesIn(cases), test_name);

/// With its modes a beam takes as few iterations on any number of ranks; PyAMG 5.4.1 takes 33 and
/// 68 on one.
class RealBeams : public testing::TestWithParam<const char*> {};

TEST_P(RealBeams, TakeFewIterationsWithTheirModes) {
  const std::string beam = std::string(NODEWISE_MATRIX_DIR) + "/" + GetParam();
  for (const char* end : {".mtx.gz", "_rbm.mtx.gz", "_b.mtx.gz"}) {
    if (!std::filesystem::exists(beam + end))
      GTEST_SKIP() << "NOT TESTED: there is no " << beam + end;
  }
  amg::Options options;
  solver::apply_preset(solver::Preset::family().find("elasticity"), {.near_null_space = true}, 3,
                       {}, options);
  const auto A = std::make_shared<const matrix::DistMatrix<double>>(
      io::read_matrix<double>(test::test_comm(), beam + ".mtx.gz", {.together = options.unknowns}));
  auto modes = io::read_vectors<double>(A->rows(), beam + "_rbm.mtx.gz");
  amg::ProblemInfo<double> knowledge;
  knowledge.near_null_space = {modes.n_vectors, std::move(modes.values)};
  const std::vector<double> b = io::read_vectors<double>(A->rows(), beam + "_b.mtx.gz").values;
  std::vector<double> x(b.size(), 0.0);
  const amg::Hierarchy<double> hierarchy(A, options, std::move(knowledge));
  const solve::Report report =
      solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {}, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  EXPECT_LE(report.iterations, 30);
  EXPECT_LE(true_residual(*A, x, b), 1e-8);
}

INSTANTIATE_TEST_SUITE_P(, RealBeams, testing::Values("fem_beam_16k", "fem_beam_111k"));

}  // namespace
}  // namespace nodewise
