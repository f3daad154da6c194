#include "nodewise/run/placement.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/base/text_field.hpp"
#include "nodewise/mpi/domains.hpp"

namespace nodewise::run {

namespace {

/// Empty where none are asked for.
std::vector<int> domains_found(const mpi::Comm& comm, DomainChoice choice) {
  if (choice == DomainChoice::none) return {};
  if (!mpi::can_find_domains()) {
    throw Error(ErrorCode::unsupported,
                "`domains`: this build was made without hwloc and cannot find them; "
                "`domain_map` can give them");
  }
  return mpi::find_domains(
      comm, choice == DomainChoice::numa ? mpi::DomainLevel::numa : mpi::DomainLevel::package);
}

}  // namespace

std::span<const Field<PlacementOptions>> placement_fields() {
  static const std::vector<Field<PlacementOptions>> fields = {
      text_field("node_map", &PlacementOptions::node_map, "list",
                 "treat rank r as placed on the r-th node of this list, such as 0,0,1,1; without "
                 "it MPI is asked which ranks share a node"),
      field("ranks_per_node", &PlacementOptions::ranks_per_node,
            "treat every so many successive ranks as one node; 0 asks MPI", 0)
          .common(),
      field("domains", &PlacementOptions::domains,
            "divide nodes by the memory (NUMA domain) or the socket (package) that ranks are bound "
            "to: two_step and three_step are then applied inside the nodes too",
            {"none", "numa", "package"})
          .affecting(Affects::real_run),
      text_field("domain_map", &PlacementOptions::domain_map, "list",
                 "treat rank r as placed in the r-th domain of this list, counted on each node for "
                 "itself, such as 0,0,1,1"),
      field("threads", &PlacementOptions::threads,
            "threads that each rank runs its loops on; messages are sent by one of them", 1,
            parallel::max_threads)
          .affecting(Affects::real_run)
          .common(),
      field("bind", &PlacementOptions::bind,
            "bind each thread to a core of its own (cores), or all but the first, which runs on "
            "the second hardware thread of another's core (siblings, for `overlap task`)",
            {"none", "cores", "siblings"})
          .affecting(Affects::travel),
  };
  return fields;
}

std::vector<int> parse_map(std::string_view what, std::string_view text, int n_ranks) {
  std::vector<int> numbers;
  while (true) {
    const std::string_view item = text.substr(0, text.find(','));
    int number = -1;
    const auto [end, status] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (status != std::errc() || end != item.data() + item.size() || number < 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("`{}_map`: '{}' is not a {} number (a list such as 0,0,1,1)", what,
                              item, what));
    }
    numbers.push_back(number);
    if (item.size() == text.size()) break;
    text.remove_prefix(item.size() + 1);
  }
  if (std::cmp_not_equal(numbers.size(), n_ranks)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("`{}_map`: {} given for {}", what,
                            counted(std::ssize(numbers), fmt::format("{} number", what)),
                            counted(n_ranks, "rank")));
  }
  return numbers;
}

std::shared_ptr<const mpi::Comm> place(const mpi::Comm& world, const PlacementOptions& placement,
                                       const mpi::CommSettings& communication) {
  const int n_ranks = world.size();
  mpi::Topology topology = world.topology();
  if (!placement.node_map.empty()) {
    topology = mpi::Topology(parse_map("node", placement.node_map, n_ranks));
  } else if (placement.ranks_per_node > 0) {
    std::vector<int> nodes;
    for (int r = 0; r < n_ranks; ++r) nodes.push_back(r / placement.ranks_per_node);
    topology = mpi::Topology(nodes);
  }
  const auto placed = mpi::Comm::create(world.get(), topology, communication);
  const std::vector<int> domains = !placement.domain_map.empty()
                                       ? parse_map("domain", placement.domain_map, n_ranks)
                                       : domains_found(*placed, placement.domains);
  if (domains.empty()) return placed;
  return mpi::Comm::create(world.get(), topology.with_domains(domains), communication);
}

}  // namespace nodewise::run
