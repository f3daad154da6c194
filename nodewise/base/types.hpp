// Index types and the one way to narrow an integer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise {

using GlobalIndex = std::int64_t;  ///< a row or column of the whole matrix
using LocalIndex = std::int32_t;   ///< a row, column or ghost of one rank
using Offset = std::int64_t;       ///< a position in an array of nonzeros or of bytes

/// Local. Converts between integer types; throws index_overflow, naming `what`, where the value
/// does not fit.
template <class To, class From>
constexpr To narrow(From value, const char* what = "value") {
  if (!std::in_range<To>(value)) {
    throw Error(ErrorCode::index_overflow, std::string(what) + " " + std::to_string(value) +
                                               " does not fit in " +
                                               std::to_string(8 * sizeof(To)) + " bits");
  }
  return static_cast<To>(value);
}

}  // namespace nodewise
