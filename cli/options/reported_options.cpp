#include "cli/options/reported_options.hpp"

#include "cli/options/catalog.hpp"

namespace nodewise::cli {

std::vector<report::ReportedOption> reported_options(const Settings& settings) {
  std::vector<report::ReportedOption> reported;
  for (const Option& option : catalog()) {
    if (!option.belongs_to(*settings.command)) continue;
    if (option.group == "Model problems" && !settings.is_model_problem()) continue;
    // Options of methods that are not chosen have no value.
    const std::optional<std::string> value = option.get(settings);
    if (value) reported.push_back({option.name, option.type, *value});
  }
  return reported;
}

}  // namespace nodewise::cli
