#include "nodewise/predict/cycle_work.hpp"

#include <variant>

#include <fmt/format.h>

#include "nodewise/amg/cycle/cycle.hpp"

namespace nodewise::predict {

std::vector<Visits> work_of_cycle(const amg::Options& given, bool symmetric, std::size_t n_levels,
                                  bool direct_last) {
  amg::Options options = given;
  amg::complete(options);
  const auto* const visits_of_level = std::get_if<double (*)(std::size_t)>(&*options.cycle->visits);
  if (visits_of_level == nullptr) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("`cycle {}` cannot be predicted: take v, w or f", options.cycle.name()));
  }
  amg::relax::set_order(options.smoother,
                        amg::resolved(amg::relax::order_of(options.smoother), symmetric));
  const amg::relax::SweepExchanges sweep = (*options.smoother->exchanges)(options.smoother);
  const amg::SweepCounts sweeps = amg::sweep_counts(options.cycle);
  const double pre = sweeps.pre_sweeps;
  const double post = sweeps.post_sweeps;
  std::vector<Visits> all(n_levels);
  for (std::size_t l = 0; l < n_levels; ++l) {
    Visits& level = all[l];
    const double from_zero = l == 0 ? 1 : (*visits_of_level)(l - 1);
    if (l + 1 == n_levels) {  // visited once for each visit of the level before
      if (direct_last) {
        level.solves = from_zero;
      } else {
        const double last = 2.0 * amg::last_level_sweeps;
        level.passes = from_zero * last * sweep.passes;
        level.products = from_zero * (sweep.exchanges_from_zero + (last - 1) * sweep.exchanges);
      }
      continue;
    }
    const double visits = (*visits_of_level)(l);
    level.transfers = visits;
    level.passes = visits * ((pre + post) * sweep.passes + 1);
    level.products = visits * ((pre + post) * sweep.exchanges + 1);
    if (pre > 0) {
      level.products -= from_zero * (sweep.exchanges - sweep.exchanges_from_zero);
    } else {
      level.products -= from_zero;  // the residual of zero is the right-hand side
    }
  }
  return all;
}

}  // namespace nodewise::predict
