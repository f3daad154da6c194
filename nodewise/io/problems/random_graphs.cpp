#include "nodewise/io/problems/random_graphs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/io/problems/grid.hpp"
#include "nodewise/io/problems/shuffled_numbers.hpp"

namespace nodewise::io::problems {

namespace {

/// A member of the base as one of the derived struct, so that both have the same fields.
template <class S, class Member>
Member S::*of_graph(Member GraphOptions::*member) {
  return member;
}

template <class S>
std::vector<Field<S>> fields_of_graphs() {
  return {
      field("edges", of_graph<S>(&GraphOptions::edges),
            "Edges drawn for each vertex of the random graphs", 1),
      field("graph_matrix", of_graph<S>(&GraphOptions::graph_matrix),
            "What of a random graph makes the matrix: its Laplacian and `shift`, or ones for its "
            "edges",
            {"laplacian", "adjacency"}),
      field("shift", of_graph<S>(&GraphOptions::shift),
            "What is added to the diagonal of a random graph's Laplacian, which is singular", 0.0)
          .needing("graph_matrix laplacian",
                   [](const S& o) { return o.graph_matrix == GraphMatrix::laplacian; }),
      field("seed", of_graph<S>(&GraphOptions::seed), seed_meaning, 0)};
}

}  // namespace

std::span<const Field<GraphOptions>> graph_fields() {
  static const std::vector<Field<GraphOptions>> fields = fields_of_graphs<GraphOptions>();
  return fields;
}

std::span<const Field<KroneckerOptions>> kronecker_fields() {
  static const std::vector<Field<KroneckerOptions>> fields = [] {
    std::vector<Field<KroneckerOptions>> all = fields_of_graphs<KroneckerOptions>();
    all.push_back(field("initiator", &KroneckerOptions::initiator,
                        "Probabilities of the four quarters of the adjacency matrix, and of the "
                        "quarters of these, and so on: four numbers by rows, which add up to 1"));
    return all;
  }();
  return fields;
}

GlobalIndex preferred_vertex(GlobalIndex vertex, int edge, int edges, std::uint64_t seed) {
  // Edge k of vertex v has its beginning, v, in place 2 (v edges + k), and its end in the next one.
  while (vertex > 0) {
    const auto place = 2 * static_cast<std::uint64_t>(vertex * edges + edge) + 1;
    const auto before = 2 * static_cast<std::uint64_t>(vertex) * static_cast<std::uint64_t>(edges);
    const std::uint64_t drawn = hash64(place, seed) % before;
    vertex = static_cast<GlobalIndex>(drawn / 2) / edges;
    edge = static_cast<int>(static_cast<GlobalIndex>(drawn / 2) % edges);
    if (drawn % 2 == 0) return vertex;
  }
  return 0;
}

namespace {

/// A graph's edges, of which each rank draws a range: edge(e, emit) emits at most one of them.
template <class T, class Edge>
matrix::DistMatrix<T> drawn_graph(const std::shared_ptr<const mpi::Comm>& comm,
                                  const GalleryOptions& options, const GraphOptions& own,
                                  const Edge& edge) {
  const comm::Layout vertices = comm::uniform_points(comm, options.n, 1);
  matrix::Assembler<T> assembler(vertices, vertices);
  mpi::collectively(*comm, [&] {
    const auto starts = comm::uniform_starts(GlobalIndex{options.n} * own.edges, comm->size());
    const auto rank = static_cast<std::size_t>(comm->rank());
    assembler.reserve(2 * static_cast<std::size_t>(starts[rank + 1] - starts[rank]));
    for (GlobalIndex e = starts[rank]; e < starts[rank + 1]; ++e) {
      edge(e, [&](GlobalIndex a, GlobalIndex b) {
        if (a == b) return;
        assembler.add(a, b, T{1});
        assembler.add(b, a, T{1});
      });
    }
  });
  const matrix::DistMatrix<T> drawn = assembler.finish();
  // Those drawn several times have been added up.
  return matrix::matrix_from_rows<T>(vertices, vertices, [&](GlobalIndex i, auto&& emit) {
    const bool is_laplacian = own.graph_matrix == GraphMatrix::laplacian;
    const LocalIndex row = vertices.to_local(i);
    const auto& on = drawn.on();
    const auto& off = drawn.off();
    const T value{is_laplacian ? T{-1} : T{1}};
    for (Offset k = on.begin(row); k < on.end(row); ++k) {
      emit(vertices.to_global(on.cols[static_cast<std::size_t>(k)]), value);
    }
    for (Offset k = off.begin(row); k < off.end(row); ++k) {
      const auto ghost = static_cast<std::size_t>(off.cols[static_cast<std::size_t>(k)]);
      emit(drawn.ghosts()[ghost], value);
    }
    const auto degree = static_cast<double>(on.length(row) + off.length(row));
    if (is_laplacian) emit(i, static_cast<T>(degree + own.shift));
  });
}

/// Draws the quarter of the adjacency matrix, its quarter, and so on, until an entry is left; again
/// where it is behind the last vertex. Vertices are shuffled: otherwise the first have most edges.
class KroneckerEdges {
 public:
  KroneckerEdges(GlobalIndex n, const KroneckerOptions& own)
      : n_(n),
        levels_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)))),
        seed_(static_cast<std::uint64_t>(own.seed)),
        shuffled_(n, n, hash64(seed_, 1)) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) below_[k] = sum += own.initiator[k];
  }

  template <class Emit>
  void operator()(GlobalIndex edge, const Emit& emit) const {
    GlobalIndex a = n_, b = n_;
    for (std::uint64_t draw = 0; a >= n_ || b >= n_; ++draw) {
      a = b = 0;
      const std::uint64_t key = hash64(static_cast<std::uint64_t>(edge), hash64(draw, seed_));
      for (int level = 0; level < levels_; ++level) {
        const double x = hash_uniform(static_cast<std::uint64_t>(level), key);
        const auto quarter =
            std::count_if(below_.begin(), below_.end(), [x](double below) { return x >= below; });
        a = 2 * a + quarter / 2;
        b = 2 * b + quarter % 2;
      }
    }
    emit(shuffled_.shuffled(a), shuffled_.shuffled(b));
  }

 private:
  GlobalIndex n_;
  int levels_;
  std::uint64_t seed_;
  ShuffledNumbers shuffled_;
  std::array<double, 3> below_{};
};

