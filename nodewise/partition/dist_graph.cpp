#include "nodewise/partition/dist_graph.hpp"

#include <algorithm>
#include <tuple>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/comm/points.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::partition {

namespace {

struct Edge {
  GlobalIndex from, to;
  friend bool operator==(const Edge&, const Edge&) = default;
  friend bool operator<(const Edge& a, const Edge& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  }
};

/// Local. The couplings of this rank's points as its rows have them, and the other way round.
class Couplings {
 public:
  Couplings(const matrix::DistMatrix<double>& A, const comm::Layout& points, int unknowns)
      : points_(points) {
    const GlobalIndex first = A.rows().first();
    const auto point_of = [&](GlobalIndex row) { return (row - first) / unknowns; };
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      const GlobalIndex from = point_of(A.rows().to_global(i));
      for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
        const LocalIndex column = A.on().cols[static_cast<std::size_t>(k)];
        add(from, point_of(A.cols().to_global(column)));
      }
      for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
        const auto ghost = static_cast<std::size_t>(A.off().cols[static_cast<std::size_t>(k)]);
        add(from, point_of(A.ghosts()[ghost]));
      }
    }
    sort_and_unify(own_);
    sort_and_unify(away_);
  }

  /// The couplings that begin at points of other ranks, for these ranks.
  comm::Messages<Edge> for_others() const {
    std::vector<int> ranks;
    ranks.reserve(away_.size());
    for (const Edge& edge : away_) ranks.push_back(points_.owner(edge.from));
    return comm::group_by_rank(std::span<const int>(ranks), std::span<const Edge>(away_),
                               points_.comm().size());
  }

  /// Takes what others sent; then all couplings that begin here.
  const std::vector<Edge>& with(const std::vector<Edge>& arrived) {
    own_.insert(own_.end(), arrived.begin(), arrived.end());
    sort_and_unify(own_);
    return own_;
  }

 private:
  void add(GlobalIndex from, GlobalIndex to) {
    if (from == to) return;
    own_.push_back({from, to});
    (points_.owns(to) ? own_ : away_).push_back({to, from});
  }
  static void sort_and_unify(std::vector<Edge>& edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  }

  const comm::Layout& points_;
  std::vector<Edge> own_, away_;
};

}  // namespace

DistGraph dist_point_graph(const matrix::DistMatrix<double>& A, int unknowns) {
  DistGraph graph = {comm::points_of(A.rows(), unknowns)};
  std::optional<Couplings> couplings;
  const auto arrived = comm::exchange_sparse(A.comm(), [&] {
    couplings.emplace(A, graph.points, unknowns);
    return couplings->for_others();
  });
  mpi::collectively(A.comm(), [&] {
    const auto n = static_cast<std::size_t>(graph.points.n_local());
    graph.begins.assign(n + 1, 0);
    for (const Edge& edge : couplings->with(arrived.data)) {
      ++graph.begins[static_cast<std::size_t>(graph.points.to_local(edge.from)) + 1];
      graph.neighbours.push_back(edge.to);
    }
    for (std::size_t k = 0; k < n; ++k) graph.begins[k + 1] += graph.begins[k];
    graph.weights.assign(n, 0);
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      graph.weights[static_cast<std::size_t>(i / unknowns)] += A.row_length(i);
    }
  });
  return graph;
}

}  // namespace nodewise::partition
