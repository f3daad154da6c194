// What a PETSc program says of a problem besides its matrix.
#pragma once

#include <petscmat.h>

#include "nodewise/solver/problem.hpp"

namespace nodewise::petsc {

/// Local. The vectors that MatSetNearNullSpace() has set, the constant one in front where the null
/// space says that it has it; none where there are none.
amg::NearNullSpace<double> near_null_space_of(Mat A);

}  // namespace nodewise::petsc
