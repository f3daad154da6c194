#include "cli/json_parts.hpp"

#include <cmath>

#include "nodewise/base/version.hpp"

#include "cli/options/catalog.hpp"

namespace nodewise::cli {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

namespace {

/// The value of an option as the JSON type it stands for.
Json option_value(const Option& option, const Settings& settings) {
  const std::string text = option.get(settings);
  if (option.type == "integer" || option.type == "number") return Json::parse(text, nullptr, false);
  if (option.is_flag()) return text == "true";
  return text_or_null(text);
}

}  // namespace

Json options_json(const Settings& settings, Command command) {
  Json json = Json::object();
  for (const Option& option : catalog()) {
    if (!option.belongs_to(command)) continue;
    if (option.group == "Model problems" && !settings.is_model_problem()) continue;
    json[option.name] = option_value(option, settings);
  }
  return json;
}

Json program_json() {
  const BuildInfo build = build_info();
  return {{"name", "nodewise"},         {"version", build.version},
          {"commit", build.commit},     {"build_type", build.build_type},
          {"compiler", build.compiler}, {"build_options", build.options}};
}

Json machine_json(const Machine& machine) {
  return {{"hosts", machine.hosts},
          {"ranks", machine.ranks},
          {"nodes", machine.ranks_per_node.size()},
          {"ranks_per_node", machine.ranks_per_node},
          {"domains", machine.domains},
          {"placement", machine.placement_given ? "given" : "detected"},
          {"threads_per_rank", machine.threads},
          {"processor", machine.processor},
          {"mpi_library", machine.mpi_library},
          {"mpi_standard", machine.mpi_standard}};
}

Json preset_json(const PresetRecord& preset) {
  const auto object = [](const auto& options) {
    Json json = Json::object();
    for (const auto& [name, value] : options) json[name] = value;
    return json;
  };
  return {{"name", preset.name},
          {"version", preset.version},
          {"rule", text_or_null(preset.rule)},
          {"reason", text_or_null(preset.reason)},
          {"set", object(preset.set)},
          {"kept", object(preset.kept)}};
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nodewise::cli
