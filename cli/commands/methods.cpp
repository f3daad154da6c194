// The one list of commands. Each is described at the end of its own file.
#include "cli/commands/command.hpp"

namespace nodewise::cli {

const Command& solve_command();
const Command& eigen_command();
const Command& inspect_command();
const Command& predict_command();
const Command& tune_command();
const Command& bench_command();
const Command& convert_command();
const Command& calibrate_command();
const Command& report_command();
const Command& options_command();
const Command& version_command();

Family<Command>& Command::family() {
  static Family<Command> commands(
      "command", {&solve_command(), &eigen_command(), &inspect_command(), &predict_command(),
                  &tune_command(), &bench_command(), &convert_command(), &calibrate_command(),
                  &report_command(), &options_command(), &version_command()});
  return commands;
}

}  // namespace nodewise::cli
