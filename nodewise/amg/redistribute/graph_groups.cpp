#include "nodewise/amg/redistribute/graph_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/metis.hpp"

namespace nodewise::amg {

namespace {

/// The ranks with rows as points, and what they send to each other, in either direction.
struct RankGraph {
  std::vector<int> ranks;
  partition::PointGraph graph;
  std::vector<std::int64_t> couplings;  // one for each neighbour
};

RankGraph graph_of_ranks(const GroupTask& task) {
  RankGraph result;
  std::vector<LocalIndex> point(task.rows.size(), -1);
  for (std::size_t r = 0; r < task.rows.size(); ++r) {
    if (task.rows[r] == 0) continue;
    point[r] = static_cast<LocalIndex>(result.ranks.size());
    result.ranks.push_back(static_cast<int>(r));
    result.graph.weights.push_back(task.rows[r]);
  }
  std::vector<std::map<LocalIndex, std::int64_t>> neighbours(result.ranks.size());
  for (const RankCoupling& coupling : task.couplings) {
    const LocalIndex a = point[static_cast<std::size_t>(coupling.from)];
    const LocalIndex b = point[static_cast<std::size_t>(coupling.to)];
    if (a < 0 || b < 0 || a == b) continue;
    neighbours[static_cast<std::size_t>(a)][b] += coupling.entries;
    neighbours[static_cast<std::size_t>(b)][a] += coupling.entries;
  }
  for (const auto& of_point : neighbours) {
    for (const auto& [other, entries] : of_point) {
      result.graph.neighbours.push_back(other);
      result.couplings.push_back(entries);
    }
    result.graph.begins.push_back(static_cast<std::int64_t>(result.graph.neighbours.size()));
  }
  return result;
}

/// Gives parts without points one of the part that has most.
void fill_empty_parts(std::vector<int>& parts, int n_parts) {
  std::vector<std::size_t> sizes(static_cast<std::size_t>(n_parts), 0);
  for (const int part : parts) ++sizes[static_cast<std::size_t>(part)];
  for (std::size_t empty = 0; empty < sizes.size(); ++empty) {
    if (sizes[empty] > 0) continue;
    const auto largest = std::max_element(sizes.begin(), sizes.end());
    const int from = static_cast<int>(largest - sizes.begin());
    *std::find(parts.rbegin(), parts.rend(), from) = static_cast<int>(empty);
    --*largest;
    ++sizes[empty];
  }
}

std::vector<int> holders_by_graph(const GroupTask& task) {
  const RankGraph graph = graph_of_ranks(task);
  std::vector<int> parts = partition::parts_by_metis(graph.graph, graph.couplings, task.n_groups);
  fill_empty_parts(parts, task.n_groups);
  std::vector<int> holders(task.rows.size());
  for (std::size_t r = 0; r < holders.size(); ++r) holders[r] = static_cast<int>(r);
  std::vector<int> first(static_cast<std::size_t>(task.n_groups), -1);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    int& holder = first[static_cast<std::size_t>(parts[k])];
    if (holder < 0) holder = graph.ranks[k];
    holders[static_cast<std::size_t>(graph.ranks[k])] = holder;
  }
  return holders;
}

}  // namespace

template <class T>
std::vector<RankCoupling> rank_couplings(const matrix::DistMatrix<T>& A) {
  const mpi::Comm& comm = A.comm();
  const std::vector<std::int64_t> mine = mpi::collectively(comm, [&] {
    std::vector<std::int64_t> numbers;
    for (const comm::Stage& stage : A.exchange().plan().stages) {
      for (std::size_t m = 0; m < stage.send_ranks.size(); ++m) {
        numbers.insert(numbers.end(), {comm.rank(), stage.send_ranks[m],
                                       stage.send_offsets[m + 1] - stage.send_offsets[m]});
      }
    }
    return numbers;
  });
  const auto all = mpi::concatenate_all<std::int64_t>(comm, mine);
  return mpi::collectively(comm, [&] {
    std::vector<RankCoupling> couplings;
    for (std::size_t k = 0; k < all.size(); k += 3) {
      couplings.push_back({static_cast<int>(all[k]), static_cast<int>(all[k + 1]), all[k + 2]});
    }
    return couplings;
  });
}

template std::vector<RankCoupling> rank_couplings(const matrix::DistMatrix<float>&);
template std::vector<RankCoupling> rank_couplings(const matrix::DistMatrix<double>&);

const GroupMethod& groups_by_graph() {
  static const GroupMethod method = {
      {"graph",
       "ranks that send most to each other in a product with the level's matrix, by METIS; the "
       "matrix is made once more",
       "Karypis, Kumar 1998"},
      true,
      partition::has_metis,
      holders_by_graph};
  return method;
}

}  // namespace nodewise::amg
