// Writes what the steps of coarsening make of matrices, for others to compare with:
//   coarsening_steps TASKS
// where each line of the file TASKS is
//   MATRIX FOLDER [option=value ...] [influence=FILE] [fractions=FILE]
//                 [roots=FILE candidates=FILE left=FILE radius=NUMBER]
// The options are those of a hierarchy. FOLDER, which must exist, gets strength.mtx, 1 where an
// entry is strong. Classical coarsening: splitting.mtx (1: coarse, 0: fine) and, where there are
// coarse and fine points, interpolation.mtx and coarse.mtx, the Galerkin product; with method=air
// restriction.mtx, too. With a vector of influences the splitting is that of Ruge-Stueben's first
// pass with these, with one of fractions that of CLJP, and there is no interpolation.
//
// Aggregation: roots.mtx, of each point the root of its aggregate, from 0 (-1: none), as the
// options make them. With roots given the steps go on from those: improved.mtx (the candidates
// after the sweeps that are asked for, by Jacobi with the radius given), tentative.mtx,
// candidates.mtx
// (the coarse near null space of the k columns of the file of candidates, as a matrix of k
// columns), interpolation.mtx (smoothed with the spectral radius given) and coarse.mtx. With
// restriction=smoothed and a file of left candidates also left_candidates.mtx and restriction.mtx,
// made of these by the transposed matrix in the same steps.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/aggregate/smooth.hpp"
#include "nodewise/amg/aggregate/tentative.hpp"
#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/amg/options/classical_options.hpp"
#include "nodewise/amg/options/level_method.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"

namespace {

using namespace nodewise;
using amg::Strength;
using amg::aggregate::Aggregates;
using Matrix = matrix::DistMatrix<double>;

struct Task {
  std::string matrix, folder, influence, fractions, roots, candidates, left;
  double radius = 0;
  amg::Options options;

  std::string file(const char* name) const { return folder + "/" + name + ".mtx"; }
};

void set(Task& task, const std::string& name, const std::string& value) {
  if (name == "influence") {
    task.influence = value;
  } else if (name == "fractions") {
    task.fractions = value;
  } else if (name == "roots") {
    task.roots = value;
  } else if (name == "candidates") {
    task.candidates = value;
  } else if (name == "left") {
    task.left = value;
  } else if (name == "radius") {
    task.radius = std::stod(value);
  } else {
    set_option(task.options, amg::option_fields(), name, value);
  }
}

Task parse(const std::string& line) {
  std::istringstream words(line);
  Task task;
  words >> task.matrix >> task.folder;
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size() - 1);
    set(task, word.substr(0, equals), word.substr(equals + 1));
  }
  return task;
}

Matrix as_matrix(const Matrix& A, const Strength& strength) {
  return A.with_values(Array<double>(strength.on.begin(), strength.on.end()),
                       Array<double>(strength.off.begin(), strength.off.end()));
}

void write_splitting(const Task& task, const Matrix& A, const std::vector<LocalIndex>& coarse) {
  std::vector<double> marks(static_cast<std::size_t>(A.n_local()), 0.0);
  for (const LocalIndex i : coarse) marks[static_cast<std::size_t>(i)] = 1.0;
  io::write_vector<double>(task.file("splitting"), A.rows(), marks);
}

std::vector<LocalIndex> coarse_points(const amg::coarsen::Splitting& splitting) {
  std::vector<LocalIndex> coarse;
  for (std::size_t i = 0; i < splitting.size(); ++i) {
    if (splitting[i] == amg::coarsen::coarse) coarse.push_back(static_cast<LocalIndex>(i));
  }
  return coarse;
}

std::vector<LocalIndex> first_pass(const Task& task, const Matrix& A, const Strength& strength) {
  const auto read = io::read_vector<double>(A.rows(), task.influence);
  const std::vector<LocalIndex> influence(read.begin(), read.end());
  return coarse_points(amg::coarsen::ruge_stueben(A, strength, 1, {}, influence));
}

std::vector<LocalIndex> cljp(const Task& task, const Matrix& A, const Strength& strength) {
  const auto fractions = io::read_vector<double>(A.rows(), task.fractions);
  return coarse_points(amg::coarsen::cljp(A, strength, 0, {}, fractions));
}

