#include "cli/inputs/system.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "nodewise/advise/diagnosis.hpp"
#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"

#include "cli/agreed.hpp"

namespace nodewise::cli {

namespace {

/// A x at x = 1 counts as zero where it is below this times |A| 1, in norms.
constexpr double zero_row_sum = 1e-12;

/// Collective. Whether A 1 = 0.
bool maps_constants_to_zero(const Matrix& A) {
  return advise::null_vector_facts<double>(A, {}, {}, 0).front().smallness <= zero_row_sum;
}

std::vector<double> random_vector(const comm::Layout& layout, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(layout.n_local()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = hash_normal(
        static_cast<std::uint64_t>(layout.to_global(static_cast<LocalIndex>(i)) - layout.first()),
        seed);
  }
  return x;
}

void make_known_solution(System& system) {
  const Matrix& A = *system.A;
  system.known_solution.assign(static_cast<std::size_t>(A.n_local()), 1.0);
  matrix::multiply<double>(A, system.known_solution, system.b);
  if (!maps_constants_to_zero(A)) return;
  system.rhs = RhsKind::consistent;
  system.modulo_constants = true;
  system.known_solution = random_vector(A.cols(), 0);
  matrix::multiply<double>(A, system.known_solution, system.b);
}

void make_random_rhs(System& system, const RhsOptions& options) {
  const comm::Layout& layout = system.A->rows();
  system.rhs = RhsKind::random;
  system.n_rhs = options.rhs_count;
  const auto k = static_cast<std::size_t>(system.n_rhs);
  mpi::collectively(layout.comm(), [&] {
    system.b.resize(static_cast<std::size_t>(layout.n_local()) * k);
    for (std::size_t c = 0; c < k; ++c) {
      const auto seed = static_cast<std::uint64_t>(options.rhs_seed) + c;
      solve::set_column<double>(random_vector(layout, seed), k, c, system.b);
    }
  });
}

/// Collective. Whether every diagonal entry is below zero.
bool has_negative_diagonal(const Matrix& A) {
  const bool here = mpi::collectively(A.comm(), [&] {
    const Array<double> d = matrix::diagonal(A);
    return std::all_of(d.begin(), d.end(), [](double value) { return value < 0; });
  });
  return mpi::min(A.comm(), std::int32_t{here}) == 1;
}

}  // namespace

std::string source_name(const Settings& settings) {
  if (!settings.is_model_problem()) {
    return std::filesystem::path(settings.files[0]).filename().string();
  }
  std::string name;
  for (const Field<io::GalleryOptions>& f : io::gallery_fields()) {
    const std::string value = f.get(settings.gallery);
    if (f.name == "problem") name = value;
    if (f.name == "n") name += ", n = " + value;
  }
  return name;
}

MatrixFacts describe_matrix(const LoadedMatrix& loaded, const Settings& settings) {
  const Matrix& A = *loaded.A;
  const bool symmetric = matrix::is_symmetric(A);
  return {.source = source_name(settings),
          .format = loaded.summary.format,
          .graph_laplacian = settings.source.graph_laplacian,
          .rows = A.rows().n_global(),
          .nonzeros = A.nnz_global(),
          .duplicates = loaded.summary.duplicates,
          .symmetric = symmetric,
          .negative = symmetric && has_negative_diagonal(A)};
}

void check_shape(const Matrix& A) {
  if (A.rows().n_global() != A.cols().n_global()) {
    throw Failure(
        ExitCode::unsuitable_matrix,
        fmt::format("the matrix has {} and {}; a system to solve needs a square one",
                    counted(A.rows().n_global(), "row"), counted(A.cols().n_global(), "column")));
  }
  if (A.rows().n_global() == 0) {
    throw Failure(ExitCode::unsuitable_matrix, "the matrix has no rows");
  }
}

System make_system(std::shared_ptr<const Matrix> A, const Settings& settings) {
  System system;
  system.A = std::move(A);
  const comm::Layout& layout = system.A->rows();
  system.b.resize(static_cast<std::size_t>(layout.n_local()));
  if (!settings.rhs.rhs.empty()) {
    system.rhs = RhsKind::file;
    auto [n_rhs, values] = about_files(
        ExitCode::input_file, [&] { return io::read_vectors<double>(layout, settings.rhs.rhs); });
    system.n_rhs = n_rhs;
    system.b = std::move(values);
  } else if (settings.rhs.random_rhs) {
    make_random_rhs(system, settings.rhs);
  } else {
    make_known_solution(system);
  }
  return system;
}

amg::ProblemInfo<double> make_knowledge(const Matrix& A, bool symmetric, const Settings& settings) {
  const KnowledgeOptions& given = settings.knowledge;
  amg::ProblemInfo<double> knowledge;
  knowledge.symmetric = symmetric;
  const auto read = [&](const comm::Layout& layout, const std::string& path) {
    return about_files(ExitCode::input_file,
                       [&] { return io::read_vectors<double>(layout, path); });
  };
  if (!given.near_null_space.empty()) {
    io::Vectors<double> vectors = read(A.rows(), given.near_null_space);
    knowledge.near_null_space = {vectors.n_vectors, std::move(vectors.values)};
  } else if (!given.coordinates.empty()) {
    const int unknowns = settings.amg.unknowns;
    const io::Vectors<double> x = read(amg::points_of(A.rows(), unknowns), given.coordinates);
    if (x.n_vectors != unknowns) {
      throw Failure(ExitCode::usage,
                    fmt::format("{} has {} coordinates a point, which needs --unknowns {}",
                                given.coordinates, x.n_vectors, x.n_vectors));
    }
    knowledge.near_null_space = amg::rigid_body_modes<double>(A.rows(), unknowns, x.values);
  } else if (settings.knows_near_null_space() &&
             settings.amg.method == amg::Method::aggregation) {  // that of the model problem
    knowledge.near_null_space =
        amg::rigid_body_modes<double>(A.rows(), io::unknowns_of(settings.gallery.problem),
                                      io::point_coordinates(A.rows(), settings.gallery));
  }
  if (!given.left_near_null_space.empty()) {
    io::Vectors<double> vectors = read(A.rows(), given.left_near_null_space);
    knowledge.left_near_null_space = {vectors.n_vectors, std::move(vectors.values)};
  }
  return knowledge;
}

std::optional<SolutionError> solution_error(const System& system, std::span<const double> x) {
  const std::span<const double> exact = system.known_solution;
  const comm::Layout& layout = system.A->rows();
  if (system.rhs == RhsKind::file || system.rhs == RhsKind::random) return std::nullopt;
  double means[2] = {0, 0};
  if (system.modulo_constants) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      means[0] += x[i] - exact[i];
      means[1] += exact[i];
    }
    mpi::sum_in_place<double>(layout.comm(), means);
    for (double& mean : means) mean /= static_cast<double>(layout.n_global());
  }
  double squares[2] = {0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wrong = x[i] - exact[i] - means[0];
    const double right = exact[i] - means[1];
    squares[0] += wrong * wrong;
    squares[1] += right * right;
  }
  mpi::sum_in_place<double>(layout.comm(), squares);
  return SolutionError{std::sqrt(squares[0] / squares[1]), system.modulo_constants};
}

}  // namespace nodewise::cli
