#include "nodewise/run/environment.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/run/binding.hpp"

namespace nodewise::run {

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::int64_t hashed_host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  mpi::check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  std::uint64_t h = 0;
  for (int k = 0; k < length; ++k) h = hash64(static_cast<unsigned char>(name[k]), h);
  return static_cast<std::int64_t>(h >> 1);
}

/// Collective. Looks for the host with the most threads a core, if some has more than one.
void find_crowd(const mpi::Comm& comm, const std::vector<std::int64_t>& hosts,
                Environment& environment) {
  const std::int64_t here = hosts[static_cast<std::size_t>(comm.rank())];
  const auto ranks = static_cast<int>(std::count(hosts.begin(), hosts.end(), here));
  const int running = ranks * environment.threads;
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const double density = cores > 0 ? static_cast<double>(running) / cores : 0;
  const double most = mpi::max(comm, density);
  if (most <= 1) return;
  const int rank = mpi::min(comm, density == most ? comm.rank() : comm.size());
  environment.crowd = mpi::broadcast(comm, running, rank);
  environment.crowd_cores = mpi::broadcast(comm, cores, rank);
}

}  // namespace

bool has_domains(const Environment& environment) {
  return std::cmp_greater(environment.domains, environment.ranks_per_node.size());
}

Environment describe_environment(const mpi::Comm& comm) {
  Environment environment;
  const std::vector<std::int64_t> hosts = mpi::gather_all(comm, hashed_host_name());
  environment.hosts = static_cast<int>(std::set(hosts.begin(), hosts.end()).size());
  environment.ranks = comm.size();
  for (int node = 0; node < comm.topology().n_nodes(); ++node) {
    environment.ranks_per_node.push_back(static_cast<int>(comm.topology().ranks_on(node).size()));
  }
  environment.domains = comm.topology().domains().n_nodes();
  environment.threads = parallel::threads();
  environment.bound_to = bound_to();
  find_crowd(comm, hosts, environment);
  environment.processor = processor_name();
  environment.mpi_library = mpi_library();
  environment.mpi_standard = mpi_standard();
  return environment;
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text, static_cast<std::size_t>(length));
  line = line.substr(0, line.find('\n'));
  // Open MPI adds package and build host after a comma; MPICH writes a tab behind "Version:".
  line = line.substr(0, line.find(','));
  std::replace(line.begin(), line.end(), '\t', ' ');
  while (!line.empty() && (line.back() == ' ' || line.back() == '\0')) line.pop_back();
  return line;
}

std::string mpi_standard() {
  int major = 0;
  int minor = 0;
  MPI_Get_version(&major, &minor);
  return fmt::format("{}.{}", major, minor);
}

}  // namespace nodewise::run
