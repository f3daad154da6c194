// The MPI library that the program runs with.
#pragma once

#include <string>

namespace nodewise::mpi {

/// Local. The first line of MPI_Get_library_version, such as "Open MPI v4.1.4, ..."; may be called
/// before MPI_Init. Asked at run time, since a program may meet another MPI than it was built with.
std::string library_version();

}  // namespace nodewise::mpi
