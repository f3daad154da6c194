#include "cli/json_parts.hpp"

#include "cli/options/catalog.hpp"

namespace nodewise::cli {

Json options_json(const Settings& settings, Command command) {
  Json json = Json::object();
  for (const Option& option : catalog()) {
    if (!option.belongs_to(command)) continue;
    if (option.group == "Model problems" && !settings.is_model_problem()) continue;
    json[option.name] = report::option_value(option.type, option.get(settings));
  }
  return json;
}

}  // namespace nodewise::cli
