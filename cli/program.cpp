#include "cli/program.hpp"

#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/parallel.hpp"
#include "nodewise/base/version.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/run/environment.hpp"

#include "cli/agreed.hpp"
#include "cli/commands/bench.hpp"
#include "cli/commands/calibrate.hpp"
#include "cli/commands/convert.hpp"
#include "cli/commands/inspect.hpp"
#include "cli/commands/predict.hpp"
#include "cli/commands/solve.hpp"
#include "cli/commands/tune.hpp"
#include "cli/inputs/machine.hpp"
#include "cli/last_resort.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/distinct_files.hpp"
#include "cli/options/parse.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/print/console.hpp"

namespace nodewise::cli {

namespace {

std::vector<std::string> words_of_root(const mpi::Comm& world, std::span<const std::string> words) {
  const int count = mpi::broadcast(world, static_cast<std::int32_t>(words.size()), 0);
  std::vector<std::string> shared(words.begin(), words.end());
  shared.resize(static_cast<std::size_t>(count));
  for (std::string& word : shared) word = mpi::broadcast(world, word, 0);
  return shared;
}

/// Collective. The text of a file that rank 0 reads.
std::string text_of_root(const mpi::Comm& world, const std::string& path) {
  std::string text;
  on_root(world, [&] {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) throw Failure(ExitCode::input_file, fmt::format("cannot read '{}'", path));
  });
  return mpi::broadcast(world, text, 0);
}

void print_page(const mpi::Comm& world, const std::string& text) {
  if (world.is_root()) print_text(text);
}

std::string options_page(const PageOptions& page) {
  if (page.presets) return presets_markdown();
  if (page.exit_codes) return exit_codes_markdown();
  if (page.man) return man_page();
  if (page.completion != Shell::none) return completion_script(page.completion);
  return page.markdown ? options_markdown() : options_text();
}

std::string version_text() {
  const BuildInfo build = build_info();
  return fmt::format(
      "nodewise {}\n  commit    {}\n  build     {}, {}, {}\n  MPI       {} (standard {})\n",
      build.version, build.commit, build.build_type, build.compiler, build.options,
      run::mpi_library(), run::mpi_standard());
}

ExitCode run_command(const std::shared_ptr<const mpi::Comm>& world,
                     std::span<const std::string> words) {
  const Settings settings =
      parse(words, [&](const std::string& path) { return text_of_root(*world, path); });
  if (settings.help) {
    print_page(*world, command_help(settings.command, settings.help_all));
    return ExitCode::success;
  }
  on_root(*world, [&] { check_distinct_files(settings); });
  parallel::set_threads(settings.placement.threads);
  switch (settings.command) {
    case Command::solve:
      return solve_command(world, settings, words);
    case Command::inspect:
      return inspect_command(world, settings, words);
    case Command::predict:
      return predict_command(world, settings, words);
    case Command::tune:
      return tune_command(world, settings, words);
    case Command::bench:
      return bench_command(world, settings, words);
    case Command::convert:
      return convert_command(world, settings);
    case Command::calibrate:
      return calibrate_command(world, settings, words);
    case Command::help:
      print_page(*world, program_help());
      break;
    case Command::options:
      print_page(*world, options_page(settings.page));
      break;
    case Command::version:
      print_page(*world, version_text());
      break;
  }
  return ExitCode::success;
}

/// The current exception as a Failure; call inside a catch block only.
Failure current_failure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure;
  } catch (...) {
    const Error error = mpi::current_error();
    return {exit_code(error.code()), error.what()};
  }
}

}  // namespace

ExitCode run_program(const std::shared_ptr<const mpi::Comm>& world,
                     std::span<const std::string> words) {
  ExitCode code = ExitCode::success;
  std::optional<Failure> failure;
  try {
    const std::vector<std::string> shared = words_of_root(*world, words);
    code = run_command(world, shared);
    if (code == ExitCode::success) on_root(*world, check_standard_output);
  } catch (...) {
    failure = current_failure();
    code = failure->code();
  }
  return agreed_end(*world, code, failure ? failure->what() : nullptr);
}

}  // namespace nodewise::cli
