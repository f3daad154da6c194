// Partitions of the matrix's graph.
#include <algorithm>

#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/metis.hpp"
#include "nodewise/partition/partition_method.hpp"
#include "nodewise/partition/ptscotch.hpp"

namespace nodewise::partition {

namespace {

/// The first row of each point has what its others have.
std::vector<int> for_points(std::span<const int> of_rows, int unknowns) {
  std::vector<int> of_points;
  for (std::size_t i = 0; i < of_rows.size(); i += static_cast<std::size_t>(unknowns)) {
    of_points.push_back(of_rows[i]);
  }
  return of_points;
}

/// Local. The graph of this rank's rows alone; points weigh the nonzeros of whole rows, or alike.
PointGraph graph_here(const matrix::DistMatrix<double>& A, const PartitionTask& task) {
  PointGraph graph = point_graph(A.on(), task.unknowns);
  std::fill(graph.weights.begin(), graph.weights.end(), task.equal_rows ? 1 : 0);
  if (task.equal_rows) return graph;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    graph.weights[static_cast<std::size_t>(i / task.unknowns)] += A.row_length(i);
  }
  return graph;
}

/// Collective. Brings rows to the ranks `workers`; `find(A, move)`, which is collective, returns
/// the parts of the rows where they were.
template <class Find>
std::vector<int> by_workers(const PartitionTask& task, std::span<const int> workers,
                            const Find& find) {
  const comm::RowMove move = comm::RowMove::to_owners(task.A.rows(), workers);
  const matrix::DistMatrix<double> A = matrix::redistribute(task.A, move);
  return find(A, move);
}

/// Collective. Likewise all rows to rank 0.
std::vector<int> by_rank_0(const PartitionTask& task, std::span<const int> shares) {
  const comm::Layout& rows = task.A.rows();
  const std::vector<int> workers = mpi::collectively(
      rows.comm(), [&] { return std::vector<int>(static_cast<std::size_t>(rows.n_local()), 0); });
  return by_workers(task, workers, [&](const matrix::DistMatrix<double>& A, const auto& move) {
    std::vector<int> of_all, mine;
    mpi::collectively(rows.comm(), [&] {
      mine.resize(static_cast<std::size_t>(rows.n_local()));
      if (A.n_local() == 0) return;
      of_all = for_rows(parts_by_metis(graph_here(A, task), shares), task.unknowns);
    });
    move.template backward<int>(of_all, mine);
    return mine;
  });
}

/// Collective. A part for each row, found by all ranks together.
std::vector<int> by_all_ranks(const PartitionTask& task, std::span<const int> shares) {
  DistGraph graph = dist_point_graph(task.A, task.unknowns);
  if (task.equal_rows) std::fill(graph.weights.begin(), graph.weights.end(), 1);
  const std::vector<int> of_points = parts_by_ptscotch(graph, shares);
  return mpi::collectively(task.A.comm(), [&] { return for_rows(of_points, task.unknowns); });
}

std::vector<int> equal_shares(int n_parts) {
  return std::vector<int>(static_cast<std::size_t>(n_parts), 1);
}

std::vector<int> owners_by_metis(const Partition&, const PartitionTask& task) {
  return by_rank_0(task, equal_shares(task.topology.n_ranks()));
}

std::vector<int> owners_by_ptscotch(const Partition&, const PartitionTask& task) {
  return by_all_ranks(task, equal_shares(task.topology.n_ranks()));
}

struct NodeAwareOptions {
  int serial_points = 2'000'000;
};

std::span<const Field<NodeAwareOptions>> node_aware_fields() {
  static const std::vector<Field<NodeAwareOptions>> fields = {
      field("serial_points", &NodeAwareOptions::serial_points,
            "points up to which rank 0 alone divides the graph among nodes, by METIS; more are "
            "divided by PT-Scotch on all ranks, where there is one",
            0)
          .affecting(Affects::rows)};
  return fields;
}

/// Collective. A node for each row. What counts between nodes is how many of them need a value, and
/// not how many couplings are cut, which METIS knows.
std::vector<int> nodes_of_rows(const PartitionTask& task, std::int64_t serial_points) {
  std::vector<int> ranks;
  for (int node = 0; node < task.topology.n_nodes(); ++node) {
    ranks.push_back(static_cast<int>(task.topology.ranks_on(node).size()));
  }
  const bool is_small = task.A.rows().n_global() / task.unknowns <= serial_points;
  return is_small || !has_ptscotch() ? by_rank_0(task, ranks) : by_all_ranks(task, ranks);
}

/// The rank that divides a node: one of its own; where the nodes are virtual, one after the other.
int worker_of(const PartitionTask& task, int node) {
  const int n_ranks = task.A.comm().size();
  const bool is_here = task.topology.n_ranks() == n_ranks;
  return is_here ? task.topology.ranks_on(node).front() : node % n_ranks;
}

/// Local. The owners of points that are of the same node each as `nodes` says.
std::vector<int> owners_in_nodes(const PointGraph& graph, std::span<const int> nodes,
                                 const mpi::Topology& topology) {
  std::vector<std::vector<LocalIndex>> points(static_cast<std::size_t>(topology.n_nodes()));
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    points[static_cast<std::size_t>(nodes[k])].push_back(static_cast<LocalIndex>(k));
  }
  std::vector<int> owners(nodes.size());
  for (int node = 0; node < topology.n_nodes(); ++node) {
    const auto& chosen = points[static_cast<std::size_t>(node)];
    if (chosen.empty()) continue;
    const auto ranks = topology.ranks_on(node);
    const std::vector<int> parts =
        parts_by_metis(part_of(graph, chosen), equal_shares(static_cast<int>(ranks.size())));
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      owners[static_cast<std::size_t>(chosen[k])] = ranks[static_cast<std::size_t>(parts[k])];
    }
  }
  return owners;
}

