// The PC type nodewise beside the library called directly, which this program links on its own:
// applications are to be the same to the bit, and iterations the same.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/matrix/assemble.hpp"
#include "nodewise/solver/solver.hpp"

#include "petsc_support.hpp"
#include "support.hpp"

namespace nodewise::test {
namespace {

using testing::HasSubstr;

/// With what the PC sets that no option says.
solver::Options library_options(const solver::NamedValues& values = {}) {
  solver::Options options;
  options.set("precision", "same");
  for (const auto& [name, value] : values) options.set(name, value);
  return options;
}

std::string petsc_options(const solver::NamedValues& values, const char* before = "-pc_nodewise_") {
  std::string text;
  for (const auto& [name, value] : values) text += before + name + " " + value + " ";
  return text;
}

std::vector<double> applied(const Solver& solver, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  solver.precondition(x, y);
  return y;
}

/// Of the library's own conjugate gradients.
int library_iterations(Solver& solver, const std::vector<double>& b) {
  std::vector<double> x(b.size(), 0.0);
  const solver::SolveRecord& record = solver.solve(b, x);
  EXPECT_TRUE(record.converged()) << record.report().diagnosis;
  EXPECT_EQ(record.method.name(), "cg");
  return record.iterations();
}

int petsc_iterations(KSP ksp, Mat A, const std::vector<double>& b) {
  const PetscVector rhs = petsc_vector(A, b), x = petsc_vector(A, b);
  expect_ok(KSPSolve(ksp, rhs, x));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  expect_ok(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
  PetscInt iterations = 0;
  expect_ok(KSPGetIterationNumber(ksp, &iterations));
  return static_cast<int>(iterations);
}

/// The matrix with each row and column scaled, and what is added to the diagonal.
DoubleMatrixPointer with_other_values(const DoubleMatrix& A, double factor, double shift) {
  Array<double> on(A.on().vals), off(A.off().vals);
  for (double& value : on) value *= factor;
  for (double& value : off) value *= factor;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const GlobalIndex row = A.rows().to_global(i);
      if (A.on().cols[at] == i) on[at] += shift * static_cast<double>(1 + row % 3);
    }
  }
  return std::make_shared<const DoubleMatrix>(A.with_values(std::move(on), std::move(off)));
}

struct Case {
  io::GalleryOptions problem;
  solver::NamedValues options;
};

std::vector<Case> cases() {
  return {{{.problem = "laplace5", .n = 60}, {}},
          {{.problem = "laplace27", .n = 12}, {{"smoother", "chebyshev"}}},
          {{.problem = "rotated_fe", .n = 50}, {{"preset", "default"}, {"smoother", "jacobi"}}},
          {{.problem = "laplace7", .n = 12}, {{"method", "aggregation"}}},
          {{.problem = "laplace5", .n = 40}, {{"partition", "strided"}, {"preset", "default"}}},
          {{.problem = "laplace5", .n = 30}, {{"preconditioner", "jacobi"}}}};
}

TEST(PetscPcTest, IteratesAsTheLibraryDoes) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(io::in_words(c.problem) + " " + petsc_options(c.options));
    const DoubleMatrixPointer A = model_problem(c.problem);
    const PetscMatrix copy = petsc_matrix(*A);
    const std::vector<double> b = random_vector(A->rows());
    Solver solver(A, library_options(c.options));
    const PetscSolver ksp = nodewise_cg(copy, petsc_options(c.options));
    const int iterations = petsc_iterations(ksp, copy, b);
    EXPECT_EQ(iterations, library_iterations(solver, b));
    PC pc = nullptr;
    expect_ok(KSPGetPC(ksp, &pc));
    EXPECT_EQ(applied(pc, copy, b), applied(solver, b));
  }
}

TEST(PetscPcTest, TakesOptionsByTheirShortNamesToo) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const PetscMatrix copy = petsc_matrix(*A);
  const std::vector<double> x = random_vector(A->rows());
  const solver::NamedValues options = {{"smoother", "chebyshev"}, {"chebyshev_degree", "3"}};
  const PetscPc pc = nodewise_pc(copy, petsc_options(options, "-nodewise_"));
  expect_ok(PCSetFromOptions(pc));
  EXPECT_EQ(applied(pc, copy, x), applied(Solver(A, library_options(options)), x));
  // The long name wins.
  const PetscPc both =
      nodewise_pc(copy, petsc_options(options) + " -nodewise_smoother jacobi -pc_nodewise_seed 0");
  expect_ok(PCSetFromOptions(both));
  EXPECT_EQ(applied(both, copy, x), applied(pc, copy, x));
}

