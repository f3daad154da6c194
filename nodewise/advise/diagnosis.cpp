#include "nodewise/advise/diagnosis.hpp"

#include <utility>

namespace nodewise::advise {

namespace {

/// The options as they are heeded.
amg::Options completed(amg::Options options) {
  amg::complete(options);
  return options;
}

void append_findings(const FindingKind& kind, std::vector<Finding> some,
                     std::vector<Finding>& all) {
  for (Finding& finding : some) {
    finding.kind = &kind;
    all.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> findings(const SystemFacts& facts, const amg::Options& given) {
  std::vector<Finding> found;
  if (facts.levels.empty()) return found;
  const amg::Options options = completed(given);
  for (const FindingKind& kind : FindingKind::family()) {
    if (*kind.in_system != nullptr) append_findings(kind, (*kind.in_system)(facts, options), found);
    if (*kind.in_hierarchy != nullptr && facts.has_hierarchy()) {
      append_findings(kind, (*kind.in_hierarchy)(facts, options), found);
    }
  }
  return found;
}

std::vector<Finding> findings(const SolveFacts& solve, const amg::Options& given) {
  std::vector<Finding> found;
  const amg::Options options = completed(given);
  for (const FindingKind& kind : FindingKind::family()) {
    if (*kind.in_solve != nullptr) append_findings(kind, (*kind.in_solve)(solve, options), found);
  }
  return found;
}

}  // namespace nodewise::advise
