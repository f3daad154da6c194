#include "nodewise/advise/diagnosis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/base/format_numbers.hpp"

namespace nodewise::advise {

namespace {

/// A level that keeps more of its rows than this hardly helps the one above it.
constexpr double stalled_ratio = 0.8;
/// Beyond this a cycle costs more than it is likely to save.
constexpr double high_complexity = 4;
/// Rows with large positive couplings are worth a word where they are more than this.
constexpr double many_rows = 0.25;
/// A vector is a null vector where it is mapped to so little of what the moduli would make of it.
constexpr double null_smallness = 1e-11;
constexpr double inconsistent_part = 1e-8;
/// A matrix of less asymmetry has eigenvalues next to the real axis.
constexpr double clearly_nonsymmetric = 0.01;

double share(GlobalIndex part, GlobalIndex whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<GlobalIndex>(whole, 1));
}

std::string in_rows(GlobalIndex part, GlobalIndex whole) {
  return fmt::format("in {} of {} rows", grouped(part), grouped(whole));
}

/// What may help: options that are not in force yet.
class Advice {
 public:
  Advice& add(std::string option) {
    options_.push_back(std::move(option));
    return *this;
  }
  Advice& unless(bool in_force, std::string option) {
    return in_force ? *this : add(std::move(option));
  }
  /// "try a, b or c" behind `before`; where nothing is left, what can still be done.
  std::string text(const std::string& before = "") const {
    if (options_.empty()) {
      return before + "what usually helps is set already: let `nodewise tune` look for more";
    }
    std::string words = before + "try " + options_.front();
    for (std::size_t k = 1; k < options_.size(); ++k) {
      words += (k + 1 < options_.size() ? ", " : " or ") + options_[k];
    }
    return words;
  }

 private:
  std::vector<std::string> options_;
};

/// Collects the findings of one system.
class Examiner {
 public:
  Examiner(const SystemFacts& facts, const amg::Options& options)
      : facts_(facts), options_(options) {
    amg::complete(options_);
  }