TEST(PetscPcTest, TakesFlagsWithoutAValue) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const PetscMatrix copy = petsc_matrix(*A);
  const std::vector<double> x = random_vector(A->rows());
  const solver::NamedValues options = {{"method", "aggregation"}, {"filter_prolongation", "true"}};
  const PetscPc pc =
      nodewise_pc(copy, "-pc_nodewise_method aggregation -pc_nodewise_filter_prolongation");
  expect_ok(PCSetFromOptions(pc));
  EXPECT_EQ(applied(pc, copy, x), applied(Solver(A, library_options(options)), x));
}

TEST(PetscPcTest, RefusesOptionsThatItDoesNotHave) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 8});
  const PetscMatrix copy = petsc_matrix(*A);
  const auto refusal = [&](const std::string& options) {
    const PetscPc pc = nodewise_pc(copy, options);
    return same_error_text([&] { return PCSetFromOptions(pc); });
  };
  EXPECT_THAT(refusal("-pc_nodewise_smother jacobi"), HasSubstr("pc_nodewise_smoother"));
  EXPECT_THAT(refusal("-nodewise_smother jacobi"), HasSubstr("nodewise_smother"));
  EXPECT_THAT(refusal("-pc_nodewise_smoother sor"), HasSubstr("l1_gauss_seidel"));
  EXPECT_THAT(refusal("-pc_nodewise_max_levels 0"), HasSubstr("[1, 100]"));
  EXPECT_THAT(refusal("-pc_nodewise_strength_threshold"), HasSubstr("strength_threshold"));
  EXPECT_THAT(refusal("-pc_nodewise_tolerance 1e-3"), HasSubstr("-ksp_rtol"));
  EXPECT_THAT(refusal("-pc_nodewise_device cuda"), HasSubstr("PETSc's to choose"));
}

TEST(PetscPcTest, NamesOptionsWithTheirPrefixInErrors) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 8});
  const PetscMatrix copy = petsc_matrix(*A);
  const PetscPc pc = nodewise_pc(copy, "-pc_nodewise_max_levels 0");
  const char* prefix = nullptr;
  expect_ok(PCGetOptionsPrefix(pc, &prefix));
  EXPECT_THAT(same_error_text([&] { return PCSetFromOptions(pc); }),
              HasSubstr(std::string("-") + prefix + "pc_nodewise_max_levels"));
}

TEST(PetscPcTest, SetsUpAgainForNewValuesAtTheSamePlaces) {
  const DoubleMatrixPointer A = model_problem({.problem = "rotated_fe", .n = 30});
  const PetscMatrix copy = petsc_matrix(*A);
  const DoubleMatrixPointer next = with_other_values(*A, 3, 0.2);
  const std::vector<double> x = random_vector(A->rows());
  const std::vector<std::pair<std::string, std::optional<amg::Reuse>>> ways = {
      {"", amg::Reuse::interpolation},
      {"-pc_nodewise_reuse interpolation", amg::Reuse::interpolation},
      {"-pc_nodewise_reuse splitting", amg::Reuse::splitting},
      {"-pc_nodewise_reuse none", std::nullopt}};
  std::vector<std::vector<double>> results;
  for (const auto& [options, reuse] : ways) {
    put_values(copy, *A);
    const PetscPc pc = nodewise_pc(copy, options);
    expect_ok(PCSetFromOptions(pc));
    Solver solver(A, library_options());
    EXPECT_EQ(applied(pc, copy, x), applied(solver, x));
    put_values(copy, *next);
    expect_ok(PCSetUp(pc));
    if (reuse) {
      solver.rebuild(next, *reuse);
    } else {
      solver = Solver(next, library_options());
    }
    results.push_back(applied(pc, copy, x));
    EXPECT_EQ(results.back(), applied(solver, x)) << options;
  }
  EXPECT_NE(results[0], results[2]);  // or nothing tells the ways apart
  EXPECT_NE(results[0], results[3]);
}

