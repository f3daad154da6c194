#include "nodewise/report/json_parts.hpp"

#include <cmath>

#include "nodewise/base/version.hpp"

namespace nodewise::report {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json option_value(const std::string& type, const std::string& text) {
  const bool is_list = text.find(',') != std::string::npos;  // or none, of a type of lists
  if (type == "integers" && !text.empty() && !is_list) return Json::parse(text, nullptr, false);
  if (type == "integer" || type == "number") return Json::parse(text, nullptr, false);
  if (type == "flag") return text == "true";
  return text_or_null(text);
}

Json options_json(std::span<const ReportedOption> options) {
  Json json = Json::object();
  for (const ReportedOption& o : options) json[o.name] = option_value(o.type, o.value);
  return json;
}

Json program_json() {
  const BuildInfo build = build_info();
  return {{"name", "nodewise"},         {"version", build.version},
          {"commit", build.commit},     {"build_type", build.build_type},
          {"compiler", build.compiler}, {"build_options", build.options}};
}

Json machine_json(const run::Environment& machine) {
  return {{"hosts", machine.hosts},
          {"ranks", machine.ranks},
          {"nodes", machine.ranks_per_node.size()},
          {"ranks_per_node", machine.ranks_per_node},
          {"domains", machine.domains},
          {"placement", machine.placement_given ? "given" : "detected"},
          {"threads_per_rank", machine.threads},
          {"bound_to", text_or_null(machine.bound_to)},
          {"processor", machine.processor},
          {"mpi_library", machine.mpi_library},
          {"mpi_standard", machine.mpi_standard}};
}

Json preset_json(const solver::PresetRecord& preset) {
  const auto object = [](const auto& options) {
    Json json = Json::object();
    for (const auto& [name, value] : options) json[name] = value;
    return json;
  };
  return {{"name", preset.name},
          {"rule", text_or_null(preset.rule)},
          {"reason", text_or_null(preset.reason)},
          {"set", object(preset.set)},
          {"kept", object(preset.kept)}};
}

Json decision_json(const std::optional<partition::PartitionDecision>& decision) {
  if (!decision) return nullptr;
  return {{"chosen", decision->chosen},
          {"reason", decision->reason},
          {"products", decision->products},
          {"product_s", number(decision->now_s)},
          {"product_s_after", number(decision->then_s)},
          {"cost_s", number(decision->cost_s)},
          {"pays_after", decision->pays_after > 0 ? number(decision->pays_after) : nullptr}};
}

Json placement_json(const std::optional<partition::PlacementGain>& gain) {
  if (!gain) return nullptr;
  const auto if_known = [&](const auto& value) { return gain->is_known ? Json(value) : nullptr; };
  const auto if_priced = [](const std::optional<double>& s) { return s ? number(*s) : nullptr; };
  return {{"parts", gain->n_parts},
          {"moved_parts", gain->moved_parts},
          {"values_between_nodes_before", if_known(gain->values_before)},
          {"values_between_nodes", if_known(gain->values_after)},
          {"product_s_before", if_priced(gain->seconds_before)},
          {"product_s", if_priced(gain->seconds_after)}};
}

Json redistribution_json(const std::shared_ptr<const amg::RedistributionDecision>& decision) {
  if (!decision) return nullptr;
  return {{"ranks_before", decision->ranks_before},
          {"ranks", decision->ranks},
          {"stay_s", number(decision->stay_s)},
          {"moved_s", number(decision->moved_s)},
          {"stay_setup_s", number(decision->stay_setup_s)},
          {"moved_setup_s", number(decision->moved_setup_s)},
          {"redundant", decision->redundant},
          {"reason", decision->reason}};
}

Json sparsity_choice_json(const std::shared_ptr<const amg::sparsify::SparsityDecision>& decision) {
  if (!decision) return nullptr;
  return {{"drop", decision->drop.empty() ? Json(nullptr) : Json(decision->drop)},
          {"tolerance", number(decision->tolerance)},
          {"by_nodes", decision->by_nodes},
          {"cycle_s_with_all", number(decision->full_s)},
          {"cycle_s_without", number(decision->sparse_s)},
          {"growth_of_iterations", number(decision->growth)},
          {"reason", decision->reason}};
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nodewise::report
