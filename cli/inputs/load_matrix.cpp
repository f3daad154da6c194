// Reading or making the matrix, after asking whether it fits.
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "nodewise/eigen/eigenpairs.hpp"
#include "nodewise/io/graph.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/io/spooled_input.hpp"
#include "nodewise/mpi/memory.hpp"
#include "nodewise/predict/predict.hpp"
#include "nodewise/run/memory_need.hpp"

#include "cli/agreed.hpp"
#include "cli/inputs/system.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

bool is_standard_input(const Settings& settings) {
  return settings.files[0] == standard_input_name;
}

/// Collective. Bytes of the vectors given: right-hand sides, which have a solution each, and those
/// of the near null space. One right-hand side is part of what rows take.
double vectors_need(const std::shared_ptr<const mpi::Comm>& comm, const Settings& settings,
                    double rows) {
  double sides = run::numbers_in_file(comm, settings.rhs.rhs);
  if (settings.rhs.random_rhs) sides = rows * settings.rhs.rhs_count;
  const double null_vectors = run::numbers_in_file(comm, settings.knowledge.near_null_space) +
                              run::numbers_in_file(comm, settings.knowledge.left_near_null_space);
  return sizeof(double) * (2 * std::max(sides - rows, 0.0) + null_vectors);
}

/// Collective. Bytes of the vectors that eigenpairs are found with, and of the mass matrix.
double eigenpairs_need(const std::shared_ptr<const mpi::Comm>& comm, const Settings& settings,
                       double rows) {
  if (!overlap(settings.command->takes, Affects::eigenpairs)) return 0;
  const std::string& mass = settings.mass.mass;
  const double vectors = eigen::most_vectors(settings.eigen, !mass.empty());
  return sizeof(double) * rows * vectors +
         (mass.empty() ? 0.0 : run::need_of_file(comm, mass).reading);
}

/// Collective. Bytes to do the command's work on a matrix with so many rows, beside the matrix.
double need_beside(const std::shared_ptr<const mpi::Comm>& comm, const Settings& settings,
                   double rows) {
  return vectors_need(comm, settings, rows) + eigenpairs_need(comm, settings, rows) +
         run::virtual_rank_bytes(
             predict::most_virtual_ranks(settings.predict, settings.virtual_machine));
}

/// Bytes to have the rows go to other ranks, or get another order.
double arranging_need(const io::MatrixSize& size, const Settings& settings) {
  const partition::Partition& partition = settings.method.partition;
  const bool by_graph =
      partition.is_automatic() || partition->makes_graph || settings.method.reorder->renumbers;
  return run::division_bytes(size, by_graph) +
         run::virtual_rank_bytes(settings.virtual_machine.virtual_ranks);
}

/// Bytes to write the matrix, as its rows are or otherwise arranged.
double writing_need(const io::MatrixSize& size, const Settings& settings) {
  return settings.arranges_rows() ? arranging_need(size, settings) : run::matrix_bytes(size);
}

/// Bytes of all nodes, where one of them has to have the whole matrix and its graph.
double gathering_need(const mpi::Comm& world, const io::MatrixSize& size,
                      const Settings& settings) {
  const partition::Reordering& reorder = settings.method.reorder;
  if (!reorder->renumbers || !reorder->of_all_ranks) return 0;
  return world.topology().n_nodes() * run::division_bytes(size, true);
}

/// Collective. Bytes to read the file and do the command's work on the matrix.
double file_need(const mpi::Comm& world, const std::shared_ptr<const mpi::Comm>& comm,
                 const std::string& path, const Settings& settings) {
  const run::FileNeed need = run::need_of_file(comm, path);
  const double work = settings.command->writes_matrix
                          ? writing_need(need.size, settings)
                          : need.solving + need_beside(comm, settings, need.size.rows);
  return std::max({need.reading, work, gathering_need(world, need.size, settings)});
}

double problem_need(const mpi::Comm& world, const std::shared_ptr<const mpi::Comm>& comm,
                    const Settings& settings) {
  const io::MatrixSize size = (*settings.gallery.problem->size)(settings.gallery);
  const double work = settings.command->writes_matrix
                          ? writing_need(size, settings)
                          : run::solve_bytes(size) + need_beside(comm, settings, size.rows);
  return std::max(work, gathering_need(world, size, settings));
}

