/* A program that knows PETSc and nothing of Nodewise: the five-point Laplacian of -n points in each direction,
   b = A 1, solved by what the options say. -weight is that of one direction, -again solves once more with 20
   for it, -write FILE writes the matrix, -solves K makes as many solvers one after another. Prints the iterations of each solve. */
#include <petscksp.h>

static PetscErrorCode fill(Mat A, PetscInt n, PetscReal weight)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    const PetscInt x = row / n, y = row % n;
    if (x > 0) PetscCall(MatSetValue(A, row, row - n, -weight, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(A, row, row - 1, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, row, row, 2 + 2 * weight, INSERT_VALUES));
    if (y < n - 1) PetscCall(MatSetValue(A, row, row + 1, -1.0, INSERT_VALUES));
    if (x < n - 1) PetscCall(MatSetValue(A, row, row + n, -weight, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve(KSP ksp, Mat A, Vec b, Vec x)
{
  PetscInt           iterations;
  PetscReal          error;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecShift(x, -1));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %" PetscInt_FMT " %s\n", iterations,
                        reason > 0 && error < 1e-4 ? "solved" : "FAILED"));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_matrix(Mat A)
{
  char        file[PETSC_MAX_PATH_LEN];
  PetscBool   given;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", file, sizeof(file), &given));
  if (!given) PetscFunctionReturn(0);
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       A;
  Vec       x, b;
  PetscInt  n = 40, solves = 1;
  PetscReal weight = 1;
  PetscBool again = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-weight", &weight, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-again", &again, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 2, NULL));
  PetscCall(fill(A, n, weight));
  PetscCall(write_matrix(A));
  PetscCall(MatCreateVecs(A, &x, &b));
  for (PetscInt k = 0; k < solves; ++k) {
    KSP ksp;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(solve(ksp, A, b, x));
    if (again) {
      PetscCall(fill(A, n, 20));
      PetscCall(solve(ksp, A, b, x));
      PetscCall(fill(A, n, weight));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