TEST(PetscPcTest, IsReusedAsItIsWhereThatIsAskedFor) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const PetscMatrix copy = petsc_matrix(*A);
  const std::vector<double> x = random_vector(A->rows());
  const PetscPc pc = nodewise_pc(copy);
  const std::vector<double> before = applied(pc, copy, x);
  put_values(copy, *with_other_values(*A, 3, 0.2));
  expect_ok(PCSetReusePreconditioner(pc, PETSC_TRUE));
  EXPECT_EQ(applied(pc, copy, x), before);
  expect_ok(PCSetReusePreconditioner(pc, PETSC_FALSE));
  EXPECT_NE(applied(pc, copy, x), before);
}

TEST(PetscPcTest, SetsUpAnewForOtherPlacesOrOptions) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const DoubleMatrixPointer B = model_problem({.problem = "laplace9", .n = 20});
  const PetscMatrix first = petsc_matrix(*A), second = petsc_matrix(*B);
  const std::vector<double> x = random_vector(A->rows());
  const PetscPc pc = nodewise_pc(first);
  EXPECT_EQ(applied(pc, first, x), applied(Solver(A, library_options()), x));
  expect_ok(PCSetOperators(pc, second, second));
  EXPECT_EQ(applied(pc, second, x), applied(Solver(B, library_options()), x));
  const char* prefix = nullptr;
  expect_ok(PCGetOptionsPrefix(pc, &prefix));
  const std::string name = std::string("-") + prefix + "pc_nodewise_smoother";
  expect_ok(PetscOptionsSetValue(nullptr, name.c_str(), "chebyshev"));
  expect_ok(PCSetFromOptions(pc));
  const DoubleMatrixPointer next = with_other_values(*B, 2, 0);
  put_values(second, *next);
  EXPECT_EQ(applied(pc, second, x),
            applied(Solver(next, library_options({{"smoother", "chebyshev"}})), x));
  expect_ok(PCReset(pc));
  expect_ok(PCSetOperators(pc, first, first));
  EXPECT_EQ(applied(pc, first, x),
            applied(Solver(A, library_options({{"smoother", "chebyshev"}})), x));
}

TEST(PetscPcTest, IsItsOwnTransposeWhereItIsSymmetric) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const PetscMatrix copy = petsc_matrix(*A);
  const PetscPc pc = nodewise_pc(copy);
  const PetscVector x = petsc_vector(copy, random_vector(A->rows(), 1));
  const PetscVector y = petsc_vector(copy, random_vector(A->rows(), 2));
  const PetscVector Mx = petsc_vector(copy, {}), My = petsc_vector(copy, {});
  expect_ok(PCApply(pc, x, Mx));
  expect_ok(PCApplyTranspose(pc, y, My));
  double one = 0, other = 0;
  expect_ok(VecDot(Mx, y, &one));
  expect_ok(VecDot(x, My, &other));
  EXPECT_NEAR(one, other, 1e-10 * std::abs(one));
}

TEST(PetscPcTest, RefusesToTransposeWhatIsNotSymmetric) {
  const auto refusal = [](const io::GalleryOptions& problem, const std::string& options) {
    const DoubleMatrixPointer A = model_problem(problem);
    const PetscMatrix copy = petsc_matrix(*A);
    const PetscPc pc = nodewise_pc(copy, options);
    expect_ok(PCSetFromOptions(pc));
    const PetscVector x = petsc_vector(copy, random_vector(A->rows())), y = petsc_vector(copy, {});
    expect_ok(PCSetUp(pc));
    return same_error_text([&] { return PCApplyTranspose(pc, x, y); });
  };
  EXPECT_THAT(refusal({.problem = "convection2d", .n = 12}, ""),
              HasSubstr("the matrix is not symmetric"));
  EXPECT_THAT(refusal({.problem = "laplace5", .n = 40},
                      "-pc_nodewise_cycle k -pc_nodewise_max_coarse_rows 10"),
              HasSubstr("another map for every vector"));
  EXPECT_THAT(refusal({.problem = "laplace5", .n = 40},
                      "-pc_nodewise_smoother jacobi -pc_nodewise_pre_sweeps 2"),
              HasSubstr("it is not symmetric"));
}

