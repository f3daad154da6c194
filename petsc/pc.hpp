// The PC type "nodewise".
#pragma once

#include <petscpc.h>

namespace nodewise::petsc {

/// Makes a PC one of this type, as PCRegister() has it.
PetscErrorCode create_pc(PC pc);

}  // namespace nodewise::petsc
