// Partitions of the matrix's graph by METIS (Karypis, Kumar 1998), on one rank.
#include <algorithm>
#include <limits>
#include <numeric>

#ifdef NODEWISE_METIS
#include <metis.h>
#endif

#include <fmt/format.h>

#include "nodewise/comm/row_move.hpp"
#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/partition_method.hpp"
#include "nodewise/partition/point_graph.hpp"

namespace nodewise::partition {

namespace {

#ifdef NODEWISE_METIS
/// The part of each point, in parts of the sizes `shares`, whose sum is 1. Where `counts_values` is
/// set, few values are to cross between parts, however many edges do.
std::vector<int> parts_of(const PointGraph& graph, std::vector<real_t> shares, bool counts_values) {
  std::vector<idx_t> parts(graph.weights.size(), 0);
  auto n_parts = static_cast<idx_t>(shares.size());
  auto n = static_cast<idx_t>(graph.n_points());
  if (n_parts == 1 || n == 0) return {parts.begin(), parts.end()};
  if (n <= n_parts) {  // METIS would leave parts empty that another has several points for
    std::iota(parts.begin(), parts.end(), 0);
    return {parts.begin(), parts.end()};
  }
  if (graph.neighbours.size() > static_cast<std::size_t>(std::numeric_limits<idx_t>::max())) {
    throw Error(ErrorCode::unsupported,
                fmt::format("partition: METIS takes up to {} couplings, there are {}",
                            std::numeric_limits<idx_t>::max(), graph.neighbours.size()));
  }
  std::vector<idx_t> begins(graph.begins.begin(), graph.begins.end());
  std::vector<idx_t> neighbours(graph.neighbours.begin(), graph.neighbours.end());
  std::vector<idx_t> weights(graph.weights.begin(), graph.weights.end());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_OBJTYPE] = counts_values ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
  options[METIS_OPTION_SEED] = 1;
  idx_t one_weight = 1, objective = 0;
  const int status = METIS_PartGraphKway(&n, &one_weight, begins.data(), neighbours.data(),
                                         weights.data(), nullptr, nullptr, &n_parts, shares.data(),
                                         nullptr, options, &objective, parts.data());
  if (status == METIS_ERROR_MEMORY) {
    throw Error(ErrorCode::out_of_memory, "partition: METIS has not enough memory");
  }
  if (status != METIS_OK) {
    throw Error(ErrorCode::internal, fmt::format("partition: METIS failed (status {})", status));
  }
  return {parts.begin(), parts.end()};
}

std::vector<real_t> equal_shares(int n_parts) {
  return std::vector<real_t>(static_cast<std::size_t>(n_parts), 1 / static_cast<real_t>(n_parts));
}

/// A part for each rank, whatever its node.
std::vector<int> flat_owners(const PointGraph& graph, const mpi::Topology& topology) {
  return parts_of(graph, equal_shares(topology.n_ranks()), true);
}

/// Into nodes first, then into the ranks of each. What counts between nodes is how many of them
/// need a value, and not how many couplings are cut.
std::vector<int> owners_by_node(const PointGraph& graph, const mpi::Topology& topology) {
  std::vector<real_t> shares;
  for (int node = 0; node < topology.n_nodes(); ++node) {
    shares.push_back(static_cast<real_t>(topology.ranks_on(node).size()) /
                     static_cast<real_t>(topology.n_ranks()));
  }
  const std::vector<int> nodes = parts_of(graph, std::move(shares), true);
  std::vector<int> owners(nodes.size());
  for (int node = 0; node < topology.n_nodes(); ++node) {
    std::vector<LocalIndex> points;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (nodes[k] == node) points.push_back(static_cast<LocalIndex>(k));
    }
    const auto ranks = topology.ranks_on(node);
    const std::vector<int> parts =
        parts_of(part_of(graph, points), equal_shares(static_cast<int>(ranks.size())), true);
    for (std::size_t k = 0; k < points.size(); ++k) {
      owners[static_cast<std::size_t>(points[k])] = ranks[static_cast<std::size_t>(parts[k])];
    }
  }
  return owners;
}
#else
[[noreturn]] void refuse_without_metis() {
  throw Error(ErrorCode::unsupported,
              "partition: this build of Nodewise has no METIS (Debian: libmetis-dev)");
}
std::vector<int> flat_owners(const PointGraph&, const mpi::Topology&) {
  refuse_without_metis();
}
std::vector<int> owners_by_node(const PointGraph&, const mpi::Topology&) {
  refuse_without_metis();
}
#endif

/// Collective. Brings the matrix to rank 0, which finds an owner for each point, and the owners
/// back.
template <class Find>
std::vector<int> by_rank_0(const PartitionTask& task, const Find& find) {
  const comm::Layout& rows = task.A.rows();
  std::vector<GlobalIndex> starts(rows.starts().size(), rows.last());
  starts.front() = rows.first();
  // A rank has fewer than 2^31 rows, here as everywhere.
  const comm::Layout whole = mpi::collectively(
      rows.comm(), [&] { return comm::Layout(rows.shared_comm(), std::move(starts)); });
  const comm::RowMove gather(rows, whole);
  const matrix::DistMatrix<double> A = matrix::redistribute(task.A, gather);
  std::vector<int> of_all, mine;
  mpi::collectively(rows.comm(), [&] {
    mine.resize(static_cast<std::size_t>(task.A.n_local()));
    if (A.n_local() == 0) return;
    const std::vector<int> of_points = find(point_graph(A.on(), task.unknowns), task.topology);
    for (const int owner : of_points) {
      of_all.insert(of_all.end(), static_cast<std::size_t>(task.unknowns), owner);
    }
  });
  gather.backward<int>(of_all, mine);
  return mine;
}

std::vector<int> owners_by_metis(const Partition&, const PartitionTask& task) {
  return by_rank_0(task, flat_owners);
}

std::vector<int> owners_node_aware(const Partition&, const PartitionTask& task) {
  return by_rank_0(task, owners_by_node);
}

}  // namespace

const PartitionMethod& metis_partition() {
  static const PartitionMethod method = {
      {"metis", "parts of the graph that need few values of each other, found on rank 0",
       "Karypis, Kumar 1998"},
      true,
      owners_by_metis};
  return method;
}

const PartitionMethod& node_aware_partition() {
  static const PartitionMethod method = {
      {"node_aware",
       "likewise into nodes first, then into the ranks of each: fewer values cross "
       "the network",
       ""},
      true,
      owners_node_aware};
  return method;
}

}  // namespace nodewise::partition
