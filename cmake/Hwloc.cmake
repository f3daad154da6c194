# hwloc, which finds the sockets and NUMA domains of a node and binds threads to its cores: used where it is
# installed. Debian's libopenmpi-dev brings it along.
include(OptionalLibrary)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET hwloc>=2.0)
endif()
nodewise_optional_library(NODEWISE_HWLOC "Find the domains of nodes and bind threads with hwloc" "${HWLOC_FOUND}"
                          "pkg-config finds no hwloc 2 (Debian: libhwloc-dev)"
                          "hwloc: domains inside nodes can be given, not found; threads are not bound")
