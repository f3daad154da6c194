#include "petsc/pc.hpp"

#include <algorithm>
#include <memory>
#include <petsc/private/pcimpl.h>
#include <string>
#include <vector>

#include "petsc/errors.hpp"
#include "petsc/options.hpp"
#include "petsc/preconditioner.hpp"
#include "petsc/vectors.hpp"
#include "petsc/view.hpp"

namespace nodewise::petsc {

namespace {

/// Columns that are preconditioned side by side.
constexpr PetscInt max_width = 64;
constexpr const char* set_coordinates_name = "PCSetCoordinates_C";

Preconditioner& held(PC pc) {
  return *static_cast<Preconditioner*>(pc->data);
}

MPI_Comm comm_of(PC pc) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(pc));
}

PetscErrorCode set_from_options(PC pc, PetscOptionItems* PetscOptionsObject) {
  return guarded(pc, "PCSetFromOptions_Nodewise", [&] {
    GivenOptions given;
    check(look_up(PetscOptionsObject, given));
    held(pc).set_options(comm_of(pc), given);
  });
}

PetscErrorCode set_up(PC pc) {
  return guarded(pc, "PCSetUp_Nodewise",
                 [&] { held(pc).set_up(comm_of(pc), pc->pmat, pc->flag == SAME_NONZERO_PATTERN); });
}

PetscErrorCode apply(PC pc, Vec x, Vec y) {
  return guarded(pc, "PCApply_Nodewise", [&] {
    const ReadVec from(x);
    const WrittenVec to(y);
    held(pc).apply(from.span(), to.span(), 1);
  });
}

PetscErrorCode apply_transpose(PC pc, Vec x, Vec y) {
  return guarded(pc, "PCApplyTranspose_Nodewise", [&] {
    held(pc).require_symmetric();
    const ReadVec from(x);
    const WrittenVec to(y);
    held(pc).apply(from.span(), to.span(), 1);
  });
}

/// Some columns of dense matrices, which PETSc has one after another and the library side by side.
void apply_to_columns(const Preconditioner& M, const PetscScalar* X, PetscInt X_rows,
                      PetscScalar* Y, PetscInt Y_rows, std::size_t n_local, int width) {
  const auto w = static_cast<std::size_t>(width);
  std::vector<double> from(n_local * w), to(n_local * w);
  for (std::size_t k = 0; k < w; ++k) {
    const PetscScalar* const column = X + k * static_cast<std::size_t>(X_rows);
    for (std::size_t i = 0; i < n_local; ++i) from[i * w + k] = column[i];
  }
  M.apply(from, to, width);
  for (std::size_t k = 0; k < w; ++k) {
    PetscScalar* const column = Y + k * static_cast<std::size_t>(Y_rows);
    for (std::size_t i = 0; i < n_local; ++i) column[i] = to[i * w + k];
  }
}

PetscErrorCode mat_apply(PC pc, Mat X, Mat Y) {
  return guarded(pc, "PCMatApply_Nodewise", [&] {
    PetscInt n_local = 0, n_columns = 0, X_rows = 0, Y_rows = 0;
    check(MatGetLocalSize(X, &n_local, nullptr));
    check(MatGetSize(X, nullptr, &n_columns));
    check(MatDenseGetLDA(X, &X_rows));
    check(MatDenseGetLDA(Y, &Y_rows));
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    check(MatDenseGetArrayRead(X, &from));
    check(MatDenseGetArrayWrite(Y, &to));
    for (PetscInt k = 0; k < n_columns; k += max_width) {
      apply_to_columns(held(pc), from + k * X_rows, X_rows, to + k * Y_rows, Y_rows,
                       static_cast<std::size_t>(n_local),
                       static_cast<int>(std::min(max_width, n_columns - k)));
    }
    check(MatDenseRestoreArrayWrite(Y, &to));
    check(MatDenseRestoreArrayRead(X, &from));
  });
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  return guarded(pc, "PCView_Nodewise", [&] {
    PetscBool is_ascii = PETSC_FALSE;
    check(
        PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_ascii));
    const Solver* const solver = held(pc).solver();
    if (is_ascii != PETSC_TRUE || solver == nullptr) return;
    const std::string text = description(solver->record(), prefix_of(pc));
    // Line by line, which are all indented so.
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      check(PetscViewerASCIIPrintf(viewer, "  %s\n", text.substr(at, end - at).c_str()));
      at = end + 1;
    }
  });
}

/// What PCSetCoordinates() calls.
PetscErrorCode set_coordinates(PC pc, PetscInt dimensions, PetscInt n_points,
                               PetscReal* coordinates) {
  return guarded(pc, "PCSetCoordinates_Nodewise", [&] {
    held(pc).set_coordinates(static_cast<int>(dimensions),
                             {coordinates, coordinates + n_points * dimensions});
  });
}

PetscErrorCode reset(PC pc) {
  return guarded(pc, "PCReset_Nodewise", [&] { held(pc).reset(); });
}

PetscErrorCode destroy(PC pc) {
  return guarded(pc, "PCDestroy_Nodewise", [&] {
    check(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), set_coordinates_name,
                                     nullptr));
    delete static_cast<Preconditioner*>(pc->data);
    pc->data = nullptr;
  });
}

}  // namespace

PetscErrorCode create_pc(PC pc) {
  return guarded(pc, "PCCreate_Nodewise", [&] {
    pc->data = std::make_unique<Preconditioner>().release();
    pc->ops->setfromoptions = set_from_options;
    pc->ops->setup = set_up;
    pc->ops->apply = apply;
    pc->ops->applytranspose = apply_transpose;
    pc->ops->matapply = mat_apply;
    pc->ops->view = view;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    check(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), set_coordinates_name,
                                     set_coordinates));
  });
}

}  // namespace nodewise::petsc
