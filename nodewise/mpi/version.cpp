#include "nodewise/mpi/version.hpp"

#include <cstdlib>

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

bool is_of_mpich() {
  const std::string text = library_version();
  return text.find("Open MPI") == std::string::npos && text.find("SMPI") == std::string::npos;
}

int mpich_version() {
  const std::string text = library_version();  // "MPICH Version:      4.0.2"
  constexpr const char* title = "MPICH Version:";
  if (text.rfind(title, 0) != 0) return 0;
  const char* number = text.c_str() + std::string(title).size();
  char* rest = nullptr;
  const long major = std::strtol(number, &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return static_cast<int>(100 * major + minor);
}

}  // namespace nodewise::mpi
