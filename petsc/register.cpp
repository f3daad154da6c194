// What PETSc looks for in a library of this name that it is told to load (-dll_append).
#include <petscpc.h>

#include "petsc/pc.hpp"

/// Makes the PC type nodewise known; a program that links this library may call it itself, between
/// PetscInitialize() and the first PCSetType().
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_nodewise_petsc(void) {
  PetscFunctionBegin;
  PetscCall(PCRegister("nodewise", nodewise::petsc::create_pc));
  PetscFunctionReturn(0);
}
