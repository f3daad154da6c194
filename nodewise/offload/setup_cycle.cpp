#include "nodewise/offload/setup_cycle.hpp"

#include <utility>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/device/coarse_rows.hpp"

namespace nodewise::offload {

namespace {

/// What the smoother does, which has a diagonal form.
template <class T, class Space>
void add_relaxation(device::Queue<Space>& queue, const SetUpLevel<Space>& from,
                    const amg::Options& options, double factor, CycleLevel<T, Space>& level) {
  const amg::relax::DiagonalForm form =
      (*options.smoother->diagonal_form)(options.smoother, from.spectral_radius);
  level.inverse_diagonal = device::Buffer<T, Space>(static_cast<std::size_t>(level.n));
  const auto by =
      form.adds_couplings ? device::DividedBy::diagonal_and_couplings : device::DividedBy::diagonal;
  device::invert_diagonal(queue, from.A, by, form.weight, factor, amg::relax::definite_margin,
                          level.inverse_diagonal.data());
  for (const auto& step : form.steps) {
    level.steps.push_back({static_cast<T>(step.keep), static_cast<T>(step.take)});
  }
}

/// The inverse of the last matrix; returns how it is solved.
template <class T, class Space>
std::string add_inverse(device::Queue<Space>& queue, const SetUpLevels<Space>& from,
                        const amg::Options& options, double factor, CycleLevel<T, Space>& level) {
  const amg::CoarseSolver<T> solver(from.last_matrix(), factor, options.coarse_solve,
                                    from.last_sizes());
  level.inverse = device::Buffer<T, Space>(queue, solver.inverse_rows());
  return amg::describe(solver, options.coarse_solve);
}

}  // namespace

template <class T, class Space>
CycleLevels<T, Space> cycle_levels(device::Primitives<Space>& primitives,
                                   const SetUpLevels<Space>& from, const amg::Options& options,
                                   double factor) {
  device::Queue<Space>& queue = primitives.queue();
  CycleLevels<T, Space> made;
  for (const SetUpLevel<Space>& level : from.levels()) {
    CycleLevel<T, Space>& here = made.levels.emplace_back();
    here.n = level.A.n_rows;
    if (level.has_next) {
      here.P = product_of<T>(primitives, level.P);
      here.R = product_of<T>(primitives, level.R);
    }
    if (level.solved_directly) {
      made.coarse_solver = add_inverse(queue, from, options, factor, here);
      break;
    }
    here.A = product_of<T>(primitives, level.A, factor);
    add_relaxation(queue, level, options, factor, here);
  }
  if (made.coarse_solver.empty()) made.coarse_solver = amg::describe_last_sweeps();
  return made;
}

template CycleLevels<float, device::Host> cycle_levels(device::Primitives<device::Host>&,
                                                       const SetUpLevels<device::Host>&,
                                                       const amg::Options&, double);
template CycleLevels<double, device::Host> cycle_levels(device::Primitives<device::Host>&,
                                                        const SetUpLevels<device::Host>&,
                                                        const amg::Options&, double);
#ifdef NODEWISE_CUDA
template CycleLevels<float, device::Cuda> cycle_levels(device::Primitives<device::Cuda>&,
                                                       const SetUpLevels<device::Cuda>&,
                                                       const amg::Options&, double);
template CycleLevels<double, device::Cuda> cycle_levels(device::Primitives<device::Cuda>&,
                                                        const SetUpLevels<device::Cuda>&,
                                                        const amg::Options&, double);
#endif

}  // namespace nodewise::offload
