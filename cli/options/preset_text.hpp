// What is said of presets.
#pragma once

#include <string>

#include "nodewise/solver/record.hpp"

namespace nodewise::cli {

/// Whether it is one that changes something, or a rule chose it.
bool is_worth_telling(const solver::PresetRecord& preset);

/// "poisson 2, by auto-3: ...; sets --precision auto"
std::string preset_text(const solver::PresetRecord& preset);

/// The table of presets, as in docs/methods/presets.md.
std::string presets_markdown();

}  // namespace nodewise::cli
