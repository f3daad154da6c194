#include "cli/program.hpp"

#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/parallel.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/run/binding.hpp"

#include "cli/agreed.hpp"
#include "cli/last_resort.hpp"
#include "cli/options/catalog.hpp"
#include "cli/options/distinct_files.hpp"
#include "cli/options/parse.hpp"
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

ExitCode run_command(const std::shared_ptr<const mpi::Comm>& world,
                     std::span<const std::string> words,
                     const std::shared_ptr<const matrix::DistMatrix<double>>& given) {
  Settings settings =
      parse(words, [&](const std::string& path) { return text_of_root(*world, path); });
  settings.source.given = given;
  if (settings.command == nullptr || settings.help) {
    print_page(*world,
               settings.help ? command_help(*settings.command, settings.help_all) : program_help());
    return ExitCode::success;
  }
  on_root(*world, [&] { check_distinct_files(settings); });
  parallel::set_threads(settings.placement.threads);
  run::bind_threads(*world, settings.placement.bind);
  return (*settings.command->run)({world, settings, words});
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
    code = run_command(world, shared, nullptr);
    if (code == ExitCode::success) on_root(*world, check_standard_output);
  } catch (...) {
    failure = current_failure();
    code = failure->code();
  }
  return agreed_end(*world, code, failure ? failure->what() : nullptr);
}

ExitCode call_program(const std::shared_ptr<const mpi::Comm>& world,
                      std::span<const std::string> words,
                      const std::shared_ptr<const matrix::DistMatrix<double>>& given) {
  return run_command(world, words_of_root(*world, words), given);
}

}  // namespace nodewise::cli