LoadedMatrix read_file(const mpi::Comm& world, const std::shared_ptr<const mpi::Comm>& comm,
                       const std::string& path, const Settings& settings) {
  if (!settings.source.ignore_memory_check) {
    mpi::check_memory(world, file_need(world, comm, path, settings), source_name(settings));
  }
  LoadedMatrix loaded;
  // Whole points on every rank, whether they have 2, 3, 4 or 6 rows: where these are looked for,
  // and elsewhere, too, so that what is given besides leaves the rows where they are.
  const int together = 12 % settings.amg.unknowns == 0 ? 12 : settings.amg.unknowns;
  Console console(world.is_root(), settings.console);
  const io::ReadOptions options = {.together = together, .progress = reading_progress(console)};
  Matrix A = io::read_matrix<double>(comm, path, options, &loaded.summary);
  if (settings.source.graph_laplacian) A = io::grounded_laplacian(A);
  loaded.A = std::make_shared<const Matrix>(std::move(A));
  return loaded;
}

/// Messages call it by its name, and not by that of the temporary file.
LoadedMatrix read_standard_input(const mpi::Comm& world,
                                 const std::shared_ptr<const mpi::Comm>& comm,
                                 const Settings& settings) {
  if (comm->topology().n_nodes() > 1) {
    throw Failure(
        ExitCode::usage,
        "the ranks are on several nodes: give the matrix as a file that all can read, not "
        "as standard input");
  }
  std::error_code ignored;  // the folder is then empty, which rank 0 finds out
  const io::SpooledInput spooled(*comm, STDIN_FILENO,
                                 std::filesystem::temp_directory_path(ignored).string(),
                                 standard_input_title);
  try {
    return read_file(world, comm, spooled.path(), settings);
  } catch (const Error& error) {
    std::string text = error.what();
    const std::size_t place = text.find(spooled.path());
    if (place != std::string::npos) {
      text.replace(place, spooled.path().size(), standard_input_title);
    }
    throw Error(error.code(), text);
  }
}

/// Local. The caller's own matrix, whose rows stay where they are.
LoadedMatrix take_given(const std::shared_ptr<const mpi::Comm>& comm, const Matrix& given) {
  const auto there = [&](const comm::Layout& layout) {
    const std::span<const GlobalIndex> starts = layout.starts();
    return comm::Layout(comm, {starts.begin(), starts.end()});
  };
  std::vector<int> ranks(static_cast<std::size_t>(comm->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const Matrix A = given.with_comm(there(given.rows()), there(given.cols()), ranks);
  return {std::make_shared<const Matrix>(A), {}};
}

}  // namespace

LoadedMatrix load_mass(const Matrix& A, const Settings& settings) {
  const std::string& path = settings.mass.mass;
  return about_files(ExitCode::input_file, [&] {
    LoadedMatrix loaded;
    try {
      const io::ReadOptions options = {.rows = A.rows(), .cols = A.cols()};
      loaded.A = std::make_shared<const Matrix>(
          io::read_matrix<double>(A.rows().shared_comm(), path, options, &loaded.summary));
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("--mass: {}", error.what()));
    }
    return loaded;
  });
}

LoadedMatrix load_matrix(const mpi::Comm& world, std::shared_ptr<const mpi::Comm> comm,
                         const Settings& settings) {
  if (settings.source.given) return take_given(comm, *settings.source.given);
  if (!settings.is_model_problem()) {
    return about_files(ExitCode::input_file, [&] {
      if (is_standard_input(settings)) return read_standard_input(world, comm, settings);
      return read_file(world, comm, settings.files[0], settings);
    });
  }
  if (!settings.source.ignore_memory_check) {
    const double need =
        about_files(ExitCode::input_file, [&] { return problem_need(world, comm, settings); });
    mpi::check_memory(world, need, source_name(settings));
  }
  Matrix A = io::generate<double>(std::move(comm), settings.gallery);
  return {std::make_shared<const Matrix>(std::move(A)), {}};
}

}  // namespace nodewise::cli
