// The MPI library that the program runs with.
#pragma once

#include <string>

namespace nodewise::mpi {

/// Local. The first line of MPI_Get_library_version, such as "Open MPI v4.1.4, ..."; may be called
/// before MPI_Init. Asked at run time, since a program may meet another MPI than it was built with.
std::string library_version();

/// Local. Whether it is MPICH or one that is made of it (Intel MPI, MVAPICH, Cray MPICH), of which
/// the version of MPICH inside may not be known.
bool is_of_mpich();
/// Local. 100 * major + minor where it is MPICH itself, such as 402; else 0.
int mpich_version();

}  // namespace nodewise::mpi
