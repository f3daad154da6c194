#include "cli/options/preset_text.hpp"

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/solver/presets.hpp"

#include "cli/print/command_to_paste.hpp"

namespace nodewise::cli {

namespace {

std::string_view where_words(solver::SetWhere where) {
  switch (where) {
    case solver::SetWhere::with_near_null_space:
      return " where a near null space is given";
    case solver::SetWhere::with_near_null_space_if_symmetric:
      return " where one is given and the matrix is symmetric";
    case solver::SetWhere::without_near_null_space:
      return " where none is";
    case solver::SetWhere::always:
      break;
  }
  return "";
}

std::string markdown_row(const solver::Preset& preset) {
  std::string sets;
  const auto add = [&](const std::string& words, const std::string& remark) {
    sets += fmt::format("{}`{}`{}", sets.empty() ? "" : "; ", words, remark);
  };
  for (const solver::PresetOption& option : preset.sets) {
    add(fmt::format("--{} {}", with_dashes(option.name), option.value),
        fmt::format("{}: {}", where_words(option.where), option.reason));
  }
  for (const auto& [name, value] : preset.of_system) {
    add(fmt::format("--{} {}", with_dashes(name), value), "");
  }
  if (preset.takes_unknowns) add("--unknowns", ": as found in the pattern");
  if (preset.method) add("--solver " + *preset.method, "");
  return fmt::format("| `{}` | {} | {} |\n", with_dashes(preset.name), *preset.summary, sets);
}

}  // namespace

bool is_worth_telling(const solver::PresetRecord& preset) {
  return preset.name != "default" || !preset.rule.empty();
}

std::string preset_text(const solver::PresetRecord& preset) {
  std::string text = with_dashes(preset.name);
  if (!preset.rule.empty()) text += fmt::format(", by {}: {}", preset.rule, preset.reason);
  if (!preset.set.empty()) text += "; sets " + option_words(preset.set);
  if (!preset.kept.empty()) text += "; given otherwise: " + option_words(preset.kept);
  return text;
}

std::string presets_markdown() {
  std::string text = "| preset | for | what it sets |\n| --- | --- | --- |\n";
  for (const solver::Preset& preset : solver::Preset::family()) text += markdown_row(preset);
  return text;
}

}  // namespace nodewise::cli
