// Coarse matrices with many entries.
#include <algorithm>

#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"
#include "nodewise/base/format_numbers.hpp"

namespace nodewise::advise::found {

namespace {

/// Beyond this a cycle costs more than it is likely to save.
constexpr double high_complexity = 4;

Advice sparser_levels(const SystemFacts& facts, const amg::Options& options) {
  constexpr double usual_truncation = 0.1;
  constexpr double strong_filter = 0.01;
  Advice advice;
  if (aggregates(options)) {
    const bool all = amg::aggregation_threshold(options.unknowns, aggregation(options)) == 0;
    return advice.unless(all, "`aggregation_threshold 0`")
        .unless(aggregation(options).filter_prolongation, "`filter_prolongation`")
        .add("`method classical`");
  }
  const int entries = amg::classical_options(options).max_interpolation_entries;
  const bool few = entries > 0 && entries <= 4;
  const auto coarser =
      static_cast<std::size_t>(amg::classical_options(options).aggressive_levels) + 1;
  advice.unless(coarser >= facts.levels.size(), fmt::format("`aggressive_levels {}`", coarser));
  if (const amg::AirOptions* air = amg::air_options(options)) {
    return advice.unless(air->restriction_distance <= 1, "`restriction_distance 1`")
        .unless(air->coarse_filter >= strong_filter,
                fmt::format("`coarse_filter {}`", strong_filter));
  }
  return advice
      .unless(amg::classical_options(options).interpolation_truncation >= usual_truncation,
              fmt::format("`interpolation_truncation {}`", usual_truncation))
      .unless(few, "`max_interpolation_entries 4`");
}

std::vector<Finding> find_complexity(const SystemFacts& facts, const amg::Options& options) {
  double sum = 0;
  std::size_t worst = 0;
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    sum += static_cast<double>(facts.levels[l].nonzeros);
    if (worst == 0 || facts.levels[l].nonzeros > facts.levels[worst].nonzeros) worst = l;
  }
  const double complexity = sum / std::max(1.0, static_cast<double>(facts.levels[0].nonzeros));
  if (complexity <= high_complexity) return {};
  return {
      {nullptr, static_cast<int>(worst), 0, complexity,
       fmt::format("all levels together have {:.1f} times the entries of the finest, most of them "
                   "here ({})",
                   complexity, grouped(facts.levels[worst].nonzeros)),
       sparser_levels(facts, options).text()}};
}

}  // namespace

const FindingKind& operator_complexity_finding() {
  static const FindingKind kind = {
      {"operator_complexity", "the coarse matrices have many times the entries of the finest", ""},
      {.in_system = nullptr, .in_hierarchy = find_complexity, .in_solve = nullptr}};
  return kind;
}

}  // namespace nodewise::advise::found
