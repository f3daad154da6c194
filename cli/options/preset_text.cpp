#include "cli/options/preset_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solver/presets.hpp"

namespace nodewise::cli {

namespace {

void apply_method(const solver::Preset& preset, Settings& settings, PresetRecord& record) {
  if (!preset.method) return;
  const bool suits =
      settings.amg.cycle != amg::CycleKind::k || !solve::needs_fixed_preconditioner(*preset.method);
  if (!suits && !settings.has("solver")) return;  // chosen by the cycle then
  const std::string name = solve::to_string(*preset.method);
  if (settings.has("solver")) {
    record.kept.emplace_back("solver", name);
    return;
  }
  settings.method.solver = static_cast<SolverChoice>(static_cast<int>(*preset.method) + 1);
  record.set.emplace_back("solver", name);
  record.set_solver = true;
}

std::string options_words(const std::vector<std::pair<std::string, std::string>>& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", with_dashes(name), value);
  }
  return text;
}

std::string_view where_words(solver::SetWhere where) {
  switch (where) {
    case solver::SetWhere::with_near_null_space:
      return " where a near null space is given";
    case solver::SetWhere::without_near_null_space:
      return " where none is";
    case solver::SetWhere::always:
      break;
  }
  return "";
}

std::string markdown_row(const std::string& name, const solver::Preset& preset) {
  std::string sets;
  const auto add = [&](const std::string& words, const std::string& remark) {
    sets += fmt::format("{}`{}`{}", sets.empty() ? "" : "; ", words, remark);
  };
  for (const solver::PresetOption& option : preset.options) {
    add(fmt::format("--{} {}", with_dashes(option.name), option.value),
        fmt::format("{}: {}", where_words(option.where), option.reason));
  }
  if (preset.takes_unknowns) add("--unknowns", ": as found in the pattern");
  if (preset.method) add(fmt::format("--solver {}", solve::to_string(*preset.method)), "");
  return fmt::format("| `{}` | {} | {} | {} |\n", with_dashes(name), preset.version, preset.problem,
                     sets);
}

}  // namespace

/// The options of multigrid that were given, by their names in the library.
std::vector<std::string> given_options(const Settings& settings) {
  std::vector<std::string> names;
  for (const Field<amg::Options>& f : amg::option_fields()) {
    const std::string dashed = with_dashes(f.name);
    if (settings.has(dashed) || settings.has("amg-" + dashed)) names.push_back(f.name);
  }
  return names;
}

PresetRecord apply_preset(const Matrix& A, bool symmetric, Settings& settings) {
  const std::optional<solver::ChoiceRule> rule = solver::find_choice_rule(settings.method.preset);
  const bool amg = settings.method.preconditioner == PreconditionerChoice::amg;
  const solver::GivenKnowledge known = {settings.knows_near_null_space(), settings.amg.unknowns};
  const solver::Preset* preset = rule ? nullptr : &solver::find_preset(settings.method.preset);
  int unknowns = 1;
  PresetRecord record;
  const bool square = A.rows() == A.cols();  // another is for multigrid to refuse
  if (amg && square && (rule || (preset->takes_unknowns && !settings.has("unknowns")))) {
    const mpi::Scope scope(A.comm(), "examination", 0);
    const advise::ProblemFacts facts = advise::problem_facts(A, symmetric);
    unknowns = facts.unknowns;
    if (rule) {
      const solver::PresetChoice choice = solver::choose_preset(facts, known, *rule);
      preset = choice.preset;
      record.reason = choice.reason;
      record.rule = to_string(*rule);
    }
  }
  if (preset == nullptr) preset = &solver::find_preset("default");
  record.name = preset->name;
  record.version = preset->version;
  solver::AppliedPreset applied =
      solver::apply_preset(*preset, known, unknowns, given_options(settings), settings.amg);
  // Only a solve has a use for it, and the recurrences of pipelined CG multiply what a
  // preconditioner is short of linear by, in single precision 1e-7.
  const bool useful =
      settings.command == Command::solve && settings.method.solver != SolverChoice::pipelined_cg;
  if (!useful && !settings.has("precision")) {
    settings.amg.precision = amg::Precision::same;
    std::erase_if(applied.set, [](const auto& option) { return option.first == "precision"; });
  }
  record.set = std::move(applied.set);
  record.kept = std::move(applied.kept);
  apply_method(*preset, settings, record);
  return record;
}

bool is_worth_telling(const PresetRecord& preset) {
  return preset.name != "default" || !preset.rule.empty();
}

std::string preset_text(const PresetRecord& preset) {
  std::string text = fmt::format("{} {}", with_dashes(preset.name), preset.version);
  if (!preset.rule.empty()) text += fmt::format(", by {}: {}", preset.rule, preset.reason);
  if (!preset.set.empty()) text += "; sets " + options_words(preset.set);
  if (!preset.kept.empty()) text += "; given otherwise: " + options_words(preset.kept);
  return text;
}

std::string presets_markdown() {
  std::string text = "| preset | version | for | what it sets |\n| --- | ---: | --- | --- |\n";
  for (const solver::Preset& preset : solver::presets()) text += markdown_row(preset.name, preset);
  for (const solver::Preset& preset : solver::earlier_presets()) {
    text += markdown_row(fmt::format("{}-{}", preset.name, preset.version), preset);
  }
  return text;
}

}  // namespace nodewise::cli
