# Writes nodewise_build.hpp, what nodewise::build_info() knows, anew at each build so that the commit
# is the one that is compiled. Included, it adds the target nodewise_build_info; run as a script
# (cmake -P), it writes the file.
if(CMAKE_SCRIPT_MODE_FILE)
  set(commit unknown)
  find_program(GIT git)
  # Only the repository of Nodewise itself counts, not one that a copy of the source lies in.
  if(GIT AND EXISTS "${SOURCE_DIR}/.git")
    execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" rev-parse --short=12 HEAD
      OUTPUT_VARIABLE head RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(status EQUAL 0)
      set(commit "${head}")
      execute_process(COMMAND "${GIT}" -C "${SOURCE_DIR}" diff --quiet HEAD
        RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
      if(differs)
        string(APPEND commit "-dirty")
      endif()
    endif()
  endif()
  string(CONCAT content
    "#define NODEWISE_BUILD_VERSION \"${VERSION}\"\n"
    "#define NODEWISE_BUILD_COMMIT \"${commit}\"\n"
    "#define NODEWISE_BUILD_TYPE \"${BUILD_TYPE}\"\n"
    "#define NODEWISE_BUILD_COMPILER \"${COMPILER}\"\n"
    "#define NODEWISE_BUILD_OPTIONS \"${OPTIONS}\"\n")
  set(old "")
  if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" old)
  endif()
  if(NOT old STREQUAL content)  # an unchanged file triggers no compilation
    file(WRITE "${OUTPUT}" "${content}")
  endif()
  return()
endif()

set(nodewise_generated_dir "${PROJECT_BINARY_DIR}/generated")
set(nodewise_build_options static)
if(BUILD_SHARED_LIBS)
  set(nodewise_build_options shared)
endif()
if(NODEWISE_HWLOC)
  string(APPEND nodewise_build_options ", hwloc")
endif()
if(NODEWISE_METIS)
  string(APPEND nodewise_build_options ", METIS")
endif()
if(NODEWISE_PTSCOTCH)
  string(APPEND nodewise_build_options ", PT-Scotch")
endif()
if(NODEWISE_MUMPS)
  string(APPEND nodewise_build_options ", MUMPS")
endif()
if(NODEWISE_BOOST_GRAPH)
  string(APPEND nodewise_build_options ", Boost.Graph")
endif()
if(NODEWISE_OPENMP)
  string(APPEND nodewise_build_options ", OpenMP")
endif()
if(NODEWISE_SANITIZE)
  string(APPEND nodewise_build_options ", sanitizers")
endif()
# Programs compare the macros of nodewise/base/version.h.
foreach(part MAJOR MINOR PATCH)
  file(STRINGS "${PROJECT_SOURCE_DIR}/nodewise/base/version.h" line
    REGEX "^#define NODEWISE_VERSION_${part} ${PROJECT_VERSION_${part}}$")
  if(NOT line)
    message(FATAL_ERROR "nodewise/base/version.h does not have version ${PROJECT_VERSION}, as CMakeLists.txt")
  endif()
endforeach()
add_custom_target(nodewise_build_info
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "-DOUTPUT=${nodewise_generated_dir}/nodewise_build.hpp" "-DVERSION=${PROJECT_VERSION}"
    "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "-DOPTIONS=${nodewise_build_options}" -P "${CMAKE_CURRENT_LIST_FILE}"
  BYPRODUCTS "${nodewise_generated_dir}/nodewise_build.hpp"
  COMMENT "Looking up the commit" VERBATIM)
