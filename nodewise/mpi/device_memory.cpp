#include "nodewise/mpi/device_memory.hpp"

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "nodewise/mpi/version.hpp"

namespace nodewise::mpi {

namespace {

enum class Answer { yes, no, unknown };

Answer takes_cuda_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() != 0 ? Answer::yes : Answer::no;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int is_supported = 0;
  const bool answered = MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported) == MPI_SUCCESS;
  return !answered ? Answer::unknown : is_supported != 0 ? Answer::yes : Answer::no;
#else
  return Answer::unknown;
#endif
}

}  // namespace

std::string why_no_cuda_memory() {
  switch (takes_cuda_memory()) {
    case Answer::yes:
      return {};
    case Answer::no:
      return library_version() + " says that it takes no addresses of cards";
    case Answer::unknown:
      break;
  }
  return library_version() + " cannot be asked whether it takes addresses of cards";
}

}  // namespace nodewise::mpi
