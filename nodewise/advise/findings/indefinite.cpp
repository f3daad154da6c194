// Matrices and preconditioners that are not definite.
#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"

namespace nodewise::advise::found {

namespace {

/// Presets that solve them, the first where the build has MUMPS.
constexpr const char* for_indefinite_ones = "take `preset direct` or `preset indefinite`";

/// Of a symmetric matrix.
std::string for_indefinite(const SystemFacts& facts) {
  const bool minimises = facts.krylov != nullptr && facts.krylov->minimises_residual;
  const bool by_arnoldi = minimises && facts.krylov->suited_for == solve::SuitedFor::any_matrix;
  const bool by_lanczos = minimises && !by_arnoldi && !facts.has_hierarchy();
  if (by_lanczos || (by_arnoldi && !facts.has_hierarchy())) {
    return "the method is made for it; shift the matrix where it ought to be definite";
  }
  return by_arnoldi ? std::string("where the solve is slow, ") + for_indefinite_ones
                    : for_indefinite_ones;
}

/// Diagonals of both signs make a symmetric matrix indefinite: a_ii is e_i.A e_i. Said once.
std::vector<Finding> find_indefinite(const SystemFacts& facts, const amg::Options& /*options*/) {
  if (!facts.symmetric.value_or(false)) return {};
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    const LevelFacts& level = facts.levels[l];
    if (level.negative_diagonals == 0 || level.negative_diagonals == level.rows) continue;
    return {{nullptr, static_cast<int>(l), level.negative_diagonals,
             share(level.negative_diagonals, level.rows),
             "the matrix is symmetric and indefinite: the diagonal is negative " +
                 in_rows(level.negative_diagonals, level.rows),
             for_indefinite(facts)}};
  }
  return {};
}

std::vector<Finding> find_indefinite_direction(const SolveFacts& solve,
                                               const amg::Options& /*options*/) {
  if (solve.outcome != solve::Outcome::indefinite_matrix) return {};
  return {{nullptr, 0, 0, 0,
           "the solve met a direction p with p.Ap <= 0: the matrix is not positive definite",
           for_indefinite_ones}};
}

/// A smoother that is definite wherever the matrix is. Where that was in force, or there is none to
/// choose, the matrix itself may be indefinite.
std::string for_indefinite_preconditioner(const SolveFacts& solve, const amg::Options& options) {
  const std::string name = options.smoother.name(), &safe = *options.smoother->safe_form;
  const bool is_definite = name == "l1_gauss_seidel" || name == "l1_jacobi";
  if (!solve.multigrid || !options.method->fixes.empty() || is_definite) {
    return Advice().add("`solver gmres`").add("`preset direct`").text();
  }
  const std::string other = safe.empty() ? "l1_gauss_seidel" : safe;
  return Advice().add(fmt::format("`smoother {}`", other)).add("`solver gmres`").text();
}

std::vector<Finding> find_indefinite_preconditioner(const SolveFacts& solve,
                                                    const amg::Options& options) {
  if (solve.outcome != solve::Outcome::indefinite_preconditioner) return {};
  return {{nullptr, 0, 0, 0,
           "the solve met a vector r with r.Mr <= 0: the preconditioner is not positive definite",
           for_indefinite_preconditioner(solve, options)}};
}

}  // namespace

const FindingKind& indefinite_finding() {
  static const FindingKind kind = {
      {"indefinite", "a symmetric matrix that is neither positive nor negative definite", ""},
      {.in_system = find_indefinite,
       .in_hierarchy = nullptr,
       .in_solve = find_indefinite_direction}};
  return kind;
}

const FindingKind& indefinite_preconditioner_finding() {
  static const FindingKind kind = {
      {"indefinite_preconditioner",
       "a preconditioner that is not positive definite, as the solve found", ""},
      {.in_system = nullptr, .in_hierarchy = nullptr, .in_solve = find_indefinite_preconditioner}};
  return kind;
}

}  // namespace nodewise::advise::found
