// Reading or making the matrix, after asking whether it fits.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "nodewise/io/graph.hpp"
#include "nodewise/io/matrix_market_body.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/run/memory.hpp"

#include "cli/agreed.hpp"
#include "cli/inputs/machine.hpp"
#include "cli/inputs/standard_input.hpp"
#include "cli/inputs/system.hpp"
#include "cli/print/progress.hpp"

namespace nodewise::cli {

namespace {

bool is_standard_input(const Settings& settings) {
  return settings.files[0] == standard_input_name;
}

struct Size {
  double rows = 0;
  double nonzeros = 0;
};

Size size_of_problem(const io::GalleryOptions& options) {
  const double n = options.n;
  switch (options.problem) {
    case io::Problem::laplace5:
    case io::Problem::convection2d:
      return {n * n, 5 * n * n};
    case io::Problem::laplace7:
    case io::Problem::convection3d:
      return {n * n * n, 7 * n * n * n};
    case io::Problem::laplace9:
    case io::Problem::rotated_fe:
      return {n * n, 9 * n * n};
    case io::Problem::laplace27:
      return {n * n * n, 27 * n * n * n};
    case io::Problem::rotated_fd:
      return {n * n, 7 * n * n};
    case io::Problem::random:
      return {n, n * (1.0 + options.entries)};
    case io::Problem::beam:
      return {24 * n * (n + 1) * (n + 1), 37 * 24 * n * (n + 1) * (n + 1)};
  }
  return {};
}

// What the commands need at least, in bytes, as measured at their peak (docs/exit-codes.md).
double matrix_bytes(const Size& size) {
  return 12 * size.nonzeros + 8 * size.rows;
}
double solve_bytes(const Size& size) {
  return 24 * size.nonzeros + 300 * size.rows;
}
/// Entries on their way to the owners of their rows, sent and received, and the matrix.
double market_bytes(const Size& size) {
  return 72 * size.nonzeros + 8 * size.rows;
}

/// Collective. What a Matrix Market file announces, but no more entries than its bytes can hold: a
/// size line that lies is for the reader to report. Rows take memory whether they have entries or
/// not.
Size announced_size(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path) {
  const io::MarketFile file(comm, path);
  const io::MarketHeader& header = file.header();
  const double smallest_line = header.format == io::MarketFormat::array ? 2 : 4;
  const double expansion = file.compressed() ? 1032 : 1;  // the most that deflate can do
  const double possible = expansion * static_cast<double>(file.file_bytes()) / smallest_line;
  const double entries = std::min(static_cast<double>(header.entries), possible);
  const double sides = header.symmetry == io::MarketSymmetry::general ? 1 : 2;
  return {static_cast<double>(header.rows), sides * entries};
}

/// Collective. A file that is missing is for the reader to report.
double bytes_of_file(const mpi::Comm& comm, const std::string& path) {
  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(path, ignored);
  return mpi::max(comm, ignored ? 0.0 : static_cast<double>(bytes));
}

bool is_market(const mpi::Comm& comm, const std::string& path) {
  return io::format_of_content(comm, path) == io::FileFormat::matrix_market;
}

/// Collective. How many numbers the vectors of a file have; of none without a name.
double numbers_in(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path) {
  if (path.empty()) return 0;
  return is_market(*comm, path) ? announced_size(comm, path).nonzeros
                                : bytes_of_file(*comm, path) / sizeof(double);
}

/// Collective. Bytes of the vectors given: right-hand sides, which have a solution each, and those
/// of the near null space. One right-hand side is part of what rows take.
double vectors_need(const std::shared_ptr<const mpi::Comm>& comm, const Settings& settings,
                    double rows) {
  if (settings.command == Command::convert) return 0;
  double sides = numbers_in(comm, settings.rhs.rhs);
  if (settings.rhs.random_rhs) sides = rows * settings.rhs.rhs_count;
  const double null_vectors = numbers_in(comm, settings.knowledge.near_null_space) +
                              numbers_in(comm, settings.knowledge.left_near_null_space);
  return sizeof(double) * (2 * std::max(sides - rows, 0.0) + null_vectors);
}

/// What the patterns, plans and counts of virtual ranks take on each rank that lays them out, as
/// measured for routes of two and three steps.
double virtual_need(const Settings& settings) {
  constexpr double bytes_of_a_rank = 1800;
  return bytes_of_a_rank * settings.virtual_machine.virtual_ranks;
}

/// Collective. Bytes to read the file and do the command's work on the matrix.
double file_need(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                 const Settings& settings) {
  if (is_market(*comm, path)) {
    const Size size = announced_size(comm, path);
    if (settings.command == Command::convert) return market_bytes(size);
    return std::max(
        market_bytes(size),
        solve_bytes(size) + vectors_need(comm, settings, size.rows) + virtual_need(settings));
  }
  // A binary file is about as large as the matrix, and read in place: two and a half times that.
  return 2.5 * bytes_of_file(*comm, path) + vectors_need(comm, settings, 0) +
         virtual_need(settings);
}

double problem_need(const std::shared_ptr<const mpi::Comm>& comm, const Settings& settings) {
  const Size size = size_of_problem(settings.gallery);
  if (settings.command == Command::convert) return matrix_bytes(size);
  return solve_bytes(size) + vectors_need(comm, settings, size.rows) + virtual_need(settings);
}

LoadedMatrix read_file(const mpi::Comm& world, const std::shared_ptr<const mpi::Comm>& comm,
                       const std::string& path, const Settings& settings) {
  if (!settings.source.ignore_memory_check) {
    run::check_memory(world, file_need(comm, path, settings), source_name(settings));
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
  const SpooledInput spooled(*comm);
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

}  // namespace

LoadedMatrix load_matrix(const mpi::Comm& world, std::shared_ptr<const mpi::Comm> comm,
                         const Settings& settings) {
  if (!settings.is_model_problem()) {
    return about_files(ExitCode::input_file, [&] {
      if (is_standard_input(settings)) return read_standard_input(world, comm, settings);
      return read_file(world, comm, settings.files[0], settings);
    });
  }
  if (!settings.source.ignore_memory_check) {
    const double need =
        about_files(ExitCode::input_file, [&] { return problem_need(comm, settings); });
    run::check_memory(world, need, source_name(settings));
  }
  Matrix A = io::generate<double>(std::move(comm), settings.gallery);
  return {std::make_shared<const Matrix>(std::move(A)), {}};
}

}  // namespace nodewise::cli
