# Sets machines_source to a file with the texts of machines/*.json, which are compiled in so that an
# installed program finds them wherever it lies.
file(GLOB machine_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/machines/*.json")
list(SORT machine_files)
set(machine_entries "")
foreach(file IN LISTS machine_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  string(APPEND machine_entries "    {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
set(machines_source "${PROJECT_BINARY_DIR}/generated/shipped_machines.cpp")
file(CONFIGURE OUTPUT "${machines_source}" @ONLY CONTENT
"#include \"nodewise/io/shipped_machines.hpp\"

namespace nodewise::io {

std::span<const ShippedMachine> shipped_machines() {
  static constexpr ShippedMachine machines[] = {
@machine_entries@  };
  return machines;
}

}  // namespace nodewise::io
")
