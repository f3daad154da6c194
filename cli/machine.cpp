#include "cli/machine.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <set>
#include <sys/resource.h>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/mpi/domains.hpp"

#include "cli/exit_code.hpp"

namespace nodewise::cli {

namespace {

/// One number for each rank, such as "0,0,1,1", of the option `name`.
std::vector<int> parse_map(std::string_view name, std::string_view text, int n_ranks) {
  std::vector<int> numbers;
  while (true) {
    const std::string_view item = text.substr(0, text.find(','));
    int number = -1;
    const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (status != std::errc() || end != item.data() + item.size() || number < 0) {
      throw Failure(ExitCode::usage,
                    fmt::format("--{}-map: '{}' is not a {} number (a list such as 0,0,1,1)", name,
                                item, name));
    }
    numbers.push_back(number);
    if (item.size() == text.size()) break;
    text.remove_prefix(item.size() + 1);
  }
  if (std::cmp_not_equal(numbers.size(), n_ranks)) {
    throw Failure(ExitCode::usage,
                  fmt::format("--{}-map: {} given for {}", name,
                              counted(std::ssize(numbers), fmt::format("{} number", name)),
                              counted(n_ranks, "rank")));
  }
  return numbers;
}

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

/// Nothing where none are asked for.
std::vector<int> domains_found(const mpi::Comm& comm, DomainChoice choice) {
  if (choice == DomainChoice::none) return {};
  if (!mpi::can_find_domains()) {
    throw Failure(ExitCode::usage,
                  "--domains: this build was made without hwloc and cannot find them; --domain-map "
                  "can give them");
  }
  return mpi::find_domains(
      comm, choice == DomainChoice::numa ? mpi::DomainLevel::numa : mpi::DomainLevel::package);
}

/// The node of each of n_ranks ranks; one of the two options must be given.
std::vector<int> node_of_ranks(int n_ranks, const PlacementOptions& options, Dealing dealing) {
  if (!options.node_map.empty()) return parse_map("node", options.node_map, n_ranks);
  const int per_node = options.ranks_per_node;
  const int n_nodes = n_ranks / per_node + (n_ranks % per_node > 0 ? 1 : 0);
  std::vector<int> nodes;
  for (int r = 0; r < n_ranks; ++r) {
    nodes.push_back(dealing == Dealing::block ? r / per_node : r % n_nodes);
  }
  return nodes;
}

}  // namespace

mpi::Topology place_virtual_ranks(const Settings& settings) {
  const PlacementOptions& options = settings.placement;
  const int n_ranks = settings.virtual_machine.virtual_ranks;
  const mpi::Topology nodes(node_of_ranks(n_ranks, options, settings.virtual_machine.placement));
  if (options.domain_map.empty()) return nodes;
  return nodes.with_domains(parse_map("domain", options.domain_map, n_ranks));
}

std::shared_ptr<const mpi::Comm> make_comm(const mpi::Comm& world,
                                           const PlacementOptions& placement,
                                           const mpi::CommSettings& communication) {
  const int n_ranks = world.size();
  mpi::Topology topology = world.topology();
  if (!placement.node_map.empty() || placement.ranks_per_node > 0) {
    topology = mpi::Topology(node_of_ranks(n_ranks, placement, Dealing::block));
  }
  const auto placed = mpi::Comm::create(world.get(), topology, communication);
  const std::vector<int> domains = !placement.domain_map.empty()
                                       ? parse_map("domain", placement.domain_map, n_ranks)
                                       : domains_found(*placed, placement.domains);
  if (domains.empty()) return placed;
  return mpi::Comm::create(world.get(), topology.with_domains(domains), communication);
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

Machine describe_machine(const mpi::Comm& comm, const Settings& settings) {
  Machine machine;
  const std::vector<std::int64_t> hosts = mpi::gather_all(comm, hashed_host_name());
  machine.hosts = static_cast<int>(std::set(hosts.begin(), hosts.end()).size());
  machine.ranks = comm.size();
  for (int node = 0; node < comm.topology().n_nodes(); ++node) {
    machine.ranks_per_node.push_back(static_cast<int>(comm.topology().ranks_on(node).size()));
  }
  machine.domains = comm.topology().domains().n_nodes();
  machine.domains_wanted =
      settings.placement.domains != DomainChoice::none || !settings.placement.domain_map.empty();
  machine.placement_given =
      !settings.placement.node_map.empty() || settings.placement.ranks_per_node > 0;
  machine.threads = settings.placement.threads;
  machine.processor = processor_name();
  machine.mpi_library = mpi_library();
  machine.mpi_standard = mpi_standard();
  return machine;
}

MemoryUse measure_memory(const mpi::Comm& comm) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::int64_t peak = std::int64_t{1024} * usage.ru_maxrss;
  return {mpi::max(comm, peak), mpi::sum(comm, peak)};
}

void check_memory(const mpi::Comm& world, double bytes, const std::string& what) {
  const auto on_node =
      static_cast<int>(world.topology().ranks_on(world.topology().node(world.rank())).size());
  const double share = bytes * on_node / world.size();
  const double available = available_bytes(on_node);
  const double worst = mpi::max(world, share / available);
  if (worst <= 1) return;
  // Ratios are compared bitwise with the maximum they were taken from.
  const int rank = mpi::min(world, share / available == worst ? world.rank() : world.size());
  const double wanted = mpi::broadcast(world, share, rank);
  const double offered = mpi::broadcast(world, available, rank);
  throw Failure(
      ExitCode::memory,
      fmt::format("not enough memory: {} needs about {} on one of {}, where {} are available; use "
                  "more nodes or a smaller problem, or --ignore-memory-check to try nevertheless",
                  what, human_bytes(wanted), counted(world.topology().n_nodes(), "node"),
                  human_bytes(offered)));
}

}  // namespace nodewise::cli
