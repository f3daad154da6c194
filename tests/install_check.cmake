# Installs the build into a scratch folder, builds the installed example with CMake and with make and
# pkg-config, and runs both on two ranks.
# cmake -DBUILD_DIR= -DWORK_DIR= -DLIBDIR= -DCXX= -DMPICXX= -DLAUNCH= -P install_check.cmake
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output
    RESULT_VARIABLE result)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed with ${result}: ${ARGN}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(check_example program)
  run(${LAUNCH} "${program}" 12)
  if(NOT output MATCHES "2 ranks.*converged after [0-9]+ iterations")
    message(FATAL_ERROR "${program} did not print what it should")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
set(installed "${WORK_DIR}/installed")
set(prefix "${WORK_DIR}/moved")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${installed}")
file(RENAME "${installed}" "${prefix}")  # what is installed must not know where it lies
file(COPY "${prefix}/share/nodewise/examples/poisson" DESTINATION "${WORK_DIR}")
set(example "${WORK_DIR}/poisson")

# Installed headers may need nothing but MPI and the standard library.
file(GLOB_RECURSE headers "${prefix}/include/*.hpp" "${prefix}/include/*.h")
foreach(header IN LISTS headers)
  file(STRINGS "${header}" forbidden REGEX
    "#include <(fmt|Eigen|fast_float|CLI|nlohmann)|#include <(zlib|hwloc)|#include \"(fmt|Eigen|CLI|nlohmann)")
  if(forbidden)
    message(FATAL_ERROR "${header} needs a library that users need not have: ${forbidden}")
  endif()
endforeach()

run("${CMAKE_COMMAND}" -S "${example}" -B "${example}/build" "-DCMAKE_PREFIX_PATH=${prefix}"
  "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${example}/build")
check_example("${example}/build/poisson")

set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
set(ENV{OMPI_CXX} "${CXX}")
set(ENV{MPICH_CXX} "${CXX}")
run(make -C "${example}" "CXX=${MPICXX}" "CXXFLAGS=-O2 ${FLAGS}")
check_example("${example}/poisson")

if(EXISTS "${prefix}/bin/nodewise")
  run("${prefix}/bin/nodewise" --version)
endif()
