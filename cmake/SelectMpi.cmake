# Point FindMPI at one of the MPI libraries that Debian installs side by side.
# Must run before find_package(MPI).
set(MPI_CXX_SKIP_MPICXX ON)
if(NODEWISE_MPI)
  if(NOT NODEWISE_MPI MATCHES "^(openmpi|mpich)$")
    message(FATAL_ERROR "NODEWISE_MPI must be openmpi, mpich or empty, not '${NODEWISE_MPI}'")
  endif()
  find_program(MPI_CXX_COMPILER NAMES mpicxx.${NODEWISE_MPI} REQUIRED)
  find_program(MPIEXEC_EXECUTABLE NAMES mpiexec.${NODEWISE_MPI} REQUIRED)
endif()
