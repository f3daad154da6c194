// How messages name a row.
#pragma once

#include <cstdint>
#include <string>

namespace nodewise {

/// "row 7, counted from 0": as messages of the library name a row or an element. The command line
/// counts from 1, as files do.
inline std::string row_text(std::int64_t row) {
  return "row " + std::to_string(row) + ", counted from 0";
}

}  // namespace nodewise