void check_graph(const GraphOptions& own) {
  if (own.edges < 1) refuse_problem(fmt::format("edges is {}, needs >= 1", own.edges));
  if (own.seed < 0) refuse_problem(fmt::format("seed is {}, needs >= 0", own.seed));
  if (!(own.shift >= 0) || !std::isfinite(own.shift)) {
    refuse_problem(fmt::format("shift is {}, needs >= 0", own.shift));
  }
}

void check_kronecker(const GalleryOptions& options) {
  const auto& own = options.problem.options<KroneckerOptions>();
  check_graph(own);
  const std::vector<double>& p = own.initiator;
  const auto is_probability = [](double x) { return x >= 0 && x <= 1; };
  double sum = 0;
  for (const double x : p) sum += x;
  if (p.size() != 4 || !std::all_of(p.begin(), p.end(), is_probability) ||
      !(std::abs(sum - 1) < 1e-9)) {
    refuse_problem(
        fmt::format("initiator is {}, needs four numbers that add up to 1", fmt::join(p, ",")));
  }
  // Those of n - 1 and less: with all of it in another quarter than the first nothing might fit.
  if (p[0] == 0) refuse_problem("the first number of initiator is 0, needs > 0");
}

void check_preferential(const GalleryOptions& options) {
  check_graph(options.problem.options<GraphOptions>());
}

/// Of a graph in which no edge is drawn twice.
template <class Own>
MatrixSize graph_size(const GalleryOptions& options) {
  const auto& own = options.problem.options<Own>();
  const double n = options.n;
  const double diagonal = own.graph_matrix == GraphMatrix::laplacian ? 1 : 0;
  return {n, n * std::min(n, 2.0 * own.edges + diagonal)};
}

template <class T>
matrix::DistMatrix<T> make_kronecker(const std::shared_ptr<const mpi::Comm>& comm,
                                     const GalleryOptions& options) {
  const auto& own = options.problem.options<KroneckerOptions>();
  return drawn_graph<T>(comm, options, own, KroneckerEdges(options.n, own));
}

template <class T>
matrix::DistMatrix<T> make_preferential(const std::shared_ptr<const mpi::Comm>& comm,
                                        const GalleryOptions& options) {
  const auto& own = options.problem.options<GraphOptions>();
  const auto seed = static_cast<std::uint64_t>(own.seed);
  return drawn_graph<T>(comm, options, own, [&](GlobalIndex e, auto&& emit) {
    const GlobalIndex vertex = e / own.edges;
    emit(vertex, preferred_vertex(vertex, static_cast<int>(e % own.edges), own.edges, seed));
  });
}

template <class Own, auto make_double, auto make_float>
ModelProblem random_graph(MethodInfo info, void (*check)(const GalleryOptions&)) {
  return {std::move(info),
          {.dimensions = 0,
           .unknowns = 1,
           .is_symmetric = true,
           .check = check,
           .size = graph_size<Own>,
           .coordinates = nullptr,
           .in_double = make_double,
           .in_float = make_float}};
}

}  // namespace

const ModelProblem& kronecker_problem() {
  static const ModelProblem problem =
      random_graph<KroneckerOptions, make_kronecker<double>, make_kronecker<float>>(
          {"kronecker",
           "a random graph of n vertices that is alike in small and large, as networks",
           "Leskovec, Chakrabarti, Kleinberg, Faloutsos, Ghahramani 2010; Graph 500",
           own_options(kronecker_fields)},
          check_kronecker);
  return problem;
}

const ModelProblem& preferential_problem() {
  static const ModelProblem problem =
      random_graph<GraphOptions, make_preferential<double>, make_preferential<float>>(
          {"preferential", "a random graph that grows vertex by vertex, to those with many edges",
           "Barabasi, Albert 1999; Sanders, Schulz 2016", own_options(graph_fields)},
          check_preferential);
  return problem;
}

}  // namespace nodewise::io::problems
