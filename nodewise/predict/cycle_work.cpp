#include "nodewise/predict/cycle_work.hpp"

#include <cmath>

#include <fmt/format.h>

#include "nodewise/amg/cycle/cycle.hpp"

namespace nodewise::predict {

namespace {

using amg::CycleKind;
using amg::SmootherKind;
using amg::SweepOrder;

/// Exchanges of a sweep, of a first sweep from zero, and passes over the matrix.
struct Sweep {
  double exchanges = 1;
  double exchanges_from_zero = 0;
  double passes = 1;
};

Sweep sweep_of(const amg::Options& options, bool symmetric) {
  const bool alternating = options.sweep_order == SweepOrder::alternating ||
                           (options.sweep_order == SweepOrder::automatic && !symmetric);
  const bool both_ways = alternating || options.sweep_order == SweepOrder::symmetric;
  const double from_zero = options.sweep_order == SweepOrder::backward ? 1 : 0;
  const double degree = options.chebyshev_degree;
  switch (options.smoother) {
    case SmootherKind::l1_gauss_seidel:
    case SmootherKind::gauss_seidel:
    case SmootherKind::l1_block_gauss_seidel:
    case SmootherKind::block_gauss_seidel:
      if (alternating) return {2, 1, 2};
      if (both_ways) return {1, 0, 2};
      return {1, from_zero, 1};
    case SmootherKind::l1_jacobi:
    case SmootherKind::jacobi:
    case SmootherKind::l1_block_jacobi:
    case SmootherKind::block_jacobi:
      return {1, 0, 1};
    case SmootherKind::chebyshev:
      return {degree, degree - 1, degree};
    case SmootherKind::ilu0:
      return {1, 0, 2};  // the residual and the factors
    case SmootherKind::fc_jacobi: {
      const double sweeps = (both_ways ? 2 : 1) * (options.fine_sweeps + options.coarse_sweeps);
      // Each over the rows of one kind of points.
      return {sweeps, options.fine_sweeps > 0 ? sweeps - 1 : sweeps, sweeps / 2};
    }
  }
  return {};
}

/// How often level l is visited, were it not the last.
double visits_of_level(CycleKind kind, std::size_t l) {
  if (kind == CycleKind::w) return std::ldexp(1.0, static_cast<int>(l));
  if (kind == CycleKind::f) return static_cast<double>(l) + 1;
  return 1;
}

}  // namespace

std::vector<Visits> work_of_cycle(const amg::Options& given, bool symmetric, std::size_t n_levels,
                                  bool direct_last) {
  amg::Options options = given;
  amg::complete(options);
  if (options.cycle == CycleKind::k || options.cycle == CycleKind::additive) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("`cycle {}` cannot be predicted: take v, w or f",
                            options.cycle == CycleKind::k ? "k" : "additive"));
  }
  const Sweep sweep = sweep_of(options, symmetric);
  const double pre = options.pre_sweeps;
  const double post = options.post_sweeps;
  std::vector<Visits> all(n_levels);
  for (std::size_t l = 0; l < n_levels; ++l) {
    Visits& level = all[l];
    const double from_zero = l == 0 ? 1 : visits_of_level(options.cycle, l - 1);
    if (l + 1 == n_levels) {  // visited once for each visit of the level before
      if (direct_last) {
        level.solves = from_zero;
      } else {
        const double sweeps = 2.0 * amg::last_level_sweeps;
        level.passes = from_zero * sweeps * sweep.passes;
        level.products = from_zero * (sweep.exchanges_from_zero + (sweeps - 1) * sweep.exchanges);
      }
      continue;
    }
    const double visits = visits_of_level(options.cycle, l);
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