  std::vector<Finding> run() {
    coarsening();
    complexity();
    near_zero_diagonals();
    negative_diagonals();
    positive_couplings();
    null_space();
    undeclared_unknowns();
    nonsymmetric();
    chebyshev();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Finding& a, const Finding& b) { return a.kind < b.kind; });
    return std::move(found_);
  }

 private:
  void add(FindingKind kind, int level, GlobalIndex count, double magnitude, std::string text,
           std::string advice) {
    found_.push_back({kind, level, count, magnitude, std::move(text), std::move(advice)});
  }

  bool aggregates() const { return options_.method.has_options<amg::AggregationOptions>(); }
  const amg::AggregationOptions& aggregation() const {
    return options_.method.options<amg::AggregationOptions>();
  }
  const amg::ClassicalOptions& classical() const { return amg::classical_options(options_); }
  bool has_hierarchy() const { return !facts_.coarse_solver.empty(); }

  /// More connections count as strong.
  Advice weaker_threshold() const {
    const double threshold = aggregates()
                                 ? amg::aggregation_threshold(options_.unknowns, aggregation()) / 4
                                 : classical().strength_threshold / 2;
    const char* name = aggregates() ? "aggregation" : "strength";
    const double least = aggregates() ? 1e-3 : 1e-2;  // below, nearly all connections are strong
    return Advice().unless(threshold < least,
                           fmt::format("`{}_threshold {:.3g}`", name, threshold));
  }

  void coarsening() {
    const std::size_t n = facts_.levels.size();
    for (std::size_t l = 0; l + 1 < n; ++l) {
      const GlobalIndex fine = facts_.levels[l].rows;
      const GlobalIndex coarse = facts_.levels[l + 1].rows;
      const double kept = share(coarse, fine);
      if (kept <= stalled_ratio) continue;
      const bool aggressive = !aggregates() && classical().is_aggressive(static_cast<int>(l));
      Advice advice = weaker_threshold();
      advice.unless(aggregates() || aggressive, fmt::format("`aggressive_levels {}`", l + 1));
      add(FindingKind::stalled_coarsening, static_cast<int>(l), coarse, kept,
          fmt::format("coarsening keeps {:.0f} % of the rows ({} -> {})", 100 * kept, grouped(fine),
                      grouped(coarse)),
          advice.text());
    }
    last_level();
  }

  /// The last level is relaxed, not solved, where it is too large.
  void last_level() {
    if (!facts_.coarse_solver.ends_with("sweeps")) return;
    const auto last = static_cast<int>(facts_.levels.size()) - 1;
    const GlobalIndex rows = facts_.levels.back().rows;
    const bool limited = last + 1 >= options_.max_levels;
    const char* why = limited ? "coarsening ends at the largest number of levels"
                              : "coarsening ends: the next level would not be smaller";
    Advice advice = weaker_threshold();
    advice.unless(aggregates() || classical().max_row_sum >= 1, "`max_row_sum 1`")
        .unless(aggregates() || classical().strength_measure == amg::StrengthMeasure::absolute,
                "`strength_measure absolute`");
    add(FindingKind::stalled_coarsening, last, rows, 1,
        fmt::format("{}, and {} rows are relaxed instead of solved", why, grouped(rows)),
        limited ? fmt::format("raise `max_levels` above {}", options_.max_levels)
                : advice.text("where the solve is slow, "));
  }

  void complexity() {
    double sum = 0;
    std::size_t worst = 0;
    for (std::size_t l = 0; l < facts_.levels.size(); ++l) {
      sum += static_cast<double>(facts_.levels[l].nonzeros);
      if (worst == 0 || facts_.levels[l].nonzeros > facts_.levels[worst].nonzeros) worst = l;
    }
    const double complexity = sum / std::max(1.0, static_cast<double>(facts_.levels[0].nonzeros));
    if (complexity <= high_complexity) return;
    add(FindingKind::operator_complexity, static_cast<int>(worst), 0, complexity,
        fmt::format("all levels together have {:.1f} times the entries of the finest, most of them "
                    "here ({})",
                    complexity, grouped(facts_.levels[worst].nonzeros)),
        sparser_levels().text());
  }

  Advice sparser_levels() const {
    constexpr double usual_truncation = 0.1;
    constexpr double strong_filter = 0.01;
    Advice advice;
    if (aggregates()) {
      const bool all = amg::aggregation_threshold(options_.unknowns, aggregation()) == 0;
      return advice.unless(all, "`aggregation_threshold 0`")
          .unless(aggregation().filter_prolongation, "`filter_prolongation`")
          .add("`method classical`");
    }
    const int entries = classical().max_interpolation_entries;
    const bool few = entries > 0 && entries <= 4;
    const auto coarser = static_cast<std::size_t>(classical().aggressive_levels) + 1;
    advice.unless(coarser >= facts_.levels.size(), fmt::format("`aggressive_levels {}`", coarser));
    if (const amg::AirOptions* air = amg::air_options(options_)) {
      return advice.unless(air->restriction_distance <= 1, "`restriction_distance 1`")
          .unless(air->coarse_filter >= strong_filter,
                  fmt::format("`coarse_filter {}`", strong_filter));
    }
    return advice
        .unless(classical().interpolation_truncation >= usual_truncation,
                fmt::format("`interpolation_truncation {}`", usual_truncation))
        .unless(few, "`max_interpolation_entries 4`");
  }

  void near_zero_diagonals() {
    for (std::size_t l = 0; l < facts_.levels.size(); ++l) {
      const LevelFacts& level = facts_.levels[l];
      if (level.near_zero_diagonals == 0) continue;
      add(FindingKind::near_zero_diagonal, static_cast<int>(l), level.near_zero_diagonals,
          share(level.near_zero_diagonals, level.rows),
          "the diagonal entry is nearly zero " + in_rows(level.near_zero_diagonals, level.rows),
          for_near_zero_diagonals(level));
    }
  }

  std::string for_near_zero_diagonals(const LevelFacts& level) const {
    if (level.small_rows == level.near_zero_diagonals) {
      return "rows and columns differ as much in size: divide both by the root of the diagonal";
    }
    return divides_by_rows() ? "reorder the equations"
                             : "reorder the equations, or try `smoother l1_jacobi`, which divides "
                               "by the whole row";
  }

  /// Whether no other smoother would.
  bool divides_by_rows() const {
    return !has_hierarchy() || !options_.method->fixes.empty() ||
           options_.smoother->l1_terms == amg::relax::L1Terms::all;
  }

  /// Of a symmetric matrix.
  std::string for_indefinite() const {
    const bool minimises = facts_.krylov != nullptr && facts_.krylov->minimises_residual;
    const bool by_arnoldi = minimises && facts_.krylov->suited_for == solve::SuitedFor::any_matrix;
    const bool by_lanczos = minimises && !by_arnoldi && !has_hierarchy();
    if (by_lanczos || (by_arnoldi && !has_hierarchy())) {
      return "the method is made for it; shift the matrix where it ought to be definite";
    }
    return by_arnoldi ? "where the solve is slow, try `solver minres` with `preconditioner none`"
                      : "take `solver gmres`, or `solver minres` with `preconditioner none`";
  }

  void negative_diagonals() {
    for (std::size_t l = 0; l < facts_.levels.size(); ++l) {
      const LevelFacts& level = facts_.levels[l];
      if (level.negative_diagonals == 0) continue;
      const bool all = level.negative_diagonals == level.rows;
      if (all && l > 0) continue;  // as on the finest
      const bool is_indefinite = !all && facts_.symmetric.value_or(false);
      if (is_indefinite) indefinite(l);
      const bool is_relaxed =
          l + 1 < facts_.levels.size() || !facts_.coarse_solver.starts_with("direct");
      if (l > 0 && (is_indefinite || !is_relaxed)) continue;  // no equations of the user's
      add(FindingKind::negative_diagonal, static_cast<int>(l), level.negative_diagonals,
          share(level.negative_diagonals, level.rows),
          "the diagonal is negative " + in_rows(level.negative_diagonals, level.rows),
          all ? "multiply the system by -1"
          : l == 0
              ? "check the signs of these equations"
              : fmt::format("where the solve is slow, end the levels above: `max_levels {}`", l));
    }
  }

  /// Diagonals of both signs make a symmetric matrix indefinite: a_ii is e_i.A e_i. Said once.
  void indefinite(std::size_t l) {
    const LevelFacts& level = facts_.levels[l];
    if (std::any_of(found_.begin(), found_.end(),
                    [](const Finding& f) { return f.kind == FindingKind::indefinite; })) {
      return;
    }
    add(FindingKind::indefinite, static_cast<int>(l), level.negative_diagonals,
        share(level.negative_diagonals, level.rows),
        "the matrix is symmetric and indefinite: the diagonal is negative " +
            in_rows(level.negative_diagonals, level.rows),
        for_indefinite());
  }

  void positive_couplings() {
    const LevelFacts& finest = facts_.levels[0];
    const double part = share(finest.positive_rows, finest.rows);
    const bool by_sign = !aggregates() && amg::air_options(options_) == nullptr &&
                         classical().strength_measure != amg::StrengthMeasure::absolute &&
                         options_.unknowns == 1 && facts_.symmetric.value_or(true);
    if (!by_sign || part <= many_rows || !has_hierarchy()) return;
    if (facts_.found_unknowns > 1) return;  // couplings of different unknowns: reported as such
    add(FindingKind::positive_couplings, 0, finest.positive_rows, part,
        "couplings of the sign of the diagonal, which do not count as strong, are among the "
        "largest " +
            in_rows(finest.positive_rows, finest.rows),
        share(finest.one_signed_rows, finest.rows) > many_rows
            ? "where the solve is slow, try `strength_measure absolute`"
            : "where the solve is slow and rows are unknowns of points, such as displacements, say "
              "how many a point has (`unknowns`), or give the near null space");
  }

  void null_space() {
    for (const NullVectorFacts& v : facts_.null_vectors) {
      if (v.smallness > null_smallness) continue;
      const std::string name = v.vector < 0
                                   ? std::string("the constant vector")
                                   : fmt::format("vector {} of the near null space", v.vector + 1);
      add(FindingKind::null_space, 0, 0, v.smallness,
          fmt::format("the matrix is singular: it maps {} to zero", name),
          "the solution is known up to that vector; fix an unknown where that is not wanted");
      if (v.part_of_rhs <= inconsistent_part || !facts_.symmetric.value_or(false)) continue;
      add(FindingKind::inconsistent_rhs, 0, 0, v.part_of_rhs,
          fmt::format("{:.2g} of the right-hand side lies along {}, outside the range: there is no "
                      "solution",
                      v.part_of_rhs, name),
          v.vector < 0 ? "subtract its mean from the right-hand side"
                       : "make the right-hand side orthogonal to that vector");
    }
    const bool known = std::any_of(found_.begin(), found_.end(), [](const Finding& f) {
      return f.kind == FindingKind::null_space;
    });
    if (known || facts_.coarse_solver != "direct, singular") return;
    add(FindingKind::null_space, static_cast<int>(facts_.levels.size()) - 1, 0, 0,
        "the coarsest matrix is singular, and so may be the finest",
        "fix an unknown, or make sure that the right-hand side is in the range");
  }

  void undeclared_unknowns() {
    if (options_.unknowns > 1 || facts_.found_unknowns <= 1) return;
    add(FindingKind::undeclared_unknowns, 0, 0, facts_.found_unknowns,
        fmt::format("the rows are those of {} unknowns a point, which the options do not say",
                    facts_.found_unknowns),
        fmt::format("try `unknowns {}`, with `coordinates`{} where the coordinates are at hand",
                    facts_.found_unknowns, aggregates() ? "" : " and `method aggregation`"));
  }

  void nonsymmetric() {
    const bool for_symmetric =
        facts_.krylov != nullptr && facts_.krylov->needs_symmetric_preconditioner;
    if (facts_.symmetric.value_or(true) || !for_symmetric) return;
    const std::string measured =
        facts_.asymmetry > 0 ? fmt::format(" (|A - A^T| / 2 |A| = {:.1e})", facts_.asymmetry) : "";
    add(FindingKind::nonsymmetric_matrix, 0, 0, facts_.asymmetry,
        "the matrix is not symmetric" + measured + ", and the method is for those that are",
        "take `solver gmres`");
  }

  /// Its polynomial is small on an interval of the real axis, where the eigenvalues of D^-1 A are
  /// for a symmetric positive definite matrix, and grows away from it.
  void chebyshev() {
    const bool is_used = options_.smoother->needs_real_spectrum && has_hierarchy();
    if (!is_used || facts_.symmetric.value_or(true) || facts_.asymmetry < clearly_nonsymmetric) {
      return;
    }
    add(FindingKind::chebyshev_nonsymmetric, 0, 0, facts_.asymmetry,
        fmt::format("{} is made for real eigenvalues, and the matrix is not symmetric "
                    "(|A - A^T| / 2 |A| = {:.1e})",
                    options_.smoother.name(), facts_.asymmetry),
        "where the solve is slow, try `smoother l1_gauss_seidel` or `method air`");
  }

  const SystemFacts& facts_;
  amg::Options options_;  // as they are heeded
  std::vector<Finding> found_;
};

}  // namespace

