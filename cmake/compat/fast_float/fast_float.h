// Stands in for the fast_float library where the system has none; see cmake/FastFloat.cmake.
#pragma once

#include <charconv>

namespace fast_float {
using std::from_chars;
using std::from_chars_result;
}  // namespace fast_float
