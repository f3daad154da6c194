// Errors of the library as errors of PETSc, and the other way round.
#pragma once

#include <petscpc.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nodewise::petsc {

/// A call of PETSc that failed, and has told the error handler why.
class Failure : public std::runtime_error {
 public:
  explicit Failure(PetscErrorCode code)
      : std::runtime_error("a call of PETSc failed"), code_(code) {}
  PetscErrorCode code() const noexcept { return code_; }

 private:
  PetscErrorCode code_;
};

/// Local. Throws Failure unless `code` is 0.
inline void check(PetscErrorCode code) {
  if (code != 0) throw Failure(code);
}

/// Local. A text of the library with its options written as users of the PC write them:
/// `smoother jacobi` is "-pc_nodewise_smoother jacobi" behind the PC's prefix, and `solver gmres`
/// "-ksp_type gmres", since PETSc has the iterations.
std::string as_typed(std::string_view text, const char* prefix);

/// The prefix of the PC's options; never null.
const char* prefix_of(PC pc);

/// Local; inside a catch block only. Tells PETSc's error handler of the current exception, which
/// `function` ended by, and returns its code. All ranks have the same, so that one of them prints.
PetscErrorCode report_current_exception(PC pc, const char* function) noexcept;

/// Runs the body of a function of the PC.
template <class Body>
PetscErrorCode guarded(PC pc, const char* function, Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return report_current_exception(pc, function);
  }
}

}  // namespace nodewise::petsc
