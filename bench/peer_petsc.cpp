#include <algorithm>
#include <petscksp.h>

#include "peer.hpp"
#include "petsc_matrix.hpp"

namespace nodewise::bench {

namespace {

class Petsc final : public Peer {
 public:
  Petsc(const System& system, const std::string& text, int unknowns)
      : comm_(system.A->comm().get()), A_(make_petsc_matrix(*system.A, unknowns)) {
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
