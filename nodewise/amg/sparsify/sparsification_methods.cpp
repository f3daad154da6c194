// The three ways to a hierarchy with sparser coarse matrices.
#include "nodewise/amg/sparsify/sparsification_method.hpp"

namespace nodewise::amg {

namespace {

using O = SparsificationOptions;

std::vector<Field<O>> adaptive_fields() {
  const auto is_adaptive = [](const O& o) { return o.adaptive; };
  return {
      field("adaptive", &O::adaptive,
            "Coarse matrices get entries back during a solve that converges too slowly, the finest "
            "first; they keep them for the next")
          .affecting(Affects::iterations),
      field("adaptive_iterations", &O::adaptive_iterations,
            "So many iterations are looked at together", 1)
          .needing("adaptive", is_adaptive)
          .affecting(Affects::iterations),
      field("adaptive_levels", &O::adaptive_levels, "On so many levels entries come back at once",
            1)
          .needing("adaptive", is_adaptive)
          .affecting(Affects::iterations),
      field("adaptive_factor", &O::adaptive_factor,
            "The average factor of convergence that is good enough for nothing to come back", 0.0,
            1.0)
          .needing("adaptive", is_adaptive)
          .affecting(Affects::iterations)};
}

std::span<const Field<O>> adaptive_fields_only() {
  static const std::vector<Field<O>> fields = adaptive_fields();
  return fields;
}

std::span<const Field<O>> sparsification_fields() {
  static const std::vector<Field<O>> fields = [] {
    std::vector<Field<O>> all = {
        field("drop", &O::drop, "Which entries coarse matrices lose"),
        field("lumping", &O::lumping, "Where the entries go that coarse matrices lose")};
    for (Field<O>& field : adaptive_fields()) all.push_back(std::move(field));
    return all;
  }();
  return fields;
}

}  // namespace

double drop_tolerance_of(const Sparsification& sparsification, int level) {
  if (!sparsification->drops_entries || sparsification->asks_costs || level == 0) return 0;
  const auto& drop = sparsification.options<SparsificationOptions>().drop;
  return (*drop->tolerance)(drop, level);
}

const SparsificationMethod& no_sparsification() {
  static const SparsificationMethod method = {
      {"none", "coarse matrices keep all entries", ""}, false, false, false, false};
  return method;
}

const SparsificationMethod& non_galerkin() {
  static const SparsificationMethod method = {
      {"non_galerkin",
       "each coarse matrix loses entries before the next is made of it: setup and solve send less, "
       "and what is lost on one level is lost below",
       "Falgout, Schroder 2014", own_options(sparsification_fields)},
      true,
      true,
      true,
      false};
  return method;
}

const SparsificationMethod& sparse_galerkin() {
  static const SparsificationMethod method = {
      {"sparse_galerkin",
       "the levels are made as without; then each is smoothed with a matrix that has lost entries "
       "outside the minimal pattern of the Galerkin product above",
       "Bienz 2018, algorithm 4.3", own_options(sparsification_fields)},
      true,
      false,
      false,
      false};
  return method;
}

const SparsificationMethod& hybrid_galerkin() {
  static const SparsificationMethod method = {
      {"hybrid_galerkin",
       "the same with the minimal pattern of what is left of the matrix above, which drops more",
       "Bienz 2018, algorithm 4.3", own_options(sparsification_fields)},
      true,
      false,
      true,
      false};
  return method;
}

const SparsificationMethod& sparsification_by_cost() {
  static const SparsificationMethod method = {
      {"automatic",
       "where ranks are on several nodes, level by level, what costs of messages and arithmetic "
       "say "
       "is best, by all rules and several tolerances, as in hybrid_galerkin with lumping diagonal",
       "", own_options(adaptive_fields_only)},
      true,
      false,
      true,
      true};
  return method;
}

}  // namespace nodewise::amg