void coarsen_classically(const Task& task, const Matrix& A) {
  const amg::ClassicalOptions& classical = amg::classical_options(task.options);
  const Strength strength = amg::strength_of_connection(
      A, classical.strength_threshold, classical.max_row_sum, classical.strength_measure);
  io::write_matrix(task.file("strength"), as_matrix(A, strength));
  if (!task.influence.empty()) return write_splitting(task, A, first_pass(task, A, strength));
  if (!task.fractions.empty()) return write_splitting(task, A, cljp(task, A, strength));
  const auto transfer =
      task.options.method->functions<double>().transfer(A, {}, task.options, nullptr);
  write_splitting(task, A, transfer.coarse_rows);
  if (!transfer.P) return;
  io::write_matrix(task.file("interpolation"), *transfer.P);
  if (transfer.R) io::write_matrix(task.file("restriction"), *transfer.R);
  const Matrix coarse = transfer.R ? matrix::multiply(*transfer.R, matrix::multiply(A, *transfer.P))
                                   : matrix::galerkin_product(A, *transfer.P);
  io::write_matrix(task.file("coarse"), coarse);
}

/// The points of A and their strong connections.
struct Graph {
  Matrix matrix;
  Strength strength;
};

Graph make_graph(const Matrix& A, const amg::Options& options) {
  Matrix points = options.unknowns > 1 ? amg::aggregate::block_norms(A, options.unknowns) : A;
  const auto& own = options.method.options<amg::AggregationOptions>();
  Strength strength = amg::aggregate::symmetric_strength(points, own.aggregation_threshold);
  return {std::move(points), std::move(strength)};
}

void write_roots(const Task& task, const Matrix& points, const Aggregates& aggregates) {
  const comm::Layout& owners = aggregates.layout;
  std::vector<double> roots;  // of aggregates of this rank alone, as standard ones are
  for (const GlobalIndex aggregate : aggregates.of_point) {
    if (aggregate == amg::aggregate::no_aggregate) {
      roots.push_back(-1);
      continue;
    }
    const auto local = static_cast<std::size_t>(owners.to_local(aggregate));
    roots.push_back(static_cast<double>(points.rows().to_global(aggregates.roots.at(local))));
  }
  io::write_vector<double>(task.file("roots"), points.rows(), roots);
}

/// The aggregates of given roots, one number a point in a plain file; their members may be
/// anywhere.
Aggregates read_aggregates(const Task& task, const comm::Layout& points) {
  std::ifstream file(task.roots);
  std::vector<GlobalIndex> root_of;
  for (GlobalIndex root = 0; file >> root;) root_of.push_back(root);
  std::vector<GlobalIndex> number(root_of.size(), amg::aggregate::no_aggregate);  // of each root
  GlobalIndex count = 0;
  std::vector<LocalIndex> own;
  for (std::size_t i = 0; i < root_of.size(); ++i) {
    const auto point = static_cast<GlobalIndex>(i);
    if (root_of[i] != point) continue;
    number[i] = count++;
    if (points.owns(point)) own.push_back(points.to_local(point));
  }
  std::vector<GlobalIndex> of_point;
  for (GlobalIndex i = points.begin(); i < points.end(); ++i) {
    const GlobalIndex root = root_of.at(static_cast<std::size_t>(i));
    of_point.push_back(root < 0 ? amg::aggregate::no_aggregate
                                : number.at(static_cast<std::size_t>(root)));
  }
  return {comm::Layout::from_local_size(points.shared_comm(), static_cast<GlobalIndex>(own.size())),
          std::move(of_point), std::move(own)};
}

amg::NearNullSpace<double> read_candidates(const std::string& path, const Matrix& A) {
  auto read = io::read_vectors<double>(A.rows(), path);
  return {read.n_vectors, std::move(read.values)};
}

