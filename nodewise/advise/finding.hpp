// What a kind of finding says of itself. findings/methods.cpp lists them.
#pragma once

#include <string>
#include <vector>

#include "nodewise/advise/system_facts.hpp"
#include "nodewise/amg/options.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::advise {

struct FindingKind;

struct Finding {
  const FindingKind* kind = nullptr;
  int level = 0;
  GlobalIndex count = 0;  ///< rows, or 0 where it is nothing to be counted
  double magnitude = 0;   ///< the ratio that was found too large or small; of the kind
  std::string text;       ///< what was found
  std::string advice;     ///< what to try
};

/// Local. Looks for one kind of finding; the caller sets `kind`. The options are complete. There
/// is one level at least.
using FindInSystem = std::vector<Finding> (*)(const SystemFacts& facts,
                                              const amg::Options& options);
using FindInSolve = std::vector<Finding> (*)(const SolveFacts& solve, const amg::Options& options);

/// Where a kind of finding is looked for; null: not there. Several follow each other in the order
/// of the members.
struct FindingFunctions {
  Required<FindInSystem> in_system;     ///< with a hierarchy or without
  Required<FindInSystem> in_hierarchy;  ///< where there is one
  Required<FindInSolve> in_solve;       ///< at the end of a solve
};

struct FindingKind : MethodInfo, FindingFunctions {
  /// Their list, which defines the order of findings.
  static Family<FindingKind>& family();
};

}  // namespace nodewise::advise
