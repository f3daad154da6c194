! A program that knows PETSc and nothing of Nodewise, in Fortran: the five-point Laplacian of -n points in each
! direction, b = A 1. Prints the iterations.
#include <petsc/finclude/petscksp.h>
program laplace
  use petscksp
  implicit none

  Mat :: A
  Vec :: x, b
  KSP :: solver
  PetscInt :: n, row, first, last, ix, iy, iterations
  PetscScalar :: one
  PetscBool :: given
  PetscMPIInt :: rank
  KSPConvergedReason :: reason
  PetscErrorCode :: ierr

  PetscCallA(PetscInitialize(ierr))
  n = 40
  one = 1
  PetscCallA(PetscOptionsGetInt(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-n', n, given, ierr))
  PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
  PetscCallA(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, ierr))
  PetscCallA(MatSetFromOptions(A, ierr))
  PetscCallA(MatSetUp(A, ierr))
  PetscCallA(MatGetOwnershipRange(A, first, last, ierr))
  do row = first, last - 1
    ix = row / n
    iy = mod(row, n)
    if (ix > 0) then
      PetscCallA(MatSetValue(A, row, row - n, -one, INSERT_VALUES, ierr))
    end if
    if (iy > 0) then
      PetscCallA(MatSetValue(A, row, row - 1, -one, INSERT_VALUES, ierr))
    end if
    PetscCallA(MatSetValue(A, row, row, 4 * one, INSERT_VALUES, ierr))
    if (iy < n - 1) then
      PetscCallA(MatSetValue(A, row, row + 1, -one, INSERT_VALUES, ierr))
    end if
    if (ix < n - 1) then
      PetscCallA(MatSetValue(A, row, row + n, -one, INSERT_VALUES, ierr))
    end if
  end do
  PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatCreateVecs(A, x, b, ierr))
  PetscCallA(VecSet(x, one, ierr))
  PetscCallA(MatMult(A, x, b, ierr))
  PetscCallA(KSPCreate(PETSC_COMM_WORLD, solver, ierr))
  PetscCallA(KSPSetOperators(solver, A, A, ierr))
  PetscCallA(KSPSetFromOptions(solver, ierr))
  PetscCallA(KSPSolve(solver, b, x, ierr))
  PetscCallA(KSPGetIterationNumber(solver, iterations, ierr))
  PetscCallA(KSPGetConvergedReason(solver, reason, ierr))
  PetscCallMPIA(MPI_Comm_rank(PETSC_COMM_WORLD, rank, ierr))
  if (rank == 0) then
    if (reason > 0) then
      print '(a, i0, a)', 'iterations ', iterations, ' solved'
    else
      print '(a, i0, a)', 'iterations ', iterations, ' FAILED'
    end if
  end if
  PetscCallA(KSPDestroy(solver, ierr))
  PetscCallA(VecDestroy(x, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(PetscFinalize(ierr))
end program laplace
