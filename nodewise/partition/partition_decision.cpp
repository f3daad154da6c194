#include "nodewise/partition/partition_decision.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/model/exchange_cost.hpp"
#include "nodewise/model/message_cost.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/metis.hpp"
#include "nodewise/partition/ptscotch.hpp"
#include "nodewise/partition/quotient_graph.hpp"

namespace nodewise::partition {

namespace {

using model::Locality;

constexpr double value_bytes = 8;
/// Of a nonzero that moves: its column and its value.
constexpr double nonzero_bytes = 16;
/// Seconds a nonzero that METIS takes on one core, and PT-Scotch in all
/// (docs/methods/partition.md).
constexpr double metis_s = 4e-7;
constexpr double ptscotch_s = 1.6e-6;
/// Parts that touch one, as parts of graphs of meshes have them, where a cube has 26.
constexpr double most_touching = 14;
/// The smallest part of the messages' time that must be saved before an estimate is believed.
constexpr double least_part_saved = 0.1;

/// So many messages of a rank, with so many bytes in all, while all ranks of its node send.
double messages_s(const model::Machine& machine, Locality where, double messages, double bytes,
                  int per_node) {
  if (messages < 1) return 0;
  const double one = model::message_s(machine, where, bytes / messages, per_node);
  return messages * one;
}

int ranks_of_a_node(int n_ranks, int n_nodes) {
  return (n_ranks - 1) / n_nodes + 1;
}

/// Gathering on the node, one message for each other node shared out over the ranks, and spreading.
double by_node_s(const model::Machine& machine, double nodes, double bytes, int per_node) {
  const double messages = std::ceil(nodes / per_node);
  const double bytes_of_rank = bytes / per_node;
  const double off_node =
      messages_s(machine, Locality::other_node, messages, bytes_of_rank, per_node);
  const auto others = static_cast<double>(per_node - 1);
  return off_node + 2 * messages_s(machine, Locality::same_node, others, bytes_of_rank, per_node);
}

/// A part with so many points of a cube.
struct Surface {
  double points = 0;  ///< of other parts that it needs
  double parts = 0;   ///< that have them
};

/// Points reach as far as the couplings of each say: a cube of as many.
Surface surface_of_cube(double points, double couplings, int n_parts) {
  const double side = std::cbrt(std::max(points, 1.0));
  const double reach = std::max(1.0, (std::cbrt(couplings + 1) - 1) / 2);
  const double shells = std::ceil(reach / side);
  const double around = shells > 1 ? std::pow(1 + 2 * shells, 3) - 1 : most_touching;
  const double points_around = std::pow(side + 2 * reach, 3) - points;
  return {std::min(points_around, points * (n_parts - 1)), std::min<double>(around, n_parts - 1)};
}

/// What a rank sends in a product, at most, as the graph of parts says.
double straight_s(const QuotientGraph& graph, const mpi::Topology& topology,
                  const model::Machine& machine) {
  model::ExchangeTally tally(machine, topology);
  for (const QuotientGraph::Edge& edge : graph.edges) {
    tally.add(0, edge.from, edge.to, value_bytes * static_cast<double>(edge.values));
  }
  return tally.total().total();
}

double through_nodes_s(const QuotientGraph& nodes, const mpi::Topology& topology,
                       const model::Machine& machine) {
  std::vector<double> count(static_cast<std::size_t>(nodes.n_parts)), bytes(count.size());
  for (const QuotientGraph::Edge& edge : nodes.edges) {
    ++count[static_cast<std::size_t>(edge.from)];
    bytes[static_cast<std::size_t>(edge.from)] += value_bytes * static_cast<double>(edge.values);
  }
  double most = 0;
  for (int node = 0; node < nodes.n_parts; ++node) {
    const auto k = static_cast<std::size_t>(node);
    const auto ranks = static_cast<int>(topology.ranks_on(node).size());
    most = std::max(most, by_node_s(machine, count[k], bytes[k], ranks));
  }
  return most;
}

/// Collective. Where nearly all parts need values of nearly all others, what the messages alone
/// cost, at least.
double now_s(const PartitionTask& task, std::span<const int> owners, const DecisionTask& by) {
  const mpi::Topology& topology = task.topology;
  const auto parts = quotient_graph(task.A, owners, topology.n_ranks());
  const std::vector<int> nodes = mpi::collectively(task.A.comm(), [&] {
    std::vector<int> of_rows;
    for (const int owner : owners) of_rows.push_back(topology.node(owner));
    return of_rows;
  });
  const auto of_nodes =
      by.by_node ? quotient_graph(task.A, nodes, topology.n_nodes()) : std::nullopt;
  return mpi::collectively(task.A.comm(), [&] {
    const double messages = static_cast<double>(QuotientGraph::max_edges) / topology.n_ranks();
    const int per_node = ranks_of_a_node(topology.n_ranks(), topology.n_nodes());
    double seconds = parts ? straight_s(*parts, topology, *by.machine)
                           : messages_s(*by.machine, Locality::other_node, messages,
                                        messages * value_bytes, per_node);
    if (of_nodes) seconds = std::min(seconds, through_nodes_s(*of_nodes, topology, *by.machine));
    return seconds;
  });
}

/// Of the partitions that this build has.
const char* best_partition() {
  if (has_metis()) return "node_aware";
  return has_ptscotch() ? "ptscotch" : "";
}

PartitionDecision stays(double products, std::string reason) {
  PartitionDecision decision;
  decision.products = products;
  decision.reason = std::move(reason);
  return decision;
}

}  // namespace

double compact_parts_s(const PartitionSize& size, int n_parts, int n_nodes,
                       const model::Machine& machine, bool by_node) {
  if (n_parts < 2 || size.points <= 0) return 0;
  const double rows_coupled = size.nonzeros / size.points / size.unknowns / size.unknowns - 1;
  const double couplings = std::max(rows_coupled, 0.0);
  const int per_node = ranks_of_a_node(n_parts, n_nodes);
  const double bytes = value_bytes * size.unknowns;
  const Surface part = surface_of_cube(size.points / n_parts, couplings, n_parts);
  // A node's parts make a cube, too. Of the parts on its surface some have half of theirs there.
  const double away =
      n_nodes > 1 ? std::min(1.0, 1.5 / std::cbrt(static_cast<double>(per_node))) : 0;
  const auto messages_to = [&](Locality where, double share) {
    return messages_s(machine, where, part.parts * share, part.points * bytes * share, per_node);
  };
  const double straight =
      messages_to(Locality::other_node, away) + messages_to(Locality::same_node, 1 - away);
  if (!by_node || n_nodes < 2) return straight;
  const Surface node = surface_of_cube(size.points / n_nodes, couplings, n_nodes);
  return std::min(straight, by_node_s(machine, node.parts, node.points * bytes, per_node));
}

double partition_cost_s(const PartitionSize& size, const mpi::Topology& topology,
                        const model::Machine& machine, bool on_all_ranks) {
  const int n_ranks = topology.n_ranks();
  const double bytes = nonzero_bytes * size.nonzeros;
  const auto others = static_cast<double>(n_ranks - 1);
  const int per_node = ranks_of_a_node(n_ranks, topology.n_nodes());
  const double to_owners =
      messages_s(machine, Locality::other_node, others, bytes / n_ranks, per_node);
  if (on_all_ranks) return ptscotch_s * size.nonzeros / n_ranks + to_owners;
  // Rank 0 divides among nodes, one rank of each node the node's rows.
  const double to_rank_0 = messages_s(machine, Locality::other_node, others, bytes, 1);
  const double dividing = metis_s * size.nonzeros * (1 + 1.0 / topology.n_nodes());
  return dividing + to_rank_0 + 2 * to_owners;
}

PartitionDecision cheaper(PartitionDecision costs) {
  const double saved = costs.now_s - costs.then_s;
  costs.pays_after = saved > 0 ? std::ceil(costs.cost_s / saved) : 0;
  const bool saves_enough = saved > least_part_saved * costs.now_s;
  const bool pays = saves_enough && costs.pays_after < costs.products;
  if (!pays) costs.chosen = "none";
  const std::string times = fmt::format("predicted {} for the messages of a product against {}",
                                        duration(costs.then_s), duration(costs.now_s));
  if (!saves_enough) {
    costs.reason = times + ": no partition saves a tenth";
    costs.pays_after = 0;
    return costs;
  }
  costs.reason = fmt::format(
      "{}, and {} to get there: it pays after {}, and {} expected", times, duration(costs.cost_s),
      counted(static_cast<std::int64_t>(std::min(costs.pays_after, 9e18)), "product"),
      costs.products == 1 ? "1 is" : grouped(static_cast<std::int64_t>(costs.products)) + " are");
  return costs;
}

PartitionDecision decide_partition(const PartitionTask& task, std::span<const int> owners,
                                   const DecisionTask& by) {
  const mpi::Topology& topology = task.topology;
  if (topology.n_nodes() < 2) return stays(by.products, "all ranks are on one node");
  PartitionDecision decision;
  decision.chosen = best_partition();
  if (decision.chosen.empty()) {
    return stays(by.products, "this build has neither METIS nor PT-Scotch");
  }
  if (by.machine == nullptr) {
    throw Error(ErrorCode::unsupported,
                "`partition automatic` takes the costs of a machine, as a solve, `tune` and "
                "predictions have them");
  }
  const comm::Layout& rows = task.A.rows();
  const PartitionSize size = {static_cast<double>(rows.n_global()) / task.unknowns,
                              static_cast<double>(task.A.nnz_global()), task.unknowns};
  decision.products = by.products;
  decision.now_s = now_s(task, owners, by);
  decision.then_s =
      compact_parts_s(size, topology.n_ranks(), topology.n_nodes(), *by.machine, by.by_node);
  decision.cost_s = partition_cost_s(size, topology, *by.machine, decision.chosen == "ptscotch");
  return cheaper(std::move(decision));
}

}  // namespace nodewise::partition