const char* to_string(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::stalled_coarsening:
      return "stalled_coarsening";
    case FindingKind::operator_complexity:
      return "operator_complexity";
    case FindingKind::near_zero_diagonal:
      return "near_zero_diagonal";
    case FindingKind::negative_diagonal:
      return "negative_diagonal";
    case FindingKind::positive_couplings:
      return "positive_couplings";
    case FindingKind::null_space:
      return "null_space";
    case FindingKind::inconsistent_rhs:
      return "inconsistent_rhs";
    case FindingKind::indefinite:
      return "indefinite";
    case FindingKind::undeclared_unknowns:
      return "undeclared_unknowns";
    case FindingKind::nonsymmetric_matrix:
      return "nonsymmetric_matrix";
    case FindingKind::indefinite_preconditioner:
      return "indefinite_preconditioner";
    case FindingKind::chebyshev_nonsymmetric:
      return "chebyshev_nonsymmetric";
    case FindingKind::hybrid_sweeps:
      return "hybrid_sweeps";
  }
  return "unknown";
}

std::vector<Finding> findings(const SystemFacts& facts, const amg::Options& options) {
  if (facts.levels.empty()) return {};
  return Examiner(facts, options).run();
}

namespace {

bool may_be_for_sweeps(solve::Outcome outcome) {
  return outcome == solve::Outcome::max_iterations || outcome == solve::Outcome::stagnated ||
         outcome == solve::Outcome::diverged || outcome == solve::Outcome::breakdown ||
         outcome == solve::Outcome::indefinite_preconditioner;
}

/// Baker, Falgout, Kolev, Yang 2011: sweeps that take the values of other ranks from before are
/// block Jacobi outside, which may amplify errors however many of them are made.
void add_hybrid_sweeps(const SolveFacts& solve, const amg::Options& options,
                       std::vector<Finding>& found) {
  const amg::relax::SmootherMethod& sweep = *options.smoother;
  if (sweep.safe_form->empty() || !solve.multigrid || !may_be_for_sweeps(solve.outcome)) return;
  if (sweep.is_hybrid && solve.parts < 2) return;
  const std::string text =
      sweep.is_hybrid ? fmt::format(
                            "each of {} ranks or threads sweeps with the values that the others "
                            "had before, and such sweeps need not converge",
                            grouped(solve.parts))
                      : std::string("damped Jacobi sweeps need not converge");
  found.push_back({FindingKind::hybrid_sweeps, 0, 0, static_cast<double>(solve.parts), text,
                   fmt::format("try `smoother {}`, which converges for every symmetric positive "
                               "definite matrix",
                               *sweep.safe_form)});
}

/// Another smoother, where the preconditioner has one to choose.
std::string for_indefinite_preconditioner(const SolveFacts& solve, const amg::Options& options) {
  const auto is = [&](const char* name) { return options.smoother.name() == name; };
  const bool fixed = !solve.multigrid || !options.method->fixes.empty();
  return Advice()
      .unless(fixed || is("l1_gauss_seidel"), "`smoother l1_gauss_seidel`")
      .unless(fixed || is("l1_jacobi"), "`smoother l1_jacobi`")
      .add("`solver gmres`")
      .text();
}

}  // namespace

std::vector<Finding> findings(const SolveFacts& solve, const amg::Options& given) {
  amg::Options options = given;
  amg::complete(options);
  std::vector<Finding> found;
  const auto add = [&](FindingKind kind, std::string text, std::string advice) {
    found.push_back({kind, 0, 0, 0, std::move(text), std::move(advice)});
  };
  switch (solve.outcome) {
    case solve::Outcome::indefinite_matrix:
      add(FindingKind::indefinite,
          "the solve met a direction p with p.Ap <= 0: the matrix is not positive definite",
          "take `solver gmres`, or `solver minres` with `preconditioner none`");
      break;
    case solve::Outcome::indefinite_preconditioner:
      add(FindingKind::indefinite_preconditioner,
          "the solve met a vector r with r.Mr <= 0: the preconditioner is not positive definite",
          for_indefinite_preconditioner(solve, options));
      break;
    case solve::Outcome::inconsistent:
      add(FindingKind::inconsistent_rhs,
          "the solve found a null vector that the right-hand side is not orthogonal to",
          "make the right-hand side orthogonal to the null space");
      break;
    default:
      break;
  }
  add_hybrid_sweeps(solve, options, found);
  return found;
}

}  // namespace nodewise::advise
