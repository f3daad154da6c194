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

/// Local. Returns a text of the library with every "row 6, counted from 0" as "row 7", for front
/// ends that count from 1. A comma that closed the aside goes with it.
std::string rows_from_one(const std::string& text);

}  // namespace nodewise
