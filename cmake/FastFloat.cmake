# FastFloat::fast_float, from the system where it has the library (Debian 12 and later, Ubuntu 24.04),
# else a header that gives the same function with the standard library's number parser.
find_package(FastFloat QUIET)
if(NOT TARGET FastFloat::fast_float)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -std=c++20)
  check_cxx_source_compiles("
    #include <charconv>
    int main() { double x; const char* s = \"1\"; return std::from_chars(s, s + 1, x).ptr == s; }"
    NODEWISE_HAS_FROM_CHARS)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT NODEWISE_HAS_FROM_CHARS)
    message(FATAL_ERROR "Neither fast_float (Debian: libfast-float-dev) nor a std::from_chars for "
      "floating-point numbers was found")
  endif()
  message(STATUS "fast_float was not found; numbers are parsed by std::from_chars")
  add_library(nodewise_fast_float INTERFACE)
  target_include_directories(nodewise_fast_float INTERFACE "${CMAKE_CURRENT_LIST_DIR}/compat")
  add_library(FastFloat::fast_float ALIAS nodewise_fast_float)
endif()
