#include "nodewise/partition/point_graph.hpp"

#include <algorithm>

namespace nodewise::partition {

namespace {

/// Sorts each point's neighbours and leaves each once.
void sort_and_unify(PointGraph& graph) {
  std::size_t end = 0;
  std::int64_t begin = 0;
  for (std::size_t k = 0; k + 1 < graph.begins.size(); ++k) {
    const auto from = graph.neighbours.begin() + begin;
    const auto to = graph.neighbours.begin() + graph.begins[k + 1];
    begin = graph.begins[k + 1];
    std::sort(from, to);
    const auto last = std::unique(from, to);
    std::copy(from, last, graph.neighbours.begin() + static_cast<std::ptrdiff_t>(end));
    end += static_cast<std::size_t>(last - from);
    graph.begins[k + 1] = static_cast<std::int64_t>(end);
  }
  graph.neighbours.resize(end);
}

}  // namespace

PointGraph point_graph(const kernels::Csr<double>& A, int unknowns) {
  PointGraph graph;
  const auto n = static_cast<std::size_t>(A.n_rows / unknowns);
  graph.weights.assign(n, 0);
  const auto for_each_coupling = [&](const auto& f) {
    for (LocalIndex i = 0; i < A.n_rows; ++i) {
      for (Offset k = A.begin(i); k < A.end(i); ++k) {
        const LocalIndex j = A.cols[static_cast<std::size_t>(k)];
        if (i / unknowns != j / unknowns) {
          f(static_cast<std::size_t>(i / unknowns), static_cast<std::size_t>(j / unknowns));
        }
      }
    }
  };
  std::vector<std::int64_t> ends(n + 1, 0);
  for_each_coupling([&](std::size_t a, std::size_t b) {
    ++ends[a + 1];
    ++ends[b + 1];
  });
  for (std::size_t k = 0; k < n; ++k) ends[k + 1] += ends[k];
  graph.begins = ends;
  graph.neighbours.resize(static_cast<std::size_t>(ends.back()));
  for_each_coupling([&](std::size_t a, std::size_t b) {
    graph.neighbours[static_cast<std::size_t>(ends[a]++)] = static_cast<LocalIndex>(b);
    graph.neighbours[static_cast<std::size_t>(ends[b]++)] = static_cast<LocalIndex>(a);
  });
  for (LocalIndex i = 0; i < A.n_rows; ++i) {
    graph.weights[static_cast<std::size_t>(i / unknowns)] += A.length(i);
  }
  sort_and_unify(graph);
  return graph;
}

PointGraph part_of(const PointGraph& graph, std::span<const LocalIndex> chosen) {
  std::vector<LocalIndex> number(graph.weights.size(), -1);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    number[static_cast<std::size_t>(chosen[k])] = static_cast<LocalIndex>(k);
  }
  PointGraph part;
  for (const LocalIndex point : chosen) {
    const auto p = static_cast<std::size_t>(point);
    part.weights.push_back(graph.weights[p]);
    for (auto e = graph.begins[p]; e < graph.begins[p + 1]; ++e) {
      const LocalIndex other =
          number[static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(e)])];
      if (other >= 0) part.neighbours.push_back(other);
    }
    part.begins.push_back(static_cast<std::int64_t>(part.neighbours.size()));
  }
  return part;
}

std::vector<int> for_rows(std::span<const int> of_points, int unknowns) {
  std::vector<int> of_rows;
  of_rows.reserve(of_points.size() * static_cast<std::size_t>(unknowns));
  for (const int part : of_points) {
    of_rows.insert(of_rows.end(), static_cast<std::size_t>(unknowns), part);
  }
  return of_rows;
}

std::int64_t values_between_nodes(const PointGraph& graph, std::span<const int> node_of_point) {
  std::int64_t values = 0;
  std::vector<int> nodes;
  for (std::size_t k = 0; k < graph.weights.size(); ++k) {
    nodes.clear();
    for (auto e = graph.begins[k]; e < graph.begins[k + 1]; ++e) {
      const auto other = static_cast<std::size_t>(graph.neighbours[static_cast<std::size_t>(e)]);
      if (node_of_point[other] != node_of_point[k]) nodes.push_back(node_of_point[other]);
    }
    std::sort(nodes.begin(), nodes.end());
    values += std::unique(nodes.begin(), nodes.end()) - nodes.begin();
  }
  return values;
}

}  // namespace nodewise::partition
