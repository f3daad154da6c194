// Singular systems.
#include <algorithm>

#include <fmt/format.h>

#include "nodewise/advise/findings/advice.hpp"

namespace nodewise::advise::found {

namespace {

/// A vector is a null vector where it is mapped to so little of what the moduli would make of it.
constexpr double null_smallness = 1e-11;
constexpr double inconsistent_part = 1e-8;

bool is_null_vector(const NullVectorFacts& v) {
  return !(v.smallness > null_smallness);
}

std::string name_of_vector(const NullVectorFacts& v) {
  return v.vector < 0 ? std::string("the constant vector")
                      : fmt::format("vector {} of the near null space", v.vector + 1);
}

std::vector<Finding> find_null_vectors(const SystemFacts& facts, const amg::Options& /*options*/) {
  std::vector<Finding> found;
  for (const NullVectorFacts& v : facts.null_vectors) {
    if (!is_null_vector(v)) continue;
    found.push_back(
        {nullptr, 0, 0, v.smallness,
         fmt::format("the matrix is singular: it maps {} to zero", name_of_vector(v)),
         "the solution is known up to that vector; fix an unknown where that is not wanted"});
  }
  return found;
}

/// Unless a null vector says more.
std::vector<Finding> find_singular_coarsest(const SystemFacts& facts,
                                            const amg::Options& /*options*/) {
  const bool known =
      std::any_of(facts.null_vectors.begin(), facts.null_vectors.end(), is_null_vector);
  if (known || facts.coarse_solver != "direct, singular") return {};
  return {{nullptr, static_cast<int>(facts.levels.size()) - 1, 0, 0,
           "the coarsest matrix is singular, and so may be the finest",
           "fix an unknown, or make sure that the right-hand side is in the range"}};
}

std::vector<Finding> find_inconsistent_rhs(const SystemFacts& facts,
                                           const amg::Options& /*options*/) {
  std::vector<Finding> found;
  for (const NullVectorFacts& v : facts.null_vectors) {
    const bool is_inconsistent = is_null_vector(v) && !(v.part_of_rhs <= inconsistent_part);
    if (!is_inconsistent || !facts.symmetric.value_or(false)) continue;
    found.push_back({nullptr, 0, 0, v.part_of_rhs,
                     fmt::format("{:.2g} of the right-hand side lies along {}, outside the range: "
                                 "there is no solution",
                                 v.part_of_rhs, name_of_vector(v)),
                     v.vector < 0 ? "subtract its mean from the right-hand side"
                                  : "make the right-hand side orthogonal to that vector"});
  }
  return found;
}

std::vector<Finding> find_inconsistent_end(const SolveFacts& solve,
                                           const amg::Options& /*options*/) {
  if (solve.outcome != solve::Outcome::inconsistent) return {};
  return {{nullptr, 0, 0, 0,
           "the solve found a null vector that the right-hand side is not orthogonal to",
           "make the right-hand side orthogonal to the null space"}};
}

}  // namespace

const FindingKind& null_space_finding() {
  static const FindingKind kind = {{"null_space", "a vector that the matrix maps to zero", ""},
                                   {.in_system = find_null_vectors,
                                    .in_hierarchy = find_singular_coarsest,
                                    .in_solve = nullptr}};
  return kind;
}

const FindingKind& inconsistent_rhs_finding() {
  static const FindingKind kind = {
      {"inconsistent_rhs", "a right-hand side that is not in the range", ""},
      {.in_system = find_inconsistent_rhs,
       .in_hierarchy = nullptr,
       .in_solve = find_inconsistent_end}};
  return kind;
}

}  // namespace nodewise::advise::found
