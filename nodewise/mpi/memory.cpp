#include "nodewise/mpi/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sys/resource.h>

#include <fmt/format.h>

#include "nodewise/base/error.hpp"
#include "nodewise/base/format_numbers.hpp"

namespace nodewise::mpi {

namespace {

/// A number of bytes at the start of a file of one line; infinity for "max" or no such file.
double read_limit(const std::string& path) {
  std::ifstream file(path);
  double bytes = 0;
  return file >> bytes ? bytes : std::numeric_limits<double>::infinity();
}

/// What the processes of this node may use together: the kernel's estimate of free memory, capped
/// by the limits of the container and of the processes.
double available_bytes(int ranks_on_node) {
  double available = std::numeric_limits<double>::infinity();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string word; meminfo >> word;) {
    double kibibytes = 0;
    if (word == "MemAvailable:" && meminfo >> kibibytes) available = 1024 * kibibytes;
  }
  std::ifstream cgroup("/proc/self/cgroup");
  for (std::string line; std::getline(cgroup, line);) {
    if (!line.starts_with("0::")) continue;
    const std::string folder = "/sys/fs/cgroup" + line.substr(3);
    available = std::min(available, read_limit(folder + "/memory.max"));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    available = std::min(available, static_cast<double>(limit.rlim_cur) * ranks_on_node);
  }
  return available;
}

}  // namespace

MemoryUse measure_memory(const Comm& comm) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::int64_t peak = std::int64_t{1024} * usage.ru_maxrss;
  return {max(comm, peak), sum(comm, peak)};
}

void check_memory(const Comm& world, double bytes, const std::string& what) {
  const auto on_node =
      static_cast<int>(world.topology().ranks_on(world.topology().node(world.rank())).size());
  const double share = bytes * on_node / world.size();
  const double available = available_bytes(on_node);
  const double worst = max(world, share / available);
  if (worst <= 1) return;
  // Ratios are compared bitwise with the maximum they were taken from.
  const int rank = min(world, share / available == worst ? world.rank() : world.size());
  const double wanted = broadcast(world, share, rank);
  const double offered = broadcast(world, available, rank);
  const bool several = world.topology().n_nodes() > 1;
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format(
          "not enough memory: {} needs about {}{}; {} node has {} free. Take more nodes or a "
          "smaller problem; `ignore_memory_check` tries nevertheless",
          what, human_bytes(wanted), several ? " on a node" : "", several ? "one" : "this",
          human_bytes(offered)));
}

}  // namespace nodewise::mpi
