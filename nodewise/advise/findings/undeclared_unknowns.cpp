// Systems of several unknowns a point.
#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"

namespace nodewise::advise::found {

namespace {

std::vector<Finding> find_undeclared_unknowns(const SystemFacts& facts,
                                              const amg::Options& options) {
  if (options.unknowns > 1 || facts.found_unknowns <= 1) return {};
  return {
      {nullptr, 0, 0, static_cast<double>(facts.found_unknowns),
       fmt::format("the rows are those of {} unknowns a point, which the options do not say",
                   facts.found_unknowns),
       fmt::format("try `unknowns {}`, with `coordinates`{} where the coordinates are at hand",
                   facts.found_unknowns, aggregates(options) ? "" : " and `method aggregation`")}};
}

}  // namespace

const FindingKind& undeclared_unknowns_finding() {
  static const FindingKind kind = {
      {"undeclared_unknowns", "blocks of unknowns that the options do not know of", ""},
      {.in_system = find_undeclared_unknowns, .in_hierarchy = nullptr, .in_solve = nullptr}};
  return kind;
}

}  // namespace nodewise::advise::found
