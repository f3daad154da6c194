#include "nodewise/base/error.hpp"

namespace nodewise {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::unknown_option:
      return "unknown_option";
    case ErrorCode::file_not_found:
      return "file_not_found";
    case ErrorCode::file_io:
      return "file_io";
    case ErrorCode::file_format:
      return "file_format";
    case ErrorCode::dimension_mismatch:
      return "dimension_mismatch";
    case ErrorCode::unsuitable_matrix:
      return "unsuitable_matrix";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::index_overflow:
      return "index_overflow";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::mpi:
      return "mpi";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace nodewise
