# NODEWISE_MPI=smpi: everything is compiled for SimGrid's SMPI, which runs an MPI program with any
# number of ranks on a simulated machine, in one process (docs/simulation.md). Gives MPI::MPI_CXX.
#
# SMPI loads one copy of the program for each rank, so a program is a shared object, and what ranks
# must not share has to be inside it: the library is static, and no symbol may be unique in the
# process (-fno-gnu-unique), as inline variables and static members of templates are by default with GCC.
if(BUILD_SHARED_LIBS)
  message(FATAL_ERROR "NODEWISE_MPI=smpi needs a static library: with BUILD_SHARED_LIBS all "
    "simulated ranks would share its variables")
endif()
find_path(SIMGRID_INCLUDE_DIR smpi/smpi.h)
find_library(SIMGRID_LIBRARY simgrid)
find_program(SMPIRUN_EXECUTABLE smpirun)
if(NOT SIMGRID_INCLUDE_DIR OR NOT SIMGRID_LIBRARY OR NOT SMPIRUN_EXECUTABLE)
  message(FATAL_ERROR "NODEWISE_MPI=smpi needs SimGrid, which was not found (Debian: libsimgrid-dev)")
endif()
set(NODEWISE_BUILD_TESTS OFF CACHE BOOL "The unit tests run under a real MPI only" FORCE)

add_library(MPI::MPI_CXX INTERFACE IMPORTED GLOBAL)
target_include_directories(MPI::MPI_CXX SYSTEM INTERFACE "${SIMGRID_INCLUDE_DIR}/smpi")
# Not smpi_helpers.h as smpicxx does: its macro `exit` breaks CLI11. A simulated rank has to sleep in
# simulated time; nothing else of that header is used here.
target_compile_definitions(MPI::MPI_CXX INTERFACE SMPI_NO_OVERRIDE_MALLOC nanosleep=smpi_nanosleep)
target_compile_options(MPI::MPI_CXX INTERFACE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
  "SHELL:-include ${SIMGRID_INCLUDE_DIR}/smpi/smpi_helpers_internal.h")
# Stripped: as many copies of the file as there are ranks are written and loaded.
target_link_options(MPI::MPI_CXX INTERFACE -shared -Wl,-z,defs -s)
add_library(nodewise_smpi STATIC "${CMAKE_CURRENT_LIST_DIR}/smpi/polling.cpp")
target_include_directories(nodewise_smpi SYSTEM PRIVATE "${SIMGRID_INCLUDE_DIR}/smpi")
target_compile_options(nodewise_smpi PRIVATE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
# SMPI declares MPI's functions weak, and a weak one is not looked for in an archive.
target_link_options(MPI::MPI_CXX INTERFACE LINKER:-u,MPI_Ibarrier)
target_link_libraries(MPI::MPI_CXX INTERFACE nodewise_smpi "${SIMGRID_LIBRARY}")
