#include "cli/options/reported_options.hpp"

#include "cli/options/catalog.hpp"

namespace nodewise::cli {

std::vector<report::ReportedOption> reported_options(const Settings& settings) {
  std::vector<report::ReportedOption> reported;
  for (const Option& option : catalog()) {
    if (!option.belongs_to(settings.command)) continue;
    if (option.group == "Model problems" && !settings.is_model_problem()) continue;
    reported.push_back({option.name, option.type, option.get(settings)});
  }
  return reported;
}

}  // namespace nodewise::cli
