// The one exception type of the library.
#pragma once

#include <stdexcept>
#include <string>

namespace nodewise {

/// The kind of an error; the command line maps each kind to an exit code.
enum class ErrorCode : int {
  invalid_argument = 1,  ///< an argument or option value outside its documented range
  unknown_option,        ///< an option name that does not exist
  file_not_found,        ///< a file that is missing or cannot be opened
  file_io,               ///< reading or writing failed midway (truncated file, full disk)
  file_format,           ///< the file's content breaks its format; the message has the line number
  dimension_mismatch,    ///< shapes that do not fit each other
  unsuitable_matrix,  ///< a matrix the chosen method cannot treat (zero diagonal, empty row, NaN)
  out_of_memory,      ///< an allocation failed
  index_overflow,     ///< a value does not fit its index type
  unsupported,        ///< the MPI library or the machine lacks what was asked for
  mpi,                ///< an MPI call failed
  internal            ///< a broken invariant: a defect of the library
};

/// The snake_case name of a code, as printed in reports.
const char* to_string(ErrorCode code) noexcept;

/// Thrown by every function of the library. A collective function throws the same Error on every
/// rank (see mpi/agree.hpp); a local one throws on the calling rank only.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace nodewise
