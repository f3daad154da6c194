#include <petscksp.h>
#include <stdexcept>

#include "peer.hpp"

namespace nodewise::bench {

namespace {

void check(PetscErrorCode status, const char* call) {
  if (status != 0) throw std::runtime_error(std::string(call) + " failed in PETSc");
}

#define NODEWISE_PETSC(call) check(call, #call)

using Csr = matrix::Csr<double>;

PetscInt length(const Csr& part, LocalIndex i) {
  return narrow<PetscInt>(part.length(i));
}

Mat allocate(const Matrix& A) {
  std::vector<PetscInt> n_on, n_off;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    n_on.push_back(length(A.on(), i));
    n_off.push_back(length(A.off(), i));
  }
  const PetscInt n = A.n_local();
  Mat copy = nullptr;
  NODEWISE_PETSC(MatCreateAIJ(A.comm().get(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, 0,
                              n_on.data(), 0, n_off.data(), &copy));
  return copy;
}

Mat make_matrix(const Matrix& A, int unknowns) {
  Mat copy = allocate(A);
  NODEWISE_PETSC(MatSetBlockSize(copy, unknowns));
  std::vector<PetscInt> cols;
  std::vector<double> vals;
  const auto append = [&](const Csr& part, LocalIndex i, auto&& to_global) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const auto at = static_cast<std::size_t>(k);
      cols.push_back(narrow<PetscInt>(to_global(part.cols[at])));
      vals.push_back(part.vals[at]);
    }
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    cols.clear();
    vals.clear();
    append(A.on(), i, [&](LocalIndex j) { return A.cols().to_global(j); });
    append(A.off(), i, [&](LocalIndex g) { return A.ghosts()[static_cast<std::size_t>(g)]; });
    const auto row = narrow<PetscInt>(A.rows().to_global(i));
    NODEWISE_PETSC(MatSetValues(copy, 1, &row, narrow<PetscInt>(cols.size()), cols.data(),
                                vals.data(), INSERT_VALUES));
  }
  NODEWISE_PETSC(MatAssemblyBegin(copy, MAT_FINAL_ASSEMBLY));
  NODEWISE_PETSC(MatAssemblyEnd(copy, MAT_FINAL_ASSEMBLY));
  NODEWISE_PETSC(MatSetOption(copy, MAT_SPD, PETSC_TRUE));
  return copy;
}

class Petsc final : public Peer {
 public:
  Petsc(const System& system, const std::string& text, int unknowns)
      : comm_(system.A->comm().get()), A_(make_matrix(*system.A, unknowns)) {
    static int number = 0;  // options are kept by prefix
    prefix_ = "peer" + std::to_string(number++) + "_";
    NODEWISE_PETSC(PetscOptionsPrefixPush(nullptr, prefix_.c_str()));
    NODEWISE_PETSC(PetscOptionsInsertString(nullptr, text.c_str()));
    NODEWISE_PETSC(PetscOptionsPrefixPop(nullptr));
    NODEWISE_PETSC(MatCreateVecs(A_, &x_, &b_));
    double* values = nullptr;
    NODEWISE_PETSC(VecGetArray(b_, &values));
    std::copy(system.b.begin(), system.b.end(), values);
    NODEWISE_PETSC(VecRestoreArray(b_, &values));
  }
  ~Petsc() override {
    KSPDestroy(&ksp_);
    VecDestroy(&x_);
    VecDestroy(&b_);
    MatDestroy(&A_);
  }
  Petsc(const Petsc&) = delete;
  Petsc& operator=(const Petsc&) = delete;

  void setup() override {
    clear();
    NODEWISE_PETSC(KSPCreate(comm_, &ksp_));
    NODEWISE_PETSC(KSPSetOptionsPrefix(ksp_, prefix_.c_str()));
    NODEWISE_PETSC(KSPSetOperators(ksp_, A_, A_));
    NODEWISE_PETSC(KSPSetType(ksp_, KSPCG));
    NODEWISE_PETSC(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
    PC pc = nullptr;
    NODEWISE_PETSC(KSPGetPC(ksp_, &pc));
    NODEWISE_PETSC(PCSetType(pc, PCGAMG));
    NODEWISE_PETSC(KSPSetFromOptions(ksp_));
    NODEWISE_PETSC(KSPSetUp(ksp_));
  }
  int solve(double tolerance, int max_iterations) override {
    NODEWISE_PETSC(KSPSetTolerances(ksp_, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, max_iterations));
    NODEWISE_PETSC(KSPSolve(ksp_, b_, x_));  // from zero, which is its default
    PetscInt iterations = 0;
    NODEWISE_PETSC(KSPGetIterationNumber(ksp_, &iterations));
    return iterations;
  }
  void solution(std::span<double> x) override {
    const double* values = nullptr;
    NODEWISE_PETSC(VecGetArrayRead(x_, &values));
    std::copy_n(values, x.size(), x.begin());
    NODEWISE_PETSC(VecRestoreArrayRead(x_, &values));
  }
  void clear() override { NODEWISE_PETSC(KSPDestroy(&ksp_)); }
  double operator_complexity() const override {
    PC pc = nullptr;
    NODEWISE_PETSC(KSPGetPC(ksp_, &pc));
    PetscReal grid = 0, operators = 0;
    NODEWISE_PETSC(PCMGGetGridComplexity(pc, &grid, &operators));
    return operators;
  }

 private:
  MPI_Comm comm_;
  std::string prefix_;
  Mat A_ = nullptr;
  Vec x_ = nullptr, b_ = nullptr;
  KSP ksp_ = nullptr;
};

}  // namespace

std::unique_ptr<Peer> make_petsc(const System& system, const std::string& text, int unknowns) {
  return std::make_unique<Petsc>(system, text, unknowns);
}

std::shared_ptr<void> start_petsc() {
  NODEWISE_PETSC(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"));
  NODEWISE_PETSC(PetscInitializeNoArguments());
  return {nullptr, [](void*) { PetscFinalize(); }};
}

}  // namespace nodewise::bench
