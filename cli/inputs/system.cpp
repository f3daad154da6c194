#include "cli/inputs/system.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/read.hpp"

#include "cli/agreed.hpp"

namespace nodewise::cli {

namespace {

/// Collective. The vectors of a file; its faults are told with the option that names it.
io::Vectors<double> read_vectors(const comm::Layout& layout, const char* option,
                                 const std::string& path) {
  return about_files(ExitCode::input_file, [&] {
    try {
      return io::read_vectors<double>(layout, path);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("--{}: {}", option, error.what()));
    }
  });
}

/// Collective. The vectors that the settings name, for a hierarchy with these options.
amg::ProblemInfo<double> read_problem_info(const Matrix& A, const amg::Options& options,
                                           const Settings& settings) {
  const KnowledgeOptions& given = settings.knowledge;
  amg::ProblemInfo<double> knowledge;
  if (!given.near_null_space.empty()) {
    io::Vectors<double> vectors = read_vectors(A.rows(), "near-null-space", given.near_null_space);
    knowledge.near_null_space = {vectors.n_vectors, std::move(vectors.values)};
  } else if (!given.coordinates.empty()) {
    const int unknowns = options.unknowns;
    const io::Vectors<double> x =
        read_vectors(amg::points_of(A.rows(), unknowns), "coordinates", given.coordinates);
    if (x.n_vectors != unknowns) {
      throw Failure(ExitCode::usage,
                    fmt::format("{} has {} coordinates a point, which needs --unknowns {}",
                                given.coordinates, x.n_vectors, x.n_vectors));
    }
    knowledge.near_null_space = amg::rigid_body_modes<double>(A.rows(), unknowns, x.values);
  } else if (settings.knows_near_null_space() &&
             options.method->takes_near_null_space) {  // that of the model problem
    knowledge.near_null_space =
        amg::rigid_body_modes<double>(A.rows(), settings.gallery.problem->unknowns,
                                      io::point_coordinates(A.rows(), settings.gallery));
  }
  if (!given.left_near_null_space.empty()) {
    io::Vectors<double> vectors =
        read_vectors(A.rows(), "left-near-null-space", given.left_near_null_space);
    knowledge.left_near_null_space = {vectors.n_vectors, std::move(vectors.values)};
  }
  return knowledge;
}

/// Collective.
solver::RowFields read_fields(const Matrix& A, const std::string& path) {
  const io::Vectors<double> numbers = read_vectors(A.rows(), "row-fields", path);
  return about_files(ExitCode::input_file, [&] {
    if (numbers.n_vectors != 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--row-fields: {} has {}, where one is needed", path,
                              counted(numbers.n_vectors, "column")));
    }
    try {
      return solver::RowFields::from_numbers(A.rows(), numbers.values);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("--row-fields: {}: {}", path, error.what()));
    }
  });
}

}  // namespace

std::string source_name(const Settings& settings) {
  if (!settings.is_model_problem()) {
    if (settings.files[0] == standard_input_name) return standard_input_title;
    return std::filesystem::path(settings.files[0]).filename().string();
  }
  return io::in_words(settings.gallery);
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
  solver::RightHandSides rhs;
  if (settings.rhs.random_rhs) {
    rhs = solver::random_right_hand_sides(A, settings.rhs.rhs_seed, settings.rhs.rhs_count);
  } else if (settings.rhs.problem_rhs) {
    rhs.kind = solver::RhsKind::problem;
    rhs.values = mpi::collectively(
        A.comm(), [&] { return io::own_right_hand_side(A.rows(), settings.gallery); });
  } else if (settings.rhs.rhs.empty()) {
    rhs = solver::with_known_solution(A);
  } else {
    auto [count, values] = read_vectors(A.rows(), "rhs", settings.rhs.rhs);
    rhs.values = std::move(values);
    rhs.count = count;
    rhs.kind = solver::RhsKind::file;
  }
  if (settings.rhs.remove_constants) solver::remove_constants(A.rows(), rhs);
  return rhs;
}

std::vector<double> first_guess(const Matrix& A, const solver::RightHandSides& rhs,
                                const Settings& settings) {
  const std::string& path = settings.rhs.initial_guess;
  if (path.empty()) return std::vector<double>(rhs.values.size(), 0.0);
  io::Vectors<double> x = read_vectors(A.cols(), "initial-guess", path);
  if (x.n_vectors != rhs.count) {
    throw Failure(ExitCode::input_file, fmt::format("--initial-guess: {} has {}, but there are {}",
                                                    path, counted(x.n_vectors, "column"),
                                                    counted(rhs.count, "right-hand side")));
  }
  return std::move(x.values);
}

solver::Problem make_problem(const LoadedMatrix& loaded, const Settings& settings) {
  solver::Problem problem;
  problem.matrix = matrix_source(loaded, settings);
  problem.has_near_null_space = settings.knows_near_null_space();
  problem.gives_near_null_space = settings.gives_near_null_space();
  problem.make = [A = loaded.A, &settings](const solver::Options& options) {
    return read_problem_info(*A, options.amg, settings);
  };
  const std::string& fields = settings.knowledge.row_fields;
  if (!fields.empty()) problem.fields = read_fields(*loaded.A, fields);
  return problem;
}

amg::ProblemInfo<double> make_knowledge(const Matrix& A, bool symmetric, const Settings& settings) {
  amg::ProblemInfo<double> knowledge = read_problem_info(A, settings.amg, settings);
  knowledge.symmetric = symmetric;
  return knowledge;
}

}  // namespace nodewise::cli
