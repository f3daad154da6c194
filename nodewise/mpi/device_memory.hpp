// Whether the MPI library takes addresses of graphics cards.
#pragma once

#include <string>

namespace nodewise::mpi {

/// Local. Why MPI is not to be given addresses of CUDA's memory: empty where the library says that
/// it takes them. Open MPI and MPICH can be asked (MPIX_Query_cuda_support,
/// MPIX_GPU_query_support); of others nothing is known. The answer can be wrong: some libraries say
/// yes, and fail.
std::string why_no_cuda_memory();

}  // namespace nodewise::mpi
