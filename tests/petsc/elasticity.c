/* A program that knows PETSc and nothing of Nodewise: a plate of -n by -n square elements with bilinear
   displacements, held at its left edge and pulled down at the right one, in plane strain (Young's modulus 1,
   Poisson's ratio -nu). The block size and the rigid body modes are told to the matrix, as programs do for
   PCGAMG. -write NAME writes NAME.petsc with the matrix and NAME.b.mtx and NAME.modes.mtx with the right-hand
   side and the modes as text, on one rank. Prints the iterations. */
#include <petscksp.h>

enum { corners = 4, unknowns = 2, size = corners * unknowns };

/* The matrix of strains of a unit square at a point of it. */
static void strains(PetscReal s, PetscReal t, PetscReal B[3][size])
{
  const PetscReal dx[corners] = {-(1 - t), 1 - t, t, -t}, dy[corners] = {-(1 - s), -s, s, 1 - s};

  for (int c = 0; c < corners; ++c) {
    B[0][2 * c] = dx[c], B[0][2 * c + 1] = 0;
    B[1][2 * c] = 0, B[1][2 * c + 1] = dy[c];
    B[2][2 * c] = dy[c], B[2][2 * c + 1] = dx[c];
  }
}

/* Of two by two points of Gauss; in two dimensions the size of the elements drops out. */
static void element_matrix(PetscReal nu, PetscReal K[size][size])
{
  const PetscReal f = 1 / ((1 + nu) * (1 - 2 * nu)), g = 0.5 / PetscSqrtReal(3.0);
  const PetscReal D[3][3] = {{f * (1 - nu), f * nu, 0}, {f * nu, f * (1 - nu), 0}, {0, 0, f * (0.5 - nu)}};

  PetscArrayzero(&K[0][0], size * size);
  for (int p = 0; p < 4; ++p) {
    PetscReal B[3][size];
    strains(0.5 + (p % 2 ? g : -g), 0.5 + (p / 2 ? g : -g), B);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) K[i][j] += 0.25 * B[k][i] * D[k][l] * B[l][j];
  }
}

/* Rank 0 adds all elements; nodes are numbered with x running slowest. */
static PetscErrorCode assemble(Mat A, Vec b, PetscInt n, PetscReal nu)
{
  PetscReal   K[size][size];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  element_matrix(nu, K);
  for (PetscInt e = 0; rank == 0 && e < n * n; ++e) {
    const PetscInt first = e / n * (n + 1) + e % n;
    const PetscInt nodes[corners] = {first, first + n + 1, first + n + 2, first + 1};
    PetscCall(MatSetValuesBlocked(A, corners, nodes, corners, nodes, &K[0][0], ADD_VALUES));
  }
  for (PetscInt y = 0; rank == 0 && y <= n; ++y) {
    PetscCall(VecSetValue(b, 2 * (n * (n + 1) + y) + 1, -1.0 / n, ADD_VALUES));
  }
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode hold_left_edge(Mat A, Vec b, PetscInt n)
{
  PetscInt *rows, count = 0, begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(PetscMalloc1(2 * (n + 1), &rows));
  for (PetscInt i = begin; i < PetscMin(end, 2 * (n + 1)); ++i) rows[count++] = i;
  PetscCall(MatZeroRowsColumns(A, count, rows, 1, NULL, NULL));
  for (PetscInt i = 0; i < count; ++i) PetscCall(VecSetValue(b, rows[i], 0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_modes(Mat A, PetscInt n)
{
  Vec          points;
  PetscScalar *values;
  PetscInt     begin, end;
  MatNullSpace modes;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &points, NULL));
  PetscCall(VecSetBlockSize(points, unknowns));
  PetscCall(VecGetOwnershipRange(points, &begin, &end));
  PetscCall(VecGetArray(points, &values));
  for (PetscInt i = begin; i < end; ++i) {
    const PetscInt node = i / 2;
    values[i - begin] = (PetscReal)(i % 2 ? node % (n + 1) : node / (n + 1)) / n;
  }
  PetscCall(VecRestoreArray(points, &values));
  PetscCall(MatNullSpaceCreateRigidBody(points, &modes));
  PetscCall(MatSetNearNullSpace(A, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_columns(const char *name, const char *ending, PetscInt count, const Vec *columns)
{
  char     file[PETSC_MAX_PATH_LEN];
  FILE    *out;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s%s", name, ending));
  PetscCall(VecGetSize(columns[0], &n));
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, file, "w", &out));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, out, "%%%%MatrixMarket matrix array real general\n%" PetscInt_FMT " %" PetscInt_FMT "\n", n, count));
  for (PetscInt k = 0; k < count; ++k) {
    const PetscScalar *values;
    PetscCall(VecGetArrayRead(columns[k], &values));
    for (PetscInt i = 0; i < n; ++i) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, out, "%.17g\n", (double)values[i]));
    PetscCall(VecRestoreArrayRead(columns[k], &values));
  }
  PetscCall(PetscFClose(PETSC_COMM_WORLD, out));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_all(Mat A, Vec b)
{
  char         name[PETSC_MAX_PATH_LEN], file[PETSC_MAX_PATH_LEN];
  PetscBool    given;
  PetscViewer  viewer;
  MatNullSpace modes;
  PetscInt     count;
  const Vec   *vectors;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", name, sizeof(name), &given));
  if (!given) PetscFunctionReturn(0);
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s.petsc", name));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(write_columns(name, ".b.mtx", 1, &b));
  PetscCall(MatGetNearNullSpace(A, &modes));
  PetscCall(MatNullSpaceGetVecs(modes, NULL, &count, &vectors));
  PetscCall(write_columns(name, ".modes.mtx", count, vectors));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat                A;
  Vec                x, b;
  KSP                ksp;
  PetscInt           n = 24, iterations, nodes_here = PETSC_DECIDE, nodes;
  PetscReal          nu = 0.3;
  KSPConvergedReason reason;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-nu", &nu, NULL));
  nodes = (n + 1) * (n + 1);
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &nodes_here, &nodes));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 2 * nodes_here, 2 * nodes_here, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(A, unknowns));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(assemble(A, b, n, nu));
  PetscCall(hold_left_edge(A, b, n));
  PetscCall(set_modes(A, n));
  PetscCall(write_all(A, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations %" PetscInt_FMT " %s\n", iterations,
                        reason > 0 ? "solved" : "FAILED"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
