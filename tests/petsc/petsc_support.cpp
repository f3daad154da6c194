#include "petsc_support.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/comm.hpp"

#include "support.hpp"

namespace nodewise::test {

namespace {

/// PETSc for the time of the tests, with the library loaded as -dll_append does.
class WithPetsc : public testing::Environment {
 public:
  void SetUp() override {
    expect_ok(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"));
    expect_ok(PetscOptionsSetValue(nullptr, "-dll_append", NODEWISE_PETSC_LIBRARY));
    expect_ok(PetscInitializeNoArguments());
  }
  void TearDown() override { expect_ok(PetscFinalize()); }
};

[[maybe_unused]] const testing::Environment* const with_petsc =
    testing::AddGlobalTestEnvironment(new WithPetsc);

/// Puts options into the database, each with the prefix.
void insert_options(const std::string& prefix, const std::string& options) {
  expect_ok(PetscOptionsPrefixPush(nullptr, prefix.c_str()));
  expect_ok(PetscOptionsInsertString(nullptr, options.c_str()));
  expect_ok(PetscOptionsPrefixPop(nullptr));
}

std::string next_prefix() {
  static int number = 0;
  return "test" + std::to_string(number++) + "_";
}

PetscErrorCode keep_text(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                         PetscErrorType type, const char* text, void* context) {
  auto& kept = *static_cast<std::string*>(context);
  if (type == PETSC_ERROR_INITIAL && kept.empty()) kept = text;
  return code;
}

}  // namespace

void expect_ok(PetscErrorCode code) {
  EXPECT_EQ(code, 0);
}

DoubleMatrixPointer model_problem(const io::GalleryOptions& problem) {
  return std::make_shared<const DoubleMatrix>(io::generate<double>(test_comm(), problem));
}

PetscMatrix petsc_matrix(const DoubleMatrix& A, int unknowns) {
  PetscMatrix copy;
  const PetscInt n = A.n_local();
  PetscInt longest = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    longest = std::max(longest, narrow<PetscInt>(A.row_length(i)));
  }
  expect_ok(MatCreateAIJ(A.comm().get(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, longest, nullptr,
                         longest, nullptr, &copy.object));
  expect_ok(MatSetBlockSize(copy, unknowns));
  put_values(copy, A);
  return copy;
}

void put_values(Mat copy, const DoubleMatrix& A) {
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const auto row = narrow<PetscInt>(A.rows().to_global(i));
    const auto put = [&](GlobalIndex column, double value) {
      const auto j = narrow<PetscInt>(column);
      expect_ok(MatSetValues(copy, 1, &row, 1, &j, &value, INSERT_VALUES));
    };
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto at = static_cast<std::size_t>(k);
      put(A.cols().to_global(A.on().cols[at]), A.on().vals[at]);
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto at = static_cast<std::size_t>(k);
      put(A.ghosts()[static_cast<std::size_t>(A.off().cols[at])], A.off().vals[at]);
    }
  }
  expect_ok(MatAssemblyBegin(copy, MAT_FINAL_ASSEMBLY));
  expect_ok(MatAssemblyEnd(copy, MAT_FINAL_ASSEMBLY));
}

PetscVector petsc_vector(Mat A, std::span<const double> values) {
  PetscVector v;
  expect_ok(MatCreateVecs(A, &v.object, nullptr));
  double* here = nullptr;
  expect_ok(VecGetArray(v, &here));
  std::copy(values.begin(), values.end(), here);
  expect_ok(VecRestoreArray(v, &here));
  return v;
}

std::vector<double> numbers(Vec v) {
  const double* here = nullptr;
  PetscInt n = 0;
  expect_ok(VecGetLocalSize(v, &n));
  expect_ok(VecGetArrayRead(v, &here));
  std::vector<double> values(here, here + n);
  expect_ok(VecRestoreArrayRead(v, &here));
  return values;
}

std::vector<double> random_vector(const comm::Layout& rows, int seed) {
  std::vector<double> x(static_cast<std::size_t>(rows.n_local()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const GlobalIndex row = rows.to_global(static_cast<LocalIndex>(i));
    x[i] = hash_normal(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(seed));
  }
  return x;
}

PetscPc nodewise_pc(Mat A, const std::string& options) {
  PetscPc pc;
  const std::string prefix = next_prefix();
  insert_options(prefix, options);
  expect_ok(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &pc.object));
  expect_ok(PCSetOptionsPrefix(pc, prefix.c_str()));
  expect_ok(PCSetType(pc, "nodewise"));
  expect_ok(PCSetOperators(pc, A, A));
  return pc;
}

PetscSolver nodewise_cg(Mat A, const std::string& options) {
  PetscSolver ksp;
  const std::string prefix = next_prefix();
  insert_options(prefix,
                 "-ksp_type cg -pc_type nodewise -ksp_norm_type unpreconditioned "
                 "-ksp_rtol 1e-8 -ksp_max_it 500 " +
                     options);
  expect_ok(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &ksp.object));
  expect_ok(KSPSetOptionsPrefix(ksp, prefix.c_str()));
  expect_ok(KSPSetOperators(ksp, A, A));
  expect_ok(KSPSetFromOptions(ksp));
  return ksp;
}

std::vector<double> applied(PC pc, Mat A, std::span<const double> x) {
  const PetscVector from = petsc_vector(A, x), to = petsc_vector(A, x);
  expect_ok(PCApply(pc, from, to));
  return numbers(to);
}

std::string error_text(const std::function<PetscErrorCode()>& work) {
  std::string text;
  expect_ok(PetscPushErrorHandler(keep_text, &text));
  const PetscErrorCode code = work();
  expect_ok(PetscPopErrorHandler());
  EXPECT_EQ(code == 0, text.empty()) << text;
  return text;
}

std::string same_error_text(const std::function<PetscErrorCode()>& work) {
  std::string text = error_text(work);
  EXPECT_FALSE(text.empty()) << "no error on rank " << test_comm()->rank();
  const auto print = static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1);
  EXPECT_EQ(mpi::min(*test_comm(), print), mpi::max(*test_comm(), print)) << text;
  return text;
}

}  // namespace nodewise::test