TEST(PetscPcTest, IsAppliedToBlocks) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const PetscMatrix copy = petsc_matrix(*A);
  const PetscPc pc = nodewise_pc(copy);
  expect_ok(PCSetUp(pc));
  const PetscInt width = 67;  // more than are done side by side
  const PetscInt n = A->n_local();
  PetscMatrix X, Y;
  for (PetscMatrix* dense : {&X, &Y}) {
    expect_ok(MatCreateDense(test_comm()->get(), n, PETSC_DECIDE, PETSC_DETERMINE, width, nullptr,
                             &dense->object));
  }
  double* values = nullptr;
  expect_ok(MatDenseGetArrayWrite(X, &values));
  for (PetscInt k = 0; k < width; ++k) {
    const std::vector<double> x = random_vector(A->rows(), static_cast<int>(k));
    std::copy(x.begin(), x.end(), values + k * n);
  }
  expect_ok(MatDenseRestoreArrayWrite(X, &values));
  expect_ok(PCMatApply(pc, X, Y));
  const double* results = nullptr;
  expect_ok(MatDenseGetArrayRead(Y, &results));
  for (const PetscInt k : {0, 1, 63, 64, 66}) {
    const std::vector<double> y = applied(pc, copy, random_vector(A->rows(), static_cast<int>(k)));
    for (PetscInt i = 0; i < n; ++i) {
      EXPECT_NEAR(results[k * n + i], y[static_cast<std::size_t>(i)], 1e-12);
    }
  }
  expect_ok(MatDenseRestoreArrayRead(Y, &results));
}

/// A beam, with what is known of it.
struct Beam {
  io::GalleryOptions problem = {.problem = "beam", .n = 3};
  DoubleMatrixPointer A = model_problem(problem);
  std::vector<double> points = io::point_coordinates(A->rows(), problem);
  PetscMatrix copy = petsc_matrix(*A, 3);
  std::vector<double> b = random_vector(A->rows());
};

/// Rotations and translations as PETSc makes them.
void set_rigid_body_modes(Mat A, const std::vector<double>& points) {
  PetscVector coordinates = petsc_vector(A, points);
  expect_ok(VecSetBlockSize(coordinates, 3));
  MatNullSpace modes = nullptr;
  expect_ok(MatNullSpaceCreateRigidBody(coordinates, &modes));
  expect_ok(MatSetNearNullSpace(A, modes));
  expect_ok(MatNullSpaceDestroy(&modes));
}

TEST(PetscPcTest, TakesTheNearNullSpaceAndTheBlockSize) {
  const Beam beam;
  set_rigid_body_modes(beam.copy, beam.points);
  solver::Problem problem;
  problem.coordinates = beam.points;
  problem.dimensions = 3;
  Solver solver(beam.A, library_options({{"unknowns", "3"}}), problem);
  const int of_library = library_iterations(solver, beam.b);
  const PetscSolver ksp = nodewise_cg(beam.copy);
  // PETSc's modes are orthonormal and those of the library are not: the same space, other numbers.
  EXPECT_NEAR(petsc_iterations(ksp, beam.copy, beam.b), of_library, 1);
  const PetscMatrix bare = petsc_matrix(*beam.A, 1);
  const PetscSolver without = nodewise_cg(bare, "-pc_nodewise_method aggregation");
  EXPECT_GT(petsc_iterations(without, bare, beam.b), 1.3 * of_library);
}

TEST(PetscPcTest, TakesCoordinatesAsTheLibraryDoes) {
  Beam beam;
  solver::Problem problem;
  problem.coordinates = beam.points;
  problem.dimensions = 3;
  Solver solver(beam.A, library_options({{"unknowns", "3"}}), problem);
  const PetscPc pc = nodewise_pc(beam.copy);
  expect_ok(
      PCSetCoordinates(pc, 3, static_cast<PetscInt>(beam.points.size() / 3), beam.points.data()));
  EXPECT_EQ(applied(pc, beam.copy, beam.b), applied(solver, beam.b));
}

TEST(PetscPcTest, TakesAConstantOfTheNearNullSpace) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const PetscMatrix copy = petsc_matrix(*A);
  MatNullSpace constants = nullptr;
  expect_ok(MatNullSpaceCreate(test_comm()->get(), PETSC_TRUE, 0, nullptr, &constants));
  expect_ok(MatSetNearNullSpace(copy, constants));
  expect_ok(MatNullSpaceDestroy(&constants));
  solver::Problem problem;
  problem.near_null_space = {1, std::vector<double>(static_cast<std::size_t>(A->n_local()), 1.0)};
  const std::vector<double> x = random_vector(A->rows());
  const PetscPc pc = nodewise_pc(copy);
  EXPECT_EQ(applied(pc, copy, x), applied(Solver(A, library_options(), problem), x));
}

