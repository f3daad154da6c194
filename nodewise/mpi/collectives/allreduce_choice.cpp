#include "nodewise/mpi/collectives/allreduce_choice.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "nodewise/mpi/collectives/choice.hpp"
#include "nodewise/mpi/collectives/schedule.hpp"

namespace nodewise::mpi::collectives {

namespace {

/// Of a vector of b bytes: empty + full * b / doubling_bytes, in empty messages between nodes.
struct Cost {
  double empty = 0;
  double full = 0;

  void add_network(double n, double senders) {
    empty += n;
    full += n * (1 + senders / 10);
  }
  void add_node(double n, double vectors) {
    empty += 0.3 * n;
    full += 0.3 * vectors;
  }
  Cost times(double factor) const { return {factor * empty, factor * full}; }
};
constexpr double doubling_bytes = 12288;  // with so many a message takes twice as long
constexpr double clearly = 1.1;
constexpr Offset felt_bytes = 256;

int rounds_of_doubling(std::size_t n) {
  return static_cast<int>(std::bit_width(n - 1));
}

Cost of_node_aware(const Topology& topology, std::size_t ranks) {
  Cost cost;
  const Schedule schedule = make_schedule(topology, 0);
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const std::size_t others = (s == 0 ? ranks : schedule.stages[s].slots.size()) - 1;
    if (s > 0) cost.add_network(1, static_cast<double>(std::min(ranks, others)));
    cost.add_node(rounds_of_doubling(ranks), static_cast<double>(others));
  }
  return cost;
}

Cost of_node_leaders(const Topology& topology, std::size_t ranks) {
  Cost cost;
  const auto n_nodes = static_cast<std::size_t>(topology.n_nodes());
  const int before_and_after = std::has_single_bit(n_nodes) ? 0 : 2;
  const int steps = static_cast<int>(std::bit_width(n_nodes)) - 1;
  cost.add_network(steps + before_and_after, 1);
  cost.add_node(2 * rounds_of_doubling(ranks), 2 * rounds_of_doubling(ranks));
  return cost;
}

}  // namespace

Offset longest_shared_out(const Topology& topology) {
  const std::size_t ranks = topology.most_ranks_on_a_node();
  const Cost shared_out = of_node_aware(topology, ranks);
  const Cost leaders = of_node_leaders(topology, ranks).times(clearly);
  const double fewer_waits = leaders.empty - shared_out.empty;
  const double more_bytes = shared_out.full - leaders.full;
  if (fewer_waits <= 0) return more_bytes < 0 ? automatic_allreduce_bytes : felt_bytes;
  if (more_bytes <= 0) return automatic_allreduce_bytes;
  const double bytes = std::min(fewer_waits / more_bytes * doubling_bytes,
                                static_cast<double>(automatic_allreduce_bytes));
  return std::max(felt_bytes, static_cast<Offset>(bytes));
}

std::vector<AllreduceRange> allreduce_ranges(const Choice<AllreduceMethod>& setting,
                                             const Topology& topology) {
  if (!setting.is_automatic()) {
    if (*setting->schedule == nullptr) return {};
    return {{&*setting, std::numeric_limits<Offset>::max()}};
  }
  if (!can_share_out(topology)) return {};
  const auto& family = AllreduceMethod::family();
  std::vector<AllreduceRange> ranges = {{&family.find("node_aware"), longest_shared_out(topology)}};
  if (ranges[0].longest < automatic_allreduce_bytes) {
    ranges.push_back({&family.find("node_leaders"), automatic_allreduce_bytes});
  }
  return ranges;
}

const AllreduceMethod& chosen_allreduce(const Choice<AllreduceMethod>& setting,
                                        const Topology& topology, Offset bytes) {
  for (const AllreduceRange& range : allreduce_ranges(setting, topology)) {
    if (bytes <= range.longest) return *range.method;
  }
  return AllreduceMethod::family().find("mpi");
}

}  // namespace nodewise::mpi::collectives
