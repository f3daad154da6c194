#include "cli/tune_candidates.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/solver/presets.hpp"

#include "cli/options/catalog.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/options/unused_options.hpp"

namespace nodewise::cli {

namespace {

/// What a preset sets, as options.
OptionList options_of(const solver::Preset& preset, const solver::GivenKnowledge& known,
                      int unknowns) {
  amg::Options ignored;
  OptionList options;
  for (const auto& [name, value] : solver::apply_preset(preset, known, unknowns, {}, ignored).set) {
    options.emplace_back(with_dashes(name), value);
  }
  if (preset.method) options.emplace_back("solver", solve::to_string(*preset.method));
  return options;
}

/// What is tried beside the presets, most promising first.
std::vector<OptionList> variations() {
  return {{{"aggressive-levels", "1"}, {"aggressive-paths", "2"}},
          {{"strength-threshold", "0.5"}},
          {{"smoother", "chebyshev"}},
          {{"method", "aggregation"}, {"smoother", "chebyshev"}},
          {{"aggressive-levels", "1"}},
          {{"smoother", "chebyshev"}, {"strength-threshold", "0.5"}},
          {{"coarsening", "pmis"}},
          {{"method", "aggregation"}},
          {{"strength-measure", "absolute"}},
          {{"interpolation-truncation", "0.2"}},
          {{"aggressive-levels", "1"}, {"smoother", "chebyshev"}},
          {{"precision", "single"}},
          {{"sweep-order", "symmetric"}},
          {{"strength-threshold", "0.1"}},
          {{"interpolation", "standard"}},
          {{"cycle", "w"}},
          {{"smoother", "ilu0"}, {"solver", "gmres"}},
          {{"preconditioner", "jacobi"}}};
}

/// The settings with these options; nothing where one of them was given otherwise.
std::optional<Settings> settings_with(const Settings& given, const OptionList& options) {
  Settings settings = given;
  for (const auto& entry : options) {
    if (given.has(entry.first)) return std::nullopt;
    const auto found = std::find_if(catalog().begin(), catalog().end(), [&](const Option& option) {
      return option.name == entry.first;
    });
    found->set(settings, entry.second);
    settings.given.insert(entry.first);
  }
  return settings;
}

/// Whether one of the options has no effect beside those that were given.
bool has_idle(const Settings& settings, const OptionList& options) {
  const std::vector<IdleOption> idle = idle_multigrid_options(settings);
  return std::any_of(idle.begin(), idle.end(), [&](const IdleOption& of_settings) {
    return std::any_of(options.begin(), options.end(),
                       [&](const auto& entry) { return entry.first == of_settings.name; });
  });
}

/// All options in one text, to tell candidates apart.
std::string print_of(const Settings& settings) {
  std::string text;
  for (const Option& option : catalog()) text += option.get(settings) + '\n';
  return text;
}

}  // namespace

std::vector<Candidate> tune_candidates(const Settings& given, const advise::ProblemFacts& facts) {
  const solver::GivenKnowledge known = {given.knows_near_null_space(), given.amg.unknowns};
  const int unknowns = given.has("unknowns") ? 1 : facts.unknowns;
  std::vector<Candidate> candidates;
  std::set<std::string> prints;
  const auto add = [&](const OptionList& options) {
    if (std::ssize(candidates) >= given.tune.max_candidates) return;
    std::optional<Settings> settings = settings_with(given, options);
    if (!settings) return;
    const bool relaxes_otherwise =
        given.has("smoother") || given.has("sweep-order") || given.has("pre-sweeps");
    if (relaxes_otherwise && settings->amg.method == amg::Method::air) return;
    // Vectors are given for an aggregation only.
    if (given.gives_near_null_space() && settings->amg.method != amg::Method::aggregation) return;
    if (has_idle(*settings, options)) return;
    if (!prints.insert(print_of(*settings)).second) return;
    candidates.push_back({options, std::move(*settings)});
  };
  add(options_of(*solver::choose_preset(facts, known).preset, known, unknowns));
  add({});
  const OptionList points = {{"unknowns", std::to_string(unknowns)}};
  for (const OptionList& options : variations()) {
    if (unknowns > 1) {  // found, and likely to help with each of them
      OptionList with_points = points;
      with_points.insert(with_points.end(), options.begin(), options.end());
      add(with_points);
    } else {
      add(options);
    }
  }
  for (const solver::Preset& preset : solver::presets()) add(options_of(preset, known, unknowns));
  return candidates;
}

std::string option_words(const OptionList& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

}  // namespace nodewise::cli
