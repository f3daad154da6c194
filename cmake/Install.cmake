# cmake --install: the libraries, their headers, the program, the CMake package, the pkg-config file and
# the examples. A program that uses the library needs MPI, zlib, fmt and, where it was found, hwloc; nothing else.
include(CMakePackageConfigHelpers)
set(nodewise_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/nodewise")

set(nodewise_libraries nodewise)
if(TARGET nodewise_mpix)
  list(APPEND nodewise_libraries nodewise_mpix nodewise_c)
endif()
install(TARGETS ${nodewise_libraries} EXPORT nodewise_targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/nodewise" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "nodewise/c" EXCLUDE
  PATTERN "json_parts.hpp" EXCLUDE
  PATTERN "pictures_json.hpp" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/nodewise/c/nodewise_mpix.h" "${PROJECT_SOURCE_DIR}/nodewise/c/nodewise_mpil.h"
  "${PROJECT_SOURCE_DIR}/nodewise/c/nodewise.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TARGET nodewise_cli)
  set_target_properties(nodewise_cli PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS nodewise_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(TARGET nodewise_pages)
    install(FILES "${nodewise_pages_dir}/nodewise.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" OPTIONAL)
    install(FILES "${nodewise_pages_dir}/nodewise"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" OPTIONAL)
    install(FILES "${nodewise_pages_dir}/_nodewise"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" OPTIONAL)
  endif()
endif()
if(NODEWISE_PETSC)  # for PETSc to load, not to link with
  install(TARGETS nodewise_petsc LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/" DESTINATION "${CMAKE_INSTALL_DATADIR}/nodewise/examples")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/nodewise")

install(EXPORT nodewise_targets NAMESPACE nodewise:: DESTINATION "${nodewise_cmake_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/nodewiseConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/nodewiseConfig.cmake" INSTALL_DESTINATION "${nodewise_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/nodewiseConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/nodewiseConfig.cmake"
  "${PROJECT_BINARY_DIR}/nodewiseConfigVersion.cmake" DESTINATION "${nodewise_cmake_dir}")

# A static library leaves zlib, fmt, hwloc, METIS, PT-Scotch and OpenMP to whoever links it; pkg-config has them private otherwise.
set(nodewise_pc_requires "Requires: zlib, fmt")
if(BUILD_SHARED_LIBS)
  set(nodewise_pc_requires "Requires.private: zlib, fmt")
endif()
if(NODEWISE_HWLOC)
  string(APPEND nodewise_pc_requires ", hwloc")
endif()
set(nodewise_pc_static "")
if(NODEWISE_OPENMP AND NOT BUILD_SHARED_LIBS)
  string(APPEND nodewise_pc_static " ${OpenMP_CXX_FLAGS}")
endif()
if(NODEWISE_METIS AND NOT BUILD_SHARED_LIBS)
  string(APPEND nodewise_pc_static " -lmetis")
endif()
if(NODEWISE_PTSCOTCH AND NOT BUILD_SHARED_LIBS)
  string(APPEND nodewise_pc_static " -lptscotch -lscotch -lptscotcherr")
endif()
if(NODEWISE_MUMPS AND NOT BUILD_SHARED_LIBS)
  string(APPEND nodewise_pc_static " -ldmumps")
endif()
file(RELATIVE_PATH nodewise_pc_prefix
  "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")  # so that the installed tree can be moved
string(REGEX REPLACE "/$" "" nodewise_pc_prefix "${nodewise_pc_prefix}")
foreach(library IN LISTS nodewise_libraries)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${library}.pc.in" "${PROJECT_BINARY_DIR}/${library}.pc"
    @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${library}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