TEST(PetscPcTest, TakesBlockMatrices) {
  const Beam beam;
  const PetscPc aij = nodewise_pc(beam.copy);
  const std::vector<double> y = applied(aij, beam.copy, beam.b);
  for (const char* type : {MATBAIJ, MATSBAIJ}) {
    SCOPED_TRACE(type);
    PetscMatrix blocks;
    expect_ok(MatSetOption(beam.copy, MAT_SYMMETRIC, PETSC_TRUE));
    expect_ok(MatConvert(beam.copy, type, MAT_INITIAL_MATRIX, &blocks.object));
    const PetscPc pc = nodewise_pc(blocks);
    const std::vector<double> of_blocks = applied(pc, blocks, beam.b);
    ASSERT_EQ(of_blocks.size(), y.size());
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(of_blocks[i], y[i], 1e-10);
    expect_ok(MatScale(blocks, 2));
    const std::vector<double> of_twice = applied(pc, blocks, beam.b);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(of_twice[i], y[i] / 2, 1e-10);
  }
}

TEST(PetscPcTest, TakesNestedMatricesAndThoseOfSubdomains) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 20});
  const PetscMatrix copy = petsc_matrix(*A);
  const std::vector<double> x = random_vector(A->rows());
  const std::vector<double> y = applied(Solver(A, library_options()), x);
  PetscMatrix nested;
  expect_ok(
      MatCreateNest(test_comm()->get(), 1, nullptr, 1, nullptr, &copy.object, &nested.object));
  EXPECT_EQ(applied(nodewise_pc(nested), copy, x), y);
  PetscMatrix subdomains;
  expect_ok(MatConvert(copy, MATIS, MAT_INITIAL_MATRIX, &subdomains.object));
  const std::vector<double> of_subdomains = applied(nodewise_pc(subdomains), copy, x);
  ASSERT_EQ(of_subdomains.size(), y.size());
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(of_subdomains[i], y[i], 1e-12);
}

TEST(PetscPcTest, TakesRanksWithoutRows) {
  const int last = test_comm()->size() - 1;
  const GlobalIndex n = 400;
  const auto rows = comm::Layout::from_local_size(test_comm(), test_comm()->rank() == last ? n : 0);
  const auto A = std::make_shared<const DoubleMatrix>(
      matrix::matrix_from_rows<double>(rows, rows, [&](GlobalIndex i, const auto& emit) {
        if (i > 0) emit(i - 1, -1.0);
        emit(i, 2.0);
        if (i + 1 < n) emit(i + 1, -1.0);
      }));
  const PetscMatrix copy = petsc_matrix(*A);
  const std::vector<double> b = random_vector(rows);
  Solver solver(A, library_options());
  const PetscSolver ksp = nodewise_cg(copy);
  EXPECT_EQ(petsc_iterations(ksp, copy, b), library_iterations(solver, b));
}

/// A Laplacian of a line whose row `bad` is made by `put`.
template <class Put>
PetscMatrix line_with(PetscInt n_local, const Put& put) {
  PetscMatrix A;
  expect_ok(MatCreateAIJ(test_comm()->get(), n_local, n_local, PETSC_DETERMINE, PETSC_DETERMINE, 3,
                         nullptr, 2, nullptr, &A.object));
  PetscInt begin = 0, end = 0, n = 0;
  expect_ok(MatGetOwnershipRange(A, &begin, &end));
  expect_ok(MatGetSize(A, &n, nullptr));
  for (PetscInt i = begin; i < end; ++i) {
    for (PetscInt j = std::max<PetscInt>(i - 1, 0); j < std::min(i + 2, n); ++j) {
      expect_ok(MatSetValue(A, i, j, put(i, j, n), INSERT_VALUES));
    }
  }
  expect_ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  expect_ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  return A;
}

