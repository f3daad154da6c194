// Named sets of options for kinds of problems, and the rule that chooses among them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodewise/advise/problem_facts.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/solve/krylov.hpp"

namespace nodewise::solver {

/// Where an option of a preset is set.
enum class SetWhere { always, with_near_null_space, without_near_null_space };

/// One option that a preset sets, by its name in option_fields().
struct PresetOption {
  std::string name;
  std::string value;
  SetWhere where = SetWhere::always;
  std::string reason;
  /// Options that contradict it: it is not set where one of them is given.
  std::vector<std::string> unless_given = {};
};

/// What a name stands for. `version` is raised whenever that changes.
struct Preset {
  std::string name;
  int version = 1;
  std::string problem;  ///< what it is for
  std::vector<PresetOption> options;
  std::optional<solve::Method> method;  ///< the Krylov method; none: by the symmetry of the system
  bool takes_unknowns = false;          ///< sets `unknowns`, where not given, to what the facts say
};

/// Every preset, as of its last version; the first changes nothing. The one table behind the
/// command line, the reports and docs/methods/presets.md.
std::span<const Preset> presets();
/// Earlier versions of them.
std::span<const Preset> earlier_presets();

/// The names of the presets and of the rule, "auto"; then those of earlier versions, with the
/// version behind: "convection_1", "auto_1".
std::vector<std::string> preset_names();

/// By a name or one with a version behind it. Throws invalid_argument, with the nearest name, where
/// there is no such preset. Dashes may stand for underscores.
const Preset& find_preset(std::string_view name);

/// What is known of a problem besides its matrix.
struct GivenKnowledge {
  bool near_null_space = false;  ///< vectors of it, or coordinates to make them of
  int unknowns = 1;              ///< a point, as the caller says
};

/// A preset, and why.
struct PresetChoice {
  const Preset* preset = nullptr;
  std::string reason;  ///< one line
};

/// The versions of the rule in choose_preset().
enum class ChoiceRule { first = 1, second, third, fourth, fifth, sixth, seventh };
inline constexpr ChoiceRule last_choice_rule = ChoiceRule::seventh;
/// "auto-7"
std::string to_string(ChoiceRule rule);
/// The rule of a name that preset_names() has, "auto" being the last; none for that of a preset.
std::optional<ChoiceRule> find_choice_rule(std::string_view name);

/// Local; a function of its arguments alone.
PresetChoice choose_preset(const advise::ProblemFacts& facts, const GivenKnowledge& given,
                           ChoiceRule rule = last_choice_rule);

/// What became of the options.
struct AppliedPreset {
  std::vector<std::pair<std::string, std::string>> set;   ///< names and values
  std::vector<std::pair<std::string, std::string>> kept;  ///< the preset's, but given otherwise
};

/// Local. Sets what the preset sets, unless its name is in `given`. `unknowns` is the number found
/// in the matrix, where the preset takes it.
AppliedPreset apply_preset(const Preset& preset, const GivenKnowledge& knowledge, int unknowns,
                           std::span<const std::string> given, amg::Options& options);

}  // namespace nodewise::solver
