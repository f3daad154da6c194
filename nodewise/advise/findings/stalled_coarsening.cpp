// Levels that hardly shrink.
#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"
#include "nodewise/base/format_numbers.hpp"

namespace nodewise::advise::found {

namespace {

/// A level that keeps more of its rows than this hardly helps the one above it.
constexpr double stalled_ratio = 0.8;

/// More connections count as strong.
Advice weaker_threshold(const amg::Options& options) {
  const double threshold =
      aggregates(options) ? amg::aggregation_threshold(options.unknowns, aggregation(options)) / 4
                          : amg::classical_options(options).strength_threshold / 2;
  const char* name = aggregates(options) ? "aggregation" : "strength";
  const double least =
      aggregates(options) ? 1e-3 : 1e-2;  // below, nearly all connections are strong
  return Advice().unless(threshold < least, fmt::format("`{}_threshold {:.3g}`", name, threshold));
}

/// The last level is relaxed, not solved, where it is too large.
void add_last_level(const SystemFacts& facts, const amg::Options& options,
                    std::vector<Finding>& found) {
  if (!facts.coarse_solver.ends_with("sweeps")) return;
  const auto last = static_cast<int>(facts.levels.size()) - 1;
  const GlobalIndex rows = facts.levels.back().rows;
  const bool limited = last + 1 >= options.max_levels;
  const char* why = limited ? "coarsening ends at the largest number of levels"
                            : "coarsening ends: the next level would not be smaller";
  Advice advice = weaker_threshold(options);
  advice
      .unless(aggregates(options) || amg::classical_options(options).max_row_sum >= 1,
              "`max_row_sum 1`")
      .unless(aggregates(options) || amg::classical_options(options).strength_measure ==
                                         amg::StrengthMeasure::absolute,
              "`strength_measure absolute`");
  found.push_back({nullptr, last, rows, 1,
                   fmt::format("{}, and {} rows are relaxed instead of solved", why, grouped(rows)),
                   limited ? fmt::format("raise `max_levels` above {}", options.max_levels)
                           : advice.text("where the solve is slow, ")});
}

std::vector<Finding> find_stalled(const SystemFacts& facts, const amg::Options& options) {
  std::vector<Finding> found;
  const std::size_t n = facts.levels.size();
  for (std::size_t l = 0; l + 1 < n; ++l) {
    const GlobalIndex fine = facts.levels[l].rows;
    const GlobalIndex coarse = facts.levels[l + 1].rows;
    const double kept = share(coarse, fine);
    if (kept <= stalled_ratio) continue;
    const bool aggressive =
        !aggregates(options) && amg::classical_options(options).is_aggressive(static_cast<int>(l));
    Advice advice = weaker_threshold(options);
    advice.unless(aggregates(options) || aggressive, fmt::format("`aggressive_levels {}`", l + 1));
    found.push_back({nullptr, static_cast<int>(l), coarse, kept,
                     fmt::format("coarsening keeps {:.0f} % of the rows ({} -> {})", 100 * kept,
                                 grouped(fine), grouped(coarse)),
                     advice.text()});
  }
  add_last_level(facts, options, found);
  return found;
}

}  // namespace

const FindingKind& stalled_coarsening_finding() {
  static const FindingKind kind = {
      {"stalled_coarsening", "a level keeps most of its rows, or is the last although large", ""},
      {.in_system = nullptr, .in_hierarchy = find_stalled, .in_solve = nullptr}};
  return kind;
}

}  // namespace nodewise::advise::found
