// Which preset a command takes, and what it makes of the options.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs/system.hpp"
#include "cli/options/settings.hpp"
#include "cli/record.hpp"

namespace nodewise::cli {

/// Collective. Puts the options of --preset into the settings, except those that were given. Looks
/// at the matrix, of which it is known whether it is symmetric, only where the preset depends on
/// it.
PresetRecord apply_preset(const Matrix& A, bool symmetric, Settings& settings);

/// The options of multigrid that were given, by their names in the library.
std::vector<std::string> given_options(const Settings& settings);

/// Whether it is one that changes something, or a rule chose it.
bool is_worth_telling(const PresetRecord& preset);

/// "poisson 2, by auto-3: ...; sets --precision auto"
std::string preset_text(const PresetRecord& preset);

/// The table of presets, as in docs/methods/presets.md.
std::string presets_markdown();

}  // namespace nodewise::cli
