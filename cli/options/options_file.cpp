#include "cli/options/options_file.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/report/read_options.hpp"

#include "cli/exit_code.hpp"
#include "cli/options/catalog.hpp"

namespace nodewise::cli {

namespace {

const Option& find(const std::string& key, const std::string& name) {
  const std::string dashed = with_dashes(key);
  const std::span<const Option> all = catalog();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Option& option) { return option.name == dashed; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Option& option : all) names.push_back(option.name);
  const int near = nearest_name(dashed, names);
  const std::string hint =
      near < 0 ? "" : fmt::format("; did you mean '{}'?", names[static_cast<std::size_t>(near)]);
  throw Failure(ExitCode::usage, fmt::format("{}: there is no option '{}'{}", name, key, hint));
}

/// Whether it says how to solve, and not what, where or what to report.
bool says_how(const Option& option, const Command& command) {
  const bool is_of_solve =
      option.group == "Solver" || option.group == "Multigrid" || option.group == "Communication";
  return is_of_solve && option.name != "preset" && option.name != "options" &&
         option.belongs_to(command);
}

/// Drops what was taken of multigrid and belongs to no method, beginning with number `first`.
void drop_misplaced(Settings& settings, std::size_t first) {
  amg::Options copy = settings.amg;
  OptionView<amg::Options> tree(amg::option_fields(), copy);
  const std::vector<NamedValue> misplaced = set_options_there(tree, settings.given_amg);
  const auto is_misplaced = [&](const NamedValue& value) {
    return std::find(misplaced.begin(), misplaced.end(), value) != misplaced.end();
  };
  auto& all = settings.given_amg;
  all.erase(
      std::remove_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), is_misplaced),
      all.end());
  // A report holds what its method decides, too.
  amg::complete(copy);
  for (std::size_t k = first; k < all.size(); ++k) {
    if (!needed_by(tree, all[k].first).empty()) settings.given.erase(with_dashes(all[k].first));
  }
}

}  // namespace

void take_options(const std::string& text, const std::string& name, Settings& settings) {
  const std::size_t given = settings.given_amg.size();
  for (const auto& [key, word] : report::read_options(text, name)) {
    const Option& option = find(key, name);
    if (!word || settings.has(option.name) || !says_how(option, *settings.command)) continue;
    try {
      option.set(settings, *word);
    } catch (const Error& error) {
      throw Failure(ExitCode::usage, fmt::format("{}: {}", name, error.what()));
    }
    // What is as by default is not reported as without effect; but a route is given.
    if (*word != option.standard || option.name == "route") settings.given.insert(option.name);
  }
  drop_misplaced(settings, given);
}

}  // namespace nodewise::cli
