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
#include "nodewise/base/family.hpp"
#include "nodewise/solve/krylov.hpp"

namespace nodewise::solver {

/// Where an option of a preset is set.
enum class SetWhere {
  always,
  with_near_null_space,
  with_near_null_space_if_symmetric,
  without_near_null_space
};

/// One option that a preset sets, by its name in option_fields().
struct PresetOption {
  std::string name;
  std::string value;
  SetWhere where = SetWhere::always;
  std::string reason;
  /// Options that contradict it: it is not set where one of them is given.
  std::vector<std::string> unless_given = {};
};

/// A named set of options; its summary says which problems it is for. The first of the family
/// changes nothing.
struct Preset : MethodInfo {
  std::vector<PresetOption> sets;
  std::optional<std::string> method = {};  ///< the Krylov method; none: by the symmetry
  bool takes_unknowns = false;             ///< sets `unknowns`, where not given, to what is found
  /// Options that are not multigrid's; a preset with a preconditioner of its own leaves multigrid.
  std::vector<NamedValue> of_system = {};

  static Family<Preset>& family();
};

/// What is known of a problem besides its matrix.
struct GivenKnowledge {
  bool near_null_space = false;  ///< vectors of it, or coordinates to make them of
  int unknowns = 1;              ///< a point, as the caller says
  bool symmetric = true;         ///< the matrix, or nearly so
  bool on_device = false;        ///< where it is solved
  /// Whether nothing given asks for multigrid, or for a Krylov method.
  bool may_leave_multigrid = false;
};

/// A preset, and why.
struct PresetChoice {
  const Preset* preset = nullptr;
  std::string reason;  ///< one line
};

/// Local. Whether it is symmetric but for round-off or a few rows.
bool is_nearly_symmetric(const advise::ProblemFacts& facts);

/// Local. The unknowns of a point that a preset takes, where it does.
int points_of(const advise::ProblemFacts& facts);

/// Local; a function of its arguments alone.
PresetChoice choose_preset(const advise::ProblemFacts& facts, const GivenKnowledge& given);

/// Local; a function of its arguments alone. Presets that are tried one after the other where the
/// first is refused, or its solve fails: the first is choose_preset()'s, but where multigrid cannot
/// be set up; the others leave multigrid, and there are none unless that is allowed.
std::vector<PresetChoice> choose_presets(const advise::ProblemFacts& facts,
                                         const GivenKnowledge& given);

/// What became of the options.
struct AppliedPreset {
  std::vector<NamedValue> set;
  /// The preset's, but given otherwise, or of a method that is not chosen.
  std::vector<NamedValue> kept;
};

/// Local. Sets what is given, and what the preset sets besides: choices of methods first, then the
/// options of these. `unknowns` is the number found in the matrix, where the preset takes it.
/// Throws invalid_argument where a given option belongs to a method that is not chosen.
AppliedPreset apply_preset(const Preset& preset, const GivenKnowledge& knowledge, int unknowns,
                           std::span<const NamedValue> given, amg::Options& options);

}  // namespace nodewise::solver
