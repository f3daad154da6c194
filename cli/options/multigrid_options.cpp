#include "cli/options/multigrid_options.hpp"

#include <optional>

#include "nodewise/solver/presets.hpp"

namespace nodewise::cli {

namespace {

/// Those that may be taken: that of the name, or any.
std::vector<const solver::Preset*> possible_presets(const Settings& settings) {
  const Choice<solver::Preset>& chosen = settings.method.preset;
  if (!settings.command->tries_presets && !chosen.is_automatic()) return {&*chosen};
  std::vector<const solver::Preset*> possible;
  for (const solver::Preset& preset : solver::Preset::family()) possible.push_back(&preset);
  return possible;
}

}  // namespace

std::vector<NamedValue> set_multigrid_options(Settings& settings) {
  OptionView<amg::Options> tree(amg::option_fields(), settings.amg);
  return set_options_there(tree, settings.given_amg);
}

void check_multigrid_options(const Settings& settings) {
  const solver::GivenKnowledge known = {settings.knows_near_null_space(), settings.amg.unknowns};
  std::optional<Error> first;
  for (const solver::Preset* preset : possible_presets(settings)) {
    amg::Options options = settings.amg;
    try {
      solver::apply_preset(*preset, known, 1, settings.given_amg, options);
      return;
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  throw *first;
}

}  // namespace nodewise::cli
