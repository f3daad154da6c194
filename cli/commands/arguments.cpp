#include "cli/commands/arguments.hpp"

#include <fmt/format.h>

#include "cli/commands/command.hpp"

namespace nodewise::cli {

void take_matrix(Settings& settings) {
  const std::vector<std::string>& files = settings.files;
  if (settings.is_model_problem() && !files.empty()) {
    fail_usage(fmt::format("give a matrix file or --problem, not both ('{}')", files[0]));
  }
  if (!settings.is_model_problem() && files.empty()) {
    fail_usage("no matrix: give a Matrix Market file, or a model problem by --problem NAME");
  }
  if (files.size() > 1) {
    const bool has_rhs = overlap(settings.command->takes, Affects::right_hand_side);
    fail_usage(fmt::format("one matrix at a time: '{}' is one file too many{}", files[1],
                           has_rhs ? " (a right-hand side is given by --rhs)" : ""));
  }
}

void take_no_arguments(Settings& settings) {
  if (settings.files.empty()) return;
  fail_usage(fmt::format("unexpected argument '{}'", settings.files[0]));
}

}  // namespace nodewise::cli