amg::NearNullSpace<double> improved_candidates(const Task& task, const std::string& path,
                                               const Matrix& A) {
  const auto& own = task.options.method.options<amg::AggregationOptions>();
  auto given = read_candidates(path, A);
  if (own.candidate_relaxation == "jacobi") {
    return amg::improved(A, std::move(given), own.candidate_sweeps, task.radius);
  }
  const auto relaxation = amg::relax::make_relaxation(A, task.options.smoother);
  return amg::improved(A, std::move(given), own.candidate_sweeps, *relaxation);
}

/// Vectors as the columns of a matrix.
Matrix columns(const comm::Layout& rows, const amg::NearNullSpace<double>& vectors) {
  const comm::Layout few = comm::Layout::uniform(rows.shared_comm(), vectors.n_vectors);
  matrix::Assembler<double> assembler(rows, few);
  for (LocalIndex i = 0; i < rows.n_local(); ++i) {
    const auto row = vectors.row(static_cast<std::size_t>(i));
    for (std::size_t k = 0; k < row.size(); ++k) {
      assembler.add(rows.to_global(i), static_cast<GlobalIndex>(k), row[k]);
    }
  }
  return assembler.finish();
}

/// A prolongation, or by the transposed matrix a transposed restriction.
struct Half {
  amg::NearNullSpace<double> candidates;
  Matrix tentative;
  amg::NearNullSpace<double> coarse;
  Matrix smoothed;
};

Half make_half(const Task& task, const std::string& path, const Matrix& A,
               const Aggregates& aggregates, const Graph& graph) {
  const amg::Options& options = task.options;
  const auto& own = options.method.options<amg::AggregationOptions>();
  auto candidates = improved_candidates(task, path, A);
  auto [tentative, coarse] =
      amg::aggregate::tentative_prolongator(aggregates, options.unknowns, A.rows(), candidates);
  const Matrix smoother =
      own.filter_prolongation
          ? amg::aggregate::without_weak_entries(A, graph.matrix, graph.strength, options.unknowns)
          : A;
  Matrix smoothed = amg::aggregate::smooth_prolongator(
      smoother, tentative, own.prolongation_weight / task.radius, own.prolongation_sweeps);
  return {std::move(candidates), std::move(tentative), std::move(coarse), std::move(smoothed)};
}

void aggregate(const Task& task, const Matrix& A) {
  const amg::Options& options = task.options;
  const Graph graph = make_graph(A, options);
  io::write_matrix(task.file("strength"), as_matrix(graph.matrix, graph.strength));
  if (task.roots.empty()) {
    return write_roots(task, graph.matrix,
                       amg::aggregate::standard_aggregates(graph.matrix, graph.strength));
  }
  const Aggregates aggregates = read_aggregates(task, graph.matrix.rows());
  const Half right = make_half(task, task.candidates, A, aggregates, graph);
  io::write_matrix(task.file("improved"), columns(A.rows(), right.candidates));
  io::write_matrix(task.file("tentative"), right.tentative);
  io::write_matrix(task.file("candidates"), columns(right.tentative.cols(), right.coarse));
  io::write_matrix(task.file("interpolation"), right.smoothed);
  if (!amg::has_smoothed_restriction(options)) {
    return io::write_matrix(task.file("coarse"), matrix::galerkin_product(A, right.smoothed));
  }
  const Matrix transposed = matrix::transpose(A);
  const Half left =
      make_half(task, task.left, transposed, aggregates, make_graph(transposed, options));
  const Matrix R = matrix::transpose(left.smoothed);
  io::write_matrix(task.file("left_candidates"), columns(left.tentative.cols(), left.coarse));
  io::write_matrix(task.file("restriction"), R);
  io::write_matrix(task.file("coarse"), matrix::multiply(R, matrix::multiply(A, right.smoothed)));
}

void run(const Task& task) {
  const auto A = io::read_matrix<double>(mpi::Comm::create(MPI_COMM_WORLD), task.matrix,
                                         {.together = task.options.unknowns});
  if (task.options.method == "aggregation") {
    aggregate(task, A);
  } else {
    coarsen_classically(task, A);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    if (argc != 2) throw std::invalid_argument("give the file of tasks");
    std::ifstream tasks(argv[1]);
    for (std::string line; std::getline(tasks, line);) run(parse(line));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "coarsening_steps: %s\n", e.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
