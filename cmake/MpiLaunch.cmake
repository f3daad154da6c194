# How tests start an MPI program: nodewise_mpi_command(<out> <ranks>) gives the command line that
# precedes the program. Must run after find_package(MPI).
#
# Tests run more ranks than there are cores, so ranks that wait must give up their core. Open MPI has
# a setting for that; MPICH has none, and needs a small library preloaded (NODEWISE_IDLE_LIBRARY).
set(NODEWISE_IDLE_LIBRARY "" CACHE FILEPATH
  "Library preloaded under MPICH that makes waiting ranks yield their core; may be empty")

execute_process(COMMAND "${MPIEXEC_EXECUTABLE}" --version
  OUTPUT_VARIABLE nodewise_mpiexec_version ERROR_VARIABLE nodewise_mpiexec_version
  RESULT_VARIABLE nodewise_mpiexec_status)
if(nodewise_mpiexec_version MATCHES "Open MPI|OpenRTE|PRRTE|prte")
  set(NODEWISE_MPI_FAMILY openmpi)
elseif(nodewise_mpiexec_version MATCHES "HYDRA|MPICH")
  set(NODEWISE_MPI_FAMILY mpich)
else()
  set(NODEWISE_MPI_FAMILY unknown)
endif()
message(STATUS "MPI launcher: ${MPIEXEC_EXECUTABLE} (${NODEWISE_MPI_FAMILY})")

if(NODEWISE_MPI_FAMILY STREQUAL "mpich" AND NODEWISE_BUILD_TESTS)
  if(NODEWISE_IDLE_LIBRARY AND NOT EXISTS "${NODEWISE_IDLE_LIBRARY}")
    message(FATAL_ERROR "NODEWISE_IDLE_LIBRARY is '${NODEWISE_IDLE_LIBRARY}', which does not exist")
  elseif(NOT NODEWISE_IDLE_LIBRARY)
    message(WARNING "MPICH without NODEWISE_IDLE_LIBRARY: ranks that wait keep their core, so tests "
      "with more ranks than cores will be very slow")
  endif()
endif()

function(nodewise_mpi_command out ranks)
  set(command "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS})
  if(NODEWISE_MPI_FAMILY STREQUAL "openmpi")
    # Without single-copy: containers often forbid the system call behind it.
    list(APPEND command --allow-run-as-root --oversubscribe --bind-to none
      --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none)
  elseif(NODEWISE_MPI_FAMILY STREQUAL "mpich" AND NODEWISE_IDLE_LIBRARY)
    list(APPEND command -genv LD_PRELOAD "${NODEWISE_IDLE_LIBRARY}")
  endif()
  set(${out} "${command}" PARENT_SCOPE)
endfunction()
