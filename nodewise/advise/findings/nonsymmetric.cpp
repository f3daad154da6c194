// Nonsymmetric matrices under what is for symmetric ones.
#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"

namespace nodewise::advise::found {

namespace {

/// A matrix of less asymmetry has eigenvalues next to the real axis.
constexpr double clearly_nonsymmetric = 0.01;

std::vector<Finding> find_nonsymmetric_matrix(const SystemFacts& facts,
                                              const amg::Options& /*options*/) {
  const bool for_symmetric =
      facts.krylov != nullptr && facts.krylov->needs_symmetric_preconditioner;
  if (facts.symmetric.value_or(true) || !for_symmetric) return {};
  const std::string measured =
      facts.asymmetry > 0 ? fmt::format(" (|A - A^T| / 2 |A| = {:.1e})", facts.asymmetry) : "";
  return {{nullptr, 0, 0, facts.asymmetry,
           "the matrix is not symmetric" + measured + ", and the method is for those that are",
           "take `solver gmres`"}};
}

/// Its polynomial is small on an interval of the real axis, where the eigenvalues of D^-1 A are
/// for a symmetric positive definite matrix, and grows away from it.
std::vector<Finding> find_chebyshev(const SystemFacts& facts, const amg::Options& options) {
  const bool is_used = options.smoother->needs_real_spectrum;
  if (!is_used || facts.symmetric.value_or(true) || facts.asymmetry < clearly_nonsymmetric) {
    return {};
  }
  return {
      {nullptr, 0, 0, facts.asymmetry,
       fmt::format("{} is made for real eigenvalues, and the matrix is not symmetric "
                   "(|A - A^T| / 2 |A| = {:.1e})",
                   options.smoother.name(), facts.asymmetry),
       "where the solve is slow, try `smoother l1_gauss_seidel`, or `method air` with its own"}};
}

}  // namespace

const FindingKind& nonsymmetric_matrix_finding() {
  static const FindingKind kind = {
      {"nonsymmetric_matrix", "a nonsymmetric matrix under a method for symmetric ones", ""},
      {.in_system = find_nonsymmetric_matrix, .in_hierarchy = nullptr, .in_solve = nullptr}};
  return kind;
}

const FindingKind& chebyshev_nonsymmetric_finding() {
  static const FindingKind kind = {
      {"chebyshev_nonsymmetric", "a polynomial for real eigenvalues where they are complex", ""},
      {.in_system = nullptr, .in_hierarchy = find_chebyshev, .in_solve = nullptr}};
  return kind;
}

}  // namespace nodewise::advise::found
