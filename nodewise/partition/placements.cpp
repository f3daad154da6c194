// The list of placements, and those that need no look at the parts.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/placement_method.hpp"

namespace nodewise::partition {

std::vector<int> ranks_as_numbered(const PlacementTask& task) {
  std::vector<int> ranks(static_cast<std::size_t>(task.topology.n_ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

int node_in_blocks(int rank, int /*n_ranks*/, int per_node) {
  return rank / per_node;
}

namespace {

/// By what `key` says of a rank.
template <class Key>
std::vector<int> ranks_by(const PlacementTask& task, const Key& key) {
  std::vector<int> ranks = ranks_as_numbered(task);
  std::sort(ranks.begin(), ranks.end(), [&](int a, int b) { return key(a) < key(b); });
  return ranks;
}

std::vector<int> ranks_in_blocks(const PlacementTask& task) {
  const mpi::Topology& nodes = task.topology;
  return ranks_by(task,
                  [&](int r) { return std::tuple(nodes.node(r), nodes.domains().node(r), r); });
}

std::vector<int> ranks_in_turns(const PlacementTask& task) {
  const mpi::Topology& nodes = task.topology;
  return ranks_by(task, [&](int r) { return std::tuple(nodes.place_on_node(r), nodes.node(r)); });
}

int node_in_turns(int rank, int n_ranks, int per_node) {
  return rank % ((n_ranks - 1) / per_node + 1);
}

/// Of one product that goes straight.
struct Crossing {
  std::int64_t values = 0;  ///< between nodes
  std::optional<double> seconds;
};

Crossing crossing(std::span<const int> rank_of_part, const PlacementTask& task) {
  Crossing found;
  std::optional<model::ExchangeTally> tally;
  if (task.machine != nullptr) tally.emplace(*task.machine, task.topology);
  for (const QuotientGraph::Edge& edge : task.graph->edges) {
    const int from = rank_of_part[static_cast<std::size_t>(edge.from)];
    const int to = rank_of_part[static_cast<std::size_t>(edge.to)];
    if (!task.topology.same_node(from, to)) found.values += edge.values;
    if (tally) tally->add(0, from, to, task.value_bytes * static_cast<double>(edge.values));
  }
  if (tally) found.seconds = tally->total().total();
  return found;
}

}  // namespace

PlacementGain gain_of(std::span<const int> rank_of_part, const PlacementTask& task) {
  PlacementGain gain;
  gain.n_parts = static_cast<int>(rank_of_part.size());
  const std::vector<int> numbers = ranks_as_numbered(task);
  for (std::size_t p = 0; p < rank_of_part.size(); ++p) {
    if (rank_of_part[p] != numbers[p]) ++gain.moved_parts;
  }
  gain.is_known = task.graph != nullptr;
  if (!gain.is_known) return gain;
  const Crossing before = crossing(numbers, task), after = crossing(rank_of_part, task);
  gain.values_before = before.values;
  gain.values_after = after.values;
  gain.seconds_before = before.seconds;
  gain.seconds_after = after.seconds;
  return gain;
}

PlacementGain place_parts(const Placement& placement, const matrix::DistMatrix<double>& A,
                          const mpi::Topology& topology, const model::Machine* machine,
                          std::vector<int>& owners) {
  const std::optional<QuotientGraph> graph = quotient_graph(A, owners, topology.n_ranks());
  return mpi::collectively(A.comm(), [&] {
    const PlacementTask task = {graph ? &*graph : nullptr, topology, machine};
    const std::vector<int> ranks = (*placement->ranks)(task);
    for (int& owner : owners) owner = ranks[static_cast<std::size_t>(owner)];
    return gain_of(ranks, task);
  });
}

namespace {

const PlacementMethod& parts_as_numbered() {
  static const PlacementMethod method = {
      {"none", "part p is on rank p; virtual ranks fill one node after the other", ""},
      false,
      ranks_as_numbered,
      node_in_blocks,
      true};
  return method;
}

const PlacementMethod& parts_in_blocks() {
  static const PlacementMethod method = {
      {"block", "successive parts fill one node after the other, wherever its ranks are", ""},
      true,
      ranks_in_blocks,
      node_in_blocks,
      true};
  return method;
}

const PlacementMethod& parts_in_turns() {
  static const PlacementMethod method = {
      {"round_robin", "successive parts, or virtual ranks, go to the next node each", ""},
      true,
      ranks_in_turns,
      node_in_turns,
      true};
  return method;
}

}  // namespace

const PlacementMethod& pair_exchange_placement();

Family<PlacementMethod>& PlacementMethod::family() {
  static Family<PlacementMethod> methods(
      "placement",
      {&parts_as_numbered(), &parts_in_blocks(), &parts_in_turns(), &pair_exchange_placement()});
  return methods;
}

}  // namespace nodewise::partition
