// The text of the machine files that are compiled into the library, from machines/.
#pragma once

#include <span>

namespace nodewise::io {

struct ShippedMachine {
  const char* name;  ///< the file's name without .json
  const char* text;
};

/// In any order. CMake writes the definition (cmake/Machines.cmake).
std::span<const ShippedMachine> shipped_machines();

}  // namespace nodewise::io