TEST(PetscPcTest, RefusesMatricesThatItCannotTreatOnEveryRank) {
  const auto refusal = [](Mat A) {
    const PetscPc pc = nodewise_pc(A);
    return same_error_text([&] { return PCSetUp(pc); });
  };
  const PetscMatrix nan = line_with(20, [](PetscInt i, PetscInt j, PetscInt n) {
    if (i == n - 1 && j == n - 1) return std::numeric_limits<double>::quiet_NaN();
    return i == j ? 2.0 : -1.0;
  });
  EXPECT_THAT(refusal(nan), HasSubstr("not a finite number"));
  const PetscMatrix zero = line_with(
      20, [](PetscInt i, PetscInt j, PetscInt) { return i == j ? (i == 3 ? 0.0 : 2.0) : -1.0; });
  EXPECT_THAT(refusal(zero), HasSubstr("diagonal"));
  PetscMatrix shell;
  expect_ok(MatCreateShell(test_comm()->get(), 5, 5, PETSC_DETERMINE, PETSC_DETERMINE, nullptr,
                           &shell.object));
  EXPECT_THAT(refusal(shell), HasSubstr("type shell"));
  PetscMatrix oblong;
  expect_ok(MatCreateAIJ(test_comm()->get(), 4, 5, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 1,
                         nullptr, &oblong.object));
  expect_ok(MatAssemblyBegin(oblong, MAT_FINAL_ASSEMBLY));
  expect_ok(MatAssemblyEnd(oblong, MAT_FINAL_ASSEMBLY));
  EXPECT_THAT(refusal(oblong), HasSubstr("square"));
}

TEST(PetscPcTest, CanBeUsedAfterAFailedSetup) {
  const PetscMatrix A = line_with(
      20, [](PetscInt i, PetscInt j, PetscInt) { return i == j ? (i == 3 ? 0.0 : 2.0) : -1.0; });
  const PetscPc pc = nodewise_pc(A);
  EXPECT_FALSE(same_error_text([&] { return PCSetUp(pc); }).empty());
  if (test_comm()->rank() == 0) expect_ok(MatSetValue(A, 3, 3, 2.0, INSERT_VALUES));
  expect_ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  expect_ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  expect_ok(PCSetUp(pc));
  PetscVector x;
  expect_ok(MatCreateVecs(A, &x.object, nullptr));
  expect_ok(VecSet(x, 1));
  PetscVector y;
  expect_ok(VecDuplicate(x, &y.object));
  expect_ok(PCApply(pc, x, y));
  // And a rebuild that fails is no different.
  if (test_comm()->rank() == 0) expect_ok(MatSetValue(A, 3, 3, 0.0, INSERT_VALUES));
  expect_ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  expect_ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  EXPECT_THAT(same_error_text([&] { return PCSetUp(pc); }), HasSubstr("diagonal"));
  // PETSc takes it for set up.
  EXPECT_THAT(same_error_text([&] { return PCApply(pc, x, y); }), HasSubstr("last setup failed"));
  if (test_comm()->rank() == 0) expect_ok(MatSetValue(A, 3, 3, 2.0, INSERT_VALUES));
  expect_ok(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  expect_ok(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  expect_ok(PCApply(pc, x, y));
}

TEST(PetscPcTest, ShowsTheHierarchy) {
  const DoubleMatrixPointer A = model_problem({.problem = "laplace5", .n = 40});
  const PetscMatrix copy = petsc_matrix(*A);
  const PetscPc pc = nodewise_pc(copy, "-pc_nodewise_smoother chebyshev");
  expect_ok(PCSetFromOptions(pc));
  expect_ok(PCSetUp(pc));
  const std::string file = testing::TempDir() + "nodewise_petsc_view.txt";
  PetscViewer viewer = nullptr;
  expect_ok(PetscViewerASCIIOpen(test_comm()->get(), file.c_str(), &viewer));
  expect_ok(PCView(pc, viewer));
  expect_ok(PetscViewerDestroy(&viewer));
  if (test_comm()->rank() != 0) return;
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::remove(file.c_str());
  EXPECT_THAT(text, HasSubstr("type: nodewise"));
  EXPECT_THAT(text, HasSubstr("smoother chebyshev"));
  EXPECT_THAT(text, HasSubstr("1600"));
  EXPECT_THAT(text, HasSubstr("operator complexity"));
}

TEST(PetscPcTest, GivesItsCommunicatorsBack) {
  const PetscMatrix A =
      line_with(4, [](PetscInt i, PetscInt j, PetscInt) { return i == j ? 2.0 : -1.0; });
  for (int k = 0; k < 400; ++k) {  // MPI runs out of them after some thousand
    const PetscPc pc = nodewise_pc(A);
    expect_ok(PCSetUp(pc));
  }
}

}  // namespace
}  // namespace nodewise::test
