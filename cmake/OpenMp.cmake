# OpenMP, for threads within a rank: used where the compiler has it (Clang on Debian: libomp-dev).
include(OptionalLibrary)
find_package(OpenMP COMPONENTS CXX)
nodewise_optional_library(NODEWISE_OPENMP "Run the loops of a rank on threads" "${OpenMP_CXX_FOUND}"
                          "${CMAKE_CXX_COMPILER} has no OpenMP" "OpenMP: each rank has one thread")
