// `nodewise convert`.
#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/io/read.hpp"

#include "cli/agreed.hpp"
#include "cli/commands/command.hpp"
#include "cli/inputs/output_file.hpp"
#include "cli/inputs/system.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

namespace {

void take_files_of_convert(Settings& settings) {
  const std::size_t files = settings.files.size();
  const std::size_t wanted = settings.is_model_problem() ? 1 : 2;
  if (files == wanted) return;
  fail_usage(
      fmt::format("convert needs {}, but {} given",
                  wanted == 1 ? "one file to write" : "a file to read and one to write",
                  files == 0 ? "none is" : fmt::format("{} {}", files, files == 1 ? "is" : "are")));
}

/// Reads or makes a matrix and writes it in the format of the output's name.
ExitCode run_convert(const Call& call) {
  const std::shared_ptr<const mpi::Comm>& world = call.world;
  const Settings& settings = call.settings;
  const std::string& target = settings.files.back();
  on_root(*world, [&] {
    io::format_of_name(target);  // throws where the ending is not known
    check_writable(target);
  });
  const LoadedMatrix loaded = load_matrix(*world, world, settings);
  about_files(ExitCode::output_file, [&] { io::write_matrix<double>(target, *loaded.A); });
  Console console(world->is_root(), settings.console);
  console.line(fmt::format("{}: {} x {}, {}", target, grouped(loaded.A->rows().n_global()),
                           grouped(loaded.A->cols().n_global()),
                           counted(loaded.A->nnz_global(), "nonzero")));
  return ExitCode::success;
}

}  // namespace

const Command& convert_command() {
  static const Command command = {
      {"convert", "write a matrix, or a model problem, in the format that OUT's name ends in", ""},
      {.usage = "IN OUT | --problem NAME OUT",
       .examples = {"convert A.mtx A.petsc", "convert A.petsc A.mtx.gz",
                    "convert -p laplace5 -n 100 A.mtx"},
       .takes = Affects::matrix | Affects::console,
       .take_arguments = take_files_of_convert,
       .run = run_convert,
       .writes_matrix = true}};
  return command;
}

}  // namespace nodewise::cli
