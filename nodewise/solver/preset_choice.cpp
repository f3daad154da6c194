// The rule of `--preset auto`.
#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/solver/factors.hpp"
#include "nodewise/solver/presets.hpp"

namespace nodewise::solver {

namespace {

/// "1.23 %" for 0.0123.
std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

PresetChoice chosen(std::string_view name, std::string reason) {
  return {&Preset::family().find(name), std::move(reason)};
}

/// What the rule chose, or what suits a device better where it is solved there.
PresetChoice chosen_of_mesh(std::string_view name, std::string reason,
                            const GivenKnowledge& given) {
  if (!given.on_device) return chosen(name, std::move(reason));
  return chosen("card", reason + "; solved on a device");
}

PresetChoice choose_for_nonsymmetric(const advise::ProblemFacts& facts) {
  constexpr double nearly_triangular = 0.95;
  const std::string measured =
      fmt::format("the matrix is not symmetric (|A - A^T| / 2 |A| = {:.1e})", facts.asymmetry);
  if (is_nearly_symmetric(facts)) return chosen("default", measured + ", but hardly so");
  // Sums in which entries of both signs cancel say nothing of relaxation.
  if (facts.relaxed_share >= 0.5 && facts.dominant_share >= 0.5) {
    return chosen("default",
                  fmt::format("{}, and {} of the rows have so large a diagonal that relaxation is "
                              "enough for them",
                              measured, percent(facts.relaxed_share)));
  }
  if (facts.triangular_share >= nearly_triangular) {
    return chosen("default",
                  fmt::format("{}, but nearly triangular: {} of what is off the diagonal is on one "
                              "side of it, and Gauss-Seidel follows the flow",
                              measured, percent(facts.triangular_share)));
  }
  return chosen("convection", measured);
}

}  // namespace

int points_of(const advise::ProblemFacts& facts) {
  const bool by_pattern = !facts.symmetric && facts.dense_blocks > 1;
  return by_pattern ? facts.dense_blocks : facts.unknowns;
}

bool is_nearly_symmetric(const advise::ProblemFacts& facts) {
  // Less than this is round-off, or a few boundary rows.
  constexpr double hardly_nonsymmetric = 0.01;
  return facts.symmetric || facts.asymmetry < hardly_nonsymmetric;
}

namespace {

/// Why multigrid is not the first to be tried; empty where it is.
std::string reason_against_multigrid(const advise::ProblemFacts& facts) {
  if (facts.zero_diagonals > 0) {
    return fmt::format("{} of {} have no nonzero diagonal entry, which multigrid needs",
                       grouped(facts.zero_diagonals), counted(facts.rows, "row"));
  }
  // All of one sign, but for a few boundary rows, are those of a matrix that can be negated.
  const GlobalIndex positive = facts.rows - facts.nonpositive_diagonals;
  if (facts.symmetric && facts.nonpositive_diagonals > 0 && 100 * positive > facts.rows) {
    return fmt::format("symmetric, and {} of the diagonal entries are negative: indefinite",
                       grouped(facts.nonpositive_diagonals));
  }
  return {};
}

}  // namespace

std::vector<PresetChoice> choose_presets(const advise::ProblemFacts& facts,
                                         const GivenKnowledge& given) {
  const PresetChoice usual = choose_preset(facts, given);
  // Of an empty row the setup of multigrid says that it is one.
  if (!given.may_leave_multigrid || facts.empty_rows > 0) return {usual};
  std::vector<PresetChoice> all;
  const std::string reason = reason_against_multigrid(facts);
  const bool has_blocks = !facts.symmetric && facts.dense_blocks > 1 && given.unknowns == 1;
  if (reason.empty() && has_blocks) {
    all.push_back(chosen("blocks", fmt::format("the matrix is not symmetric, and has dense blocks "
                                               "of {} rows",
                                               facts.dense_blocks)));
  } else if (reason.empty()) {
    all.push_back(usual);
  }
  if (has_mumps()) all.push_back(chosen("direct", reason));
  if (facts.zero_diagonals > 0) all.push_back(chosen("saddle_point", reason));
  all.push_back(chosen(facts.symmetric ? "indefinite" : "incomplete", reason));
  const bool is_tried = reason.empty() && !has_blocks;
  if (!is_tried && facts.zero_diagonals == 0) all.push_back(usual);
  // The reasons of the others are what became of those before.
  for (std::size_t k = 1; k < all.size(); ++k) all[k].reason.clear();
  return all;
}

PresetChoice choose_preset(const advise::ProblemFacts& facts, const GivenKnowledge& given) {
  constexpr double few_positive = 0.2;
  constexpr double very_long_row = 8;
  if (given.near_null_space) {
    const std::string reason = "a near null space is known";
    // The interval of a Chebyshev polynomial holds no eigenvalues that are complex.
    return chosen("elasticity", is_nearly_symmetric(facts)
                                    ? reason
                                    : reason + ", and the matrix is not symmetric");
  }
  if (!facts.symmetric) return choose_for_nonsymmetric(facts);
  if (given.unknowns > 1) {
    return chosen("elasticity",
                  fmt::format("symmetric, and {} unknowns a point are given", given.unknowns));
  }
  if (facts.unknowns > 1) {
    return chosen(
        "elasticity",
        fmt::format("symmetric, and its blocks are those of {} unknowns a point", facts.unknowns));
  }
  if (facts.nonpositive_diagonals > 0) {
    return chosen("default", fmt::format("{} of the diagonal entries are not positive",
                                         facts.nonpositive_diagonals));
  }
  if (facts.stretched_share >= 0.5 && facts.zero_sum_share >= 0.5) {
    return chosen("anisotropic",
                  fmt::format("symmetric, and {} of the rows are those of stretched elements",
                              percent(facts.stretched_share)));
  }
  const bool signs = facts.has_signs_of_m_matrix();
  const std::string kind = signs ? "symmetric, with no positive entry off the diagonal"
                                 : fmt::format(
                                       "symmetric, rows add up to zero, and {} of what is "
                                       "off the diagonal is positive",
                                       percent(facts.positive_share));
  const double ratio = static_cast<double>(facts.longest_row) / std::max(1.0, facts.mean_row);
  if (signs && ratio > very_long_row) {
    return chosen("graph_laplacian", fmt::format("{}; the longest row has {:.0f} times the entries "
                                                 "of the mean",
                                                 kind, ratio));
  }
  const bool nearly = facts.positive_share <= few_positive && facts.zero_sum_share >= 0.5;
  // Two paths leave most points of electric grids and roads coarse, which have 3.5 to 4.6 entries a
  // row; a mesh has 5 at least, but for its edges.
  constexpr double few_entries = 4.7;
  if ((signs || nearly) && facts.mean_row < few_entries) {
    return chosen("network",
                  fmt::format("{}; {:.3g} entries a row in the mean", kind, facts.mean_row));
  }
  // Rows of a grid are as long as each other but at its border, where a small one has most.
  constexpr double hardly_longer = 1.5, nearly_all = 0.8;
  if (signs && facts.even_share >= nearly_all && ratio <= hardly_longer) {
    return chosen_of_mesh(
        "grid",
        fmt::format("{}; {} of the rows have couplings about as large as each other, and "
                    "all about as many",
                    kind, percent(facts.even_share)),
        given);
  }
  if (signs || nearly) return chosen_of_mesh("poisson", kind, given);
  return chosen("default",
                fmt::format("symmetric, but neither of known blocks nor like a Laplacian: {} of "
                            "what is off the diagonal is positive, {} of the rows add up to zero",
                            percent(facts.positive_share), percent(facts.zero_sum_share)));
}

}  // namespace nodewise::solver