/// Into nodes first; then one rank of each divides it among its ranks, all at the same time.
std::vector<int> owners_node_aware(const Partition& chosen, const PartitionTask& task) {
  const mpi::Comm& comm = task.A.comm();
  const std::vector<int> nodes =
      nodes_of_rows(task, chosen.options<NodeAwareOptions>().serial_points);
  const std::vector<int> workers = mpi::collectively(comm, [&] {
    std::vector<int> ranks;
    for (const int node : nodes) ranks.push_back(worker_of(task, node));
    return ranks;
  });
  return by_workers(task, workers, [&](const matrix::DistMatrix<double>& A, const auto& move) {
    std::vector<int> nodes_there, owners_there, mine;
    mpi::collectively(comm, [&] {
      nodes_there.resize(static_cast<std::size_t>(A.n_local()));
      mine.resize(nodes.size());
    });
    move.template forward<int>(nodes, nodes_there);
    mpi::collectively(comm, [&] {
      if (A.n_local() == 0) return;
      owners_there =
          for_rows(owners_in_nodes(graph_here(A, task), for_points(nodes_there, task.unknowns),
                                   task.topology),
                   task.unknowns);
    });
    move.template backward<int>(owners_there, mine);
    return mine;
  });
}

}  // namespace

const PartitionMethod& metis_partition() {
  static const PartitionMethod method = {
      {"metis", "parts of the graph that need few values of each other, found on rank 0",
       "Karypis, Kumar 1998"},
      true,
      owners_by_metis,
      true};
  return method;
}

const PartitionMethod& ptscotch_partition() {
  static const PartitionMethod method = {
      {"ptscotch", "parts of the graph with few couplings between them, found by all ranks",
       "Chevalier, Pellegrini 2008; Bienz 2018, section 5.5"},
      true,
      owners_by_ptscotch,
      true};
  return method;
}

const PartitionMethod& node_aware_partition() {
  static const PartitionMethod method = {
      {"node_aware",
       "parts of the graph for the nodes first, then for the ranks of each: fewer values cross "
       "the network",
       "", own_options(node_aware_fields)},
      true,
      owners_node_aware,
      true};
  return method;
}

}  // namespace nodewise::partition
