#include "cli/inputs/system.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/io/read.hpp"

#include "cli/agreed.hpp"

namespace nodewise::cli {

namespace {

/// Collective. The vectors that the settings name, for a hierarchy with these options.
amg::ProblemInfo<double> read_problem_info(const Matrix& A, const amg::Options& options,
                                           const Settings& settings) {
  const KnowledgeOptions& given = settings.knowledge;
  amg::ProblemInfo<double> knowledge;
  const auto read = [&](const comm::Layout& layout, const std::string& path) {
    return about_files(ExitCode::input_file,
                       [&] { return io::read_vectors<double>(layout, path); });
  };
  if (!given.near_null_space.empty()) {
    io::Vectors<double> vectors = read(A.rows(), given.near_null_space);
    knowledge.near_null_space = {vectors.n_vectors, std::move(vectors.values)};
  } else if (!given.coordinates.empty()) {
    const int unknowns = options.unknowns;
    const io::Vectors<double> x = read(amg::points_of(A.rows(), unknowns), given.coordinates);
    if (x.n_vectors != unknowns) {
      throw Failure(ExitCode::usage,
                    fmt::format("{} has {} coordinates a point, which needs --unknowns {}",
                                given.coordinates, x.n_vectors, x.n_vectors));
    }
    knowledge.near_null_space = amg::rigid_body_modes<double>(A.rows(), unknowns, x.values);
  } else if (settings.knows_near_null_space() &&
             options.method->takes_near_null_space) {  // that of the model problem
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

run::MatrixSummary matrix_source(const LoadedMatrix& loaded, const Settings& settings) {
  return {.source = source_name(settings),
          .format = loaded.summary.format,
          .graph_laplacian = settings.source.graph_laplacian,
          .duplicates = loaded.summary.duplicates};
}

run::MatrixSummary describe_matrix(const LoadedMatrix& loaded, const Settings& settings) {
  return solver::summarize(*loaded.A, matrix_source(loaded, settings));
}

solver::RightHandSides make_right_hand_sides(const Matrix& A, const Settings& settings) {
  if (settings.rhs.random_rhs) {
    return solver::random_right_hand_sides(A, settings.rhs.rhs_seed, settings.rhs.rhs_count);
  }
  if (settings.rhs.rhs.empty()) return solver::with_known_solution(A);
  auto [count, values] = about_files(
      ExitCode::input_file, [&] { return io::read_vectors<double>(A.rows(), settings.rhs.rhs); });
  return {.values = std::move(values), .count = count, .kind = solver::RhsKind::file};
}

solver::Problem make_problem(const LoadedMatrix& loaded, const Settings& settings) {
  solver::Problem problem;
  problem.matrix = matrix_source(loaded, settings);
  problem.has_near_null_space = settings.knows_near_null_space();
  problem.gives_near_null_space = settings.gives_near_null_space();
  problem.make = [A = loaded.A, &settings](const solver::Options& options) {
    return read_problem_info(*A, options.amg, settings);
  };
  return problem;
}

amg::ProblemInfo<double> make_knowledge(const Matrix& A, bool symmetric, const Settings& settings) {
  amg::ProblemInfo<double> knowledge = read_problem_info(A, settings.amg, settings);
  knowledge.symmetric = symmetric;
  return knowledge;
}

}  // namespace nodewise::cli
