#include "nodewise/mpi/version.hpp"

#include <mpi.h>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::mpi {

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  const std::string all(text);
  return all.substr(0, all.find('\n'));
}

}  // namespace nodewise::mpi
