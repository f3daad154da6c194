#include "nodewise/amg/options/cycle_method.hpp"

#include <cmath>

namespace nodewise::amg {

std::span<const Field<SweepCounts>> sweep_count_fields() {
  static const std::vector<Field<SweepCounts>> fields = {
      field("pre_sweeps", &SweepCounts::pre_sweeps, "Sweeps before the coarse correction", 0, 100),
      field("post_sweeps", &SweepCounts::post_sweeps, "Sweeps after the coarse correction", 0, 100),
  };
  return fields;
}

SweepCounts sweep_counts(const Choice<CycleMethod>& cycle) {
  return cycle.has_options<SweepCounts>() ? cycle.options<SweepCounts>() : SweepCounts{};
}

const CoarseSolveMethod& chosen(const Choice<CoarseSolveMethod>& coarse_solve) {
  return coarse_solve.is_automatic() ? CoarseSolveMethod::family()[0] : *coarse_solve;
}

const CycleMethod& v_cycle() {
  static const CycleMethod method = {
      {"v", "each level once", "Trottenberg, Oosterlee, Schueller 2001, section 2.4",
       own_options(sweep_count_fields)},
      {.visit = CoarseVisit::cycle,
       .second_visit = nullptr,
       .is_symmetric = true,
       .is_fixed = true,
       .visits = Answer<double (*)(std::size_t)>([](std::size_t) { return 1.0; })}};
  return method;
}

const CycleMethod& w_cycle() {
  static const CycleMethod method = {
      {"w", "each coarse level twice for every visit of the level above",
       "Trottenberg, Oosterlee, Schueller 2001, section 2.4", own_options(sweep_count_fields)},
      {.visit = CoarseVisit::cycle,
       .second_visit = w_cycle,
       .is_symmetric = true,
       .is_fixed = true,
       .visits = Answer<double (*)(std::size_t)>(
           [](std::size_t level) { return std::ldexp(1.0, static_cast<int>(level)); })}};
  return method;
}

const CycleMethod& f_cycle() {
  static const CycleMethod method = {
      {"f", "each coarse level once like this and once by a V-cycle; not for conjugate gradients",
       "Trottenberg, Oosterlee, Schueller 2001, section 2.4", own_options(sweep_count_fields)},
      {.visit = CoarseVisit::cycle,
       .second_visit = v_cycle,
       .is_symmetric = false,
       .is_fixed = true,
       .visits = Answer<double (*)(std::size_t)>(
           [](std::size_t level) { return static_cast<double>(level) + 1; })}};
  return method;
}

const CycleMethod& k_cycle() {
  static const CycleMethod method = {
      {"k", "two Krylov steps on each coarse level; for methods of varying preconditioners",
       "Notay, Vassilevski 2008", own_options(sweep_count_fields)},
      {.visit = CoarseVisit::iterate,
       .second_visit = nullptr,
       .is_symmetric = false,
       .is_fixed = false,
       .visits = Unanswered{"how often it visits a level depends on residuals"}}};
  return method;
}

const CycleMethod& additive_cycle() {
  static const CycleMethod method = {
      {.name = "additive",
       .summary = "all levels at once, by symmetric sweeps",
       .source = "Bramble, Pasciak, Xu 1990",
       .ignores = {{"sweep_order", {"coarse_fine", "coarse_fine_symmetric"}}}},
      {.visit = CoarseVisit::add,
       .second_visit = nullptr,
       .is_symmetric = true,
       .is_fixed = true,
       .visits = Unanswered{"it visits all levels at once"}}};
  return method;
}

}  // namespace nodewise::amg
