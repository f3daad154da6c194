// Large couplings that do not count as strong.
#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"

namespace nodewise::advise::found {

namespace {

/// Rows with large positive couplings are worth a word where they are more than this.
constexpr double many_rows = 0.25;
/// With fewer rows without any other coupling, those of opposite sign serve better (bcsstk18).
constexpr double nearly_all_rows = 0.75;

std::vector<Finding> find_positive_couplings(const SystemFacts& facts,
                                             const amg::Options& options) {
  const LevelFacts& finest = facts.levels[0];
  const double part = share(finest.positive_rows, finest.rows);
  const bool by_sign =
      !aggregates(options) && amg::air_options(options) == nullptr &&
      amg::classical_options(options).strength_measure != amg::StrengthMeasure::absolute &&
      options.unknowns == 1 && facts.symmetric.value_or(true);
  if (!by_sign || part <= many_rows) return {};
  if (facts.found_unknowns > 1) return {};  // couplings of different unknowns: reported as such
  return {
      {nullptr, 0, finest.positive_rows, part,
       "couplings of the sign of the diagonal, which do not count as strong, are among the "
       "largest " +
           in_rows(finest.positive_rows, finest.rows),
       share(finest.one_signed_rows, finest.rows) > nearly_all_rows
           ? "where the solve is slow, try `strength_measure absolute`"
           : "where the solve is slow and rows are unknowns of points, such as displacements, say "
             "how many a point has (`unknowns`), or give the near null space"}};
}

}  // namespace

const FindingKind& positive_couplings_finding() {
  static const FindingKind kind = {
      {"positive_couplings", "large entries off the diagonal of the diagonal's sign", ""},
      {.in_system = nullptr, .in_hierarchy = find_positive_couplings, .in_solve = nullptr}};
  return kind;
}

}  // namespace nodewise::advise::found
