#include "nodewise/partition/quotient_graph.hpp"

#include <algorithm>
#include <tuple>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::partition {

namespace {

/// Part `to` needs the value of a column, which is of part `from`.
struct Need {
  GlobalIndex column;
  int from, to;

  friend bool operator==(const Need&, const Need&) = default;
  friend bool operator<(const Need& a, const Need& b) {
    return std::tie(a.from, a.to, a.column) < std::tie(b.from, b.to, b.column);
  }
};

void sort_and_unify_needs(std::vector<Need>& needs) {
  std::sort(needs.begin(), needs.end());
  needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
}

/// Local. What the rows of this rank need, each once.
std::vector<Need> needs_here(const matrix::DistMatrix<double>& A, std::span<const int> owners,
                             std::span<const int> of_ghosts) {
  std::vector<Need> needs;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const int to = owners[static_cast<std::size_t>(i)];
    const auto add = [&](int from, GlobalIndex column) {
      if (from != to) needs.push_back({column, from, to});
    };
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const LocalIndex j = A.on().cols[static_cast<std::size_t>(k)];
      add(owners[static_cast<std::size_t>(j)], A.cols().to_global(j));
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto ghost = static_cast<std::size_t>(A.off().cols[static_cast<std::size_t>(k)]);
      add(of_ghosts[ghost], A.ghosts()[ghost]);
    }
  }
  sort_and_unify_needs(needs);
  return needs;
}

/// Local. Whom the needs of each part are told, so that what several ranks found is counted once.
comm::Messages<Need> by_counting_rank(const std::vector<Need>& needs, int n_ranks) {
  std::vector<int> ranks;
  ranks.reserve(needs.size());
  for (const Need& need : needs) ranks.push_back(need.from % n_ranks);
  return comm::group_by_rank(std::span<const int>(ranks), std::span<const Need>(needs), n_ranks);
}

using PartEdge = QuotientGraph::Edge;

std::vector<PartEdge> counted_needs(const std::vector<Need>& needs) {
  std::vector<PartEdge> edges;
  for (const Need& need : needs) {
    const bool is_new =
        edges.empty() || edges.back().from != need.from || edges.back().to != need.to;
    if (is_new) edges.push_back({need.from, need.to, 0});
    ++edges.back().values;
  }
  return edges;
}

/// Collective. The edges of all ranks.
std::vector<PartEdge> edges_of_all(const mpi::Comm& comm, std::span<const PartEdge> mine) {
  const std::vector<std::int64_t> numbers = mpi::collectively(comm, [&] {
    std::vector<std::int64_t> flat;
    for (const PartEdge& edge : mine) flat.insert(flat.end(), {edge.from, edge.to, edge.values});
    return flat;
  });
  const auto all = mpi::concatenate_all<std::int64_t>(comm, numbers);
  return mpi::collectively(comm, [&] {
    std::vector<PartEdge> edges;
    for (std::size_t k = 0; k < all.size(); k += 3) {
      edges.push_back({static_cast<int>(all[k]), static_cast<int>(all[k + 1]), all[k + 2]});
    }
    std::sort(edges.begin(), edges.end(), [](const PartEdge& a, const PartEdge& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    return edges;
  });
}

}  // namespace

std::optional<QuotientGraph> quotient_graph(const matrix::DistMatrix<double>& A,
                                            std::span<const int> owners, int n_parts) {
  const mpi::Comm& comm = A.comm();
  std::vector<int> of_ghosts;
  mpi::collectively(comm, [&] { of_ghosts.resize(A.ghosts().size()); });
  A.exchange().forward<int>(owners, of_ghosts);
  const auto arrived = comm::exchange_sparse(
      comm, [&] { return by_counting_rank(needs_here(A, owners, of_ghosts), comm.size()); });
  const std::vector<PartEdge> mine = mpi::collectively(comm, [&] {
    std::vector<Need> needs = arrived.data;
    sort_and_unify_needs(needs);
    return counted_needs(needs);
  });
  const std::int64_t n_edges = mpi::sum(comm, static_cast<std::int64_t>(mine.size()));
  if (n_edges > QuotientGraph::max_edges) return std::nullopt;
  return QuotientGraph{n_parts, edges_of_all(comm, mine)};
}

}  // namespace nodewise::partition
