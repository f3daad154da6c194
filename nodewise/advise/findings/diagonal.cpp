// Diagonals that relaxation cannot use.
#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"

namespace nodewise::advise::found {

namespace {

/// Whether no other smoother would.
bool divides_by_rows(const SystemFacts& facts, const amg::Options& options) {
  return !facts.has_hierarchy() || !options.method->fixes.empty() ||
         options.smoother->l1_terms == amg::relax::L1Terms::all;
}

std::string for_near_zero_diagonals(const LevelFacts& level, const SystemFacts& facts,
                                    const amg::Options& options) {
  if (level.small_rows == level.near_zero_diagonals) {
    return "rows and columns differ as much in size: `scale diagonal`";
  }
  const std::string otherwise = facts.symmetric.value_or(false)
                                    ? "take `preset direct` or `preset indefinite`"
                                    : "take `preset incomplete`, which puts the rows in order";
  return divides_by_rows(facts, options) ? otherwise
                                         : otherwise +
                                               ", or try `smoother l1_jacobi`, which divides by "
                                               "the whole row";
}

std::vector<Finding> find_near_zero_diagonals(const SystemFacts& facts,
                                              const amg::Options& options) {
  std::vector<Finding> found;
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    const LevelFacts& level = facts.levels[l];
    if (level.near_zero_diagonals == 0) continue;
    found.push_back(
        {nullptr, static_cast<int>(l), level.near_zero_diagonals,
         share(level.near_zero_diagonals, level.rows),
         "the diagonal entry is nearly zero " + in_rows(level.near_zero_diagonals, level.rows),
         for_near_zero_diagonals(level, facts, options)});
  }
  return found;
}

std::vector<Finding> find_negative_diagonals(const SystemFacts& facts,
                                             const amg::Options& /*options*/) {
  std::vector<Finding> found;
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    const LevelFacts& level = facts.levels[l];
    if (level.negative_diagonals == 0) continue;
    const bool all = level.negative_diagonals == level.rows;
    if (all && l > 0) continue;  // as on the finest
    const bool is_indefinite = !all && facts.symmetric.value_or(false);
    if (is_indefinite && l == 0) continue;  // said as such
    const bool is_relaxed =
        l + 1 < facts.levels.size() || !facts.coarse_solver.starts_with("direct");
    if (l > 0 && (is_indefinite || !is_relaxed)) continue;  // no equations of the user's
    found.push_back(
        {nullptr, static_cast<int>(l), level.negative_diagonals,
         share(level.negative_diagonals, level.rows),
         "the diagonal is negative " + in_rows(level.negative_diagonals, level.rows),
         all ? "multiply the system by -1"
         : l == 0
             ? "check the signs of these equations"
             : fmt::format("where the solve is slow, end the levels above: `max_levels {}`", l)});
  }
  return found;
}

}  // namespace

const FindingKind& near_zero_diagonal_finding() {
  static const FindingKind kind = {
      {"near_zero_diagonal", "rows whose diagonal entry is small against the others", ""},
      {.in_system = find_near_zero_diagonals, .in_hierarchy = nullptr, .in_solve = nullptr}};
  return kind;
}

const FindingKind& negative_diagonal_finding() {
  static const FindingKind kind = {
      {"negative_diagonal", "rows with a negative diagonal entry, all rows or a few", ""},
      {.in_system = find_negative_diagonals, .in_hierarchy = nullptr, .in_solve = nullptr}};
  return kind;
}

}  // namespace nodewise::advise::found
