# Installs the build into a scratch folder, builds the installed examples, in C++ and in C, with CMake
# and with make and pkg-config, and runs them on two ranks.
# cmake -DBUILD_DIR= -DWORK_DIR= -DLIBDIR= -DCXX= -DMPICXX= -DCC= -DMPICC= -DLAUNCH=
#       -DMPIFORT= -P install_check.cmake
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output
    RESULT_VARIABLE result)
  message("${output}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed with ${result}: ${ARGN}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(check_example program expected)
  run(${LAUNCH} "${program}" ${ARGN})
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${program} did not print what it should")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
set(installed "${WORK_DIR}/installed")
set(prefix "${WORK_DIR}/moved")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${installed}")
file(RENAME "${installed}" "${prefix}")  # what is installed must not know where it lies
file(COPY "${prefix}/share/nodewise/examples/poisson" DESTINATION "${WORK_DIR}")
file(COPY "${prefix}/share/nodewise/examples/time_steps" DESTINATION "${WORK_DIR}")
file(COPY "${prefix}/share/nodewise/examples/sparse_exchange" DESTINATION "${WORK_DIR}")
set(example "${WORK_DIR}/poisson")
set(expected "2 ranks.*converged after [0-9]+ iterations")
set(steps_example "${WORK_DIR}/time_steps")
set(steps_expected "dt 0.00384: [0-9]+ iterations")
file(COPY "${prefix}/share/nodewise/examples/c" DESTINATION "${WORK_DIR}")
file(COPY "${prefix}/share/nodewise/examples/fortran" DESTINATION "${WORK_DIR}")
file(COPY "${prefix}/share/nodewise/examples/own_method" DESTINATION "${WORK_DIR}")
set(own_example "${WORK_DIR}/own_method")
set(own_expected "coarsening greedy, smoother jacobi_pair.*converged after.*the report names them")
set(heat_example "${WORK_DIR}/c")
set(heat_expected "dt 20: converged after [0-9]+ iterations")
set(c_example "${WORK_DIR}/sparse_exchange")
set(c_expected "process 1 must send to 0: row 10 row 19")

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
check_example("${example}/build/poisson" "${expected}" 12)
run("${CMAKE_COMMAND}" -S "${steps_example}" -B "${steps_example}/build"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${steps_example}/build")
check_example("${steps_example}/build/time_steps" "${steps_expected}" 30)
run("${CMAKE_COMMAND}" -S "${own_example}" -B "${own_example}/build"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${own_example}/build")
check_example("${own_example}/build/own_method" "${own_expected}" 12)
run("${CMAKE_COMMAND}" -S "${c_example}" -B "${c_example}/build" "-DCMAKE_PREFIX_PATH=${prefix}"
  "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_C_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${c_example}/build")
check_example("${c_example}/build/sparse_exchange" "${c_expected}")
run("${CMAKE_COMMAND}" -S "${heat_example}" -B "${heat_example}/build"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_C_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${heat_example}/build")
check_example("${heat_example}/build/heat" "${heat_expected}" 40)

set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
set(ENV{OMPI_CXX} "${CXX}")
set(ENV{MPICH_CXX} "${CXX}")
run(make -C "${example}" "CXX=${MPICXX}" "CXXFLAGS=-O2 ${FLAGS}")
check_example("${example}/poisson" "${expected}" 12)
run(make -C "${steps_example}" "CXX=${MPICXX}" "CXXFLAGS=-O2 ${FLAGS}")
check_example("${steps_example}/time_steps" "${steps_expected}" 30)
set(ENV{OMPI_CC} "${CC}")
set(ENV{MPICH_CC} "${CC}")
run(make -C "${c_example}" "CC=${MPICC}" "CFLAGS=-O2 ${FLAGS}")
check_example("${c_example}/sparse_exchange" "${c_expected}")
run(make -C "${heat_example}" "CC=${MPICC}" "CFLAGS=-O2 ${FLAGS}")
check_example("${heat_example}/heat" "${heat_expected}" 40)
set(mpil_program "${WORK_DIR}/mpil_adapter")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
run("${MPICC}" -std=c99 ${flags} "-I${prefix}/include" "${CMAKE_CURRENT_LIST_DIR}/mpil_adapter_test.c"
  -o "${mpil_program}" "-L${prefix}/${LIBDIR}" -lnodewise_mpix)
check_example("${mpil_program}" "2 processes, 0 wrong values")
find_program(gfortran gfortran)
if(MPIFORT AND gfortran AND NOT FLAGS)
  run(make -C "${WORK_DIR}/fortran" "FC=${MPIFORT}")
  check_example("${WORK_DIR}/fortran/poisson" "converged after [0-9]+ iterations")
else()
  message(WARNING "The Fortran example is NOT TESTED: it needs gfortran, MPI's mpifort and no sanitizers")
endif()

if(EXISTS "${prefix}/bin/nodewise")
  run("${prefix}/bin/nodewise" --version)
endif()
