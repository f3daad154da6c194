// Matrices of the benchmarks in PETSc.
#pragma once

#include <petscksp.h>

#include "problem.hpp"

namespace nodewise::bench {

/// Local. Throws std::runtime_error unless a call of PETSc succeeded.
void check_petsc(PetscErrorCode status, const char* call);
#define NODEWISE_PETSC(call) check_petsc(call, #call)

/// Collective. A copy of a symmetric positive definite matrix with so many rows a point.
Mat make_petsc_matrix(const Matrix& A, int unknowns);

}  // namespace nodewise::bench
