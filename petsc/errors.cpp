#include "petsc/errors.hpp"

#include <utility>

#include "nodewise/base/option_text.hpp"
#include "nodewise/mpi/agree.hpp"

#include "petsc/options.hpp"

namespace nodewise::petsc {

namespace {

/// As PETSc names its own; not where it was compiled.
constexpr const char* this_file = "petsc/errors.cpp";

PetscErrorCode code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::index_overflow:
      return PETSC_ERR_ARG_OUTOFRANGE;
    case ErrorCode::unknown_option:
      return PETSC_ERR_ARG_UNKNOWN_TYPE;
    case ErrorCode::unsuitable_matrix:
      return PETSC_ERR_ARG_WRONG;
    case ErrorCode::dimension_mismatch:
      return PETSC_ERR_ARG_SIZ;
    case ErrorCode::unsupported:
      return PETSC_ERR_SUP;
    case ErrorCode::out_of_memory:
      return PETSC_ERR_MEM;
    case ErrorCode::file_not_found:
    case ErrorCode::file_io:
    case ErrorCode::file_format:
      return PETSC_ERR_FILE_OPEN;
    case ErrorCode::mpi:
    case ErrorCode::internal:
      break;
  }
  return PETSC_ERR_LIB;
}

/// Empty where it is no option.
std::string typed_name(std::string_view name, const char* prefix) {
  const std::string of_petsc = option_of_petsc(name);
  if (!of_petsc.empty()) return std::string("-") + prefix + of_petsc;
  if (!is_option(name)) return "";
  return std::string("-") + prefix + option_prefix + std::string(name);
}

}  // namespace

std::string as_typed(std::string_view text, const char* prefix) {
  const std::string rewritten =
      rewrite_options(text, [&](std::string_view name, std::string_view value) {
        std::string typed = typed_name(name, prefix);
        if (!typed.empty() && !value.empty()) typed.append(" ").append(value);
        return typed;
      });
  return rewrite_option_names(rewritten,
                              [&](std::string_view name) { return typed_name(name, prefix); });
}

const char* prefix_of(PC pc) {
  const char* prefix = nullptr;
  return PCGetOptionsPrefix(pc, &prefix) == 0 && prefix != nullptr ? prefix : "";
}

PetscErrorCode report_current_exception(PC pc, const char* function) noexcept {
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc));
  try {
    throw;
  } catch (const Failure& failure) {
    return PetscError(PETSC_COMM_SELF, __LINE__, function, this_file, failure.code(),
                      PETSC_ERROR_REPEAT, " ");
  } catch (...) {
  }
  try {
    const Error error = mpi::current_error();
    const std::string text = as_typed(error.what(), prefix_of(pc));
    return PetscError(comm, __LINE__, function, this_file, code_of(error.code()),
                      PETSC_ERROR_INITIAL, "%s", text.c_str());
  } catch (...) {  // no memory for the text
    return PetscError(comm, __LINE__, function, this_file, PETSC_ERR_MEM, PETSC_ERROR_INITIAL,
                      "no memory is left");
  }
}

}  // namespace nodewise::petsc
