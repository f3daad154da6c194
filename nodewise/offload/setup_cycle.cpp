#include "nodewise/offload/setup_cycle.hpp"

#include <utility>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/device/coarse_rows.hpp"

namespace nodewise::offload {

namespace {

/// What the smoother does, which has a diagonal form. Collective.
template <class T, class Space>
void add_relaxation(const SetUpLevel<Space>& from, const amg::Options& options, double factor,
                    CycleLevel<T, Space>& level) {
  device::Queue<Space>& queue = from.at.queue();
  const mpi::Comm& comm = from.A.rows.comm();
  const amg::relax::DiagonalForm form =
      (*options.smoother->diagonal_form)(options.smoother, from.spectral_radius);
  device::Buffer<double, Space> roots;
  from.at.together(comm, [&] {
    level.inverse_diagonal = device::Buffer<T, Space>(static_cast<std::size_t>(level.n));
    if (!form.adds_couplings) return;
    roots = device::Buffer<double, Space>(static_cast<std::size_t>(from.A.local.n_cols));
    device::diagonal_roots(queue, from.A.local, roots.data());
  });
  if (form.adds_couplings) from.halo->fill(roots.data());
  from.at.together(comm, [&] {
    T* const inverse = level.inverse_diagonal.data();
    if (form.adds_couplings) {
      device::invert_with_couplings(queue, from.A.local, roots.data(), factor,
                                    amg::relax::definite_margin, inverse);
    } else {
      device::invert_diagonal(queue, from.A.local, form.weight, factor, inverse);
    }
    for (const auto& step : form.steps) {
      level.steps.push_back({static_cast<T>(step.keep), static_cast<T>(step.take)});
    }
  });
}

/// The solver of the last matrix, or its inverse; returns how it is solved. Collective.
template <class T, class Space>
std::string add_solver(const SetUpLevels<Space>& from, const amg::Options& options, double factor,
                       CycleLevel<T, Space>& level) {
  const Workplace<Space>& at = from.levels().back().at;
  const mpi::Comm& comm = from.levels().back().A.rows.comm();
  auto solver = std::make_shared<const amg::CoarseSolver<T>>(
      from.last_matrix(), factor, options.coarse_solve, from.last_sizes());
  std::string text = amg::describe(*solver, options.coarse_solve);
  if (comm.size() > 1 || solver->inverse_rows().empty()) {
    level.solver = std::move(solver);
  } else {
    at.together(comm, [&] {
      level.inverse = device::Buffer<T, Space>(at.queue(), solver->inverse_rows());
    });
  }
  return text;
}

}  // namespace

template <class T, class Space>
CycleLevels<T, Space> cycle_levels(const SetUpLevels<Space>& from, const amg::Options& options,
                                   double factor) {
  CycleLevels<T, Space> made;
  for (const SetUpLevel<Space>& level : from.levels()) {
    CycleLevel<T, Space>& here = made.levels.emplace_back();
    here.n = level.A.local.n_rows;
    const Departure departure = from.departures().of(level.outline_of_solve->exchange(), sizeof(T));
    made.ways.push_back({departure.leaving.how.name(), departure.reason});
    Workplace<Space> at = level.at;
    at.leaving = departure.leaving;
    const auto product = [&](const DistCsr<Space>& M, const Outline& outline, double times) {
      return std::make_unique<DistProduct<T, Space>>(at, M, *outline, times);
    };
    const auto transfer = [&](const DistCsr<Space>& M) {
      return product(
          M, amg::routed<double>(M.outline, level.routes.solve, level.routes.solve_transport), 1);
    };
    if (level.has_next) {
      here.P = transfer(*level.P);
      here.R = transfer(*level.R);
    }
    if (level.solved_directly) {
      made.coarse_solver = add_solver(from, options, factor, here);
      break;
    }
    here.A = product(level.A, level.outline_of_solve, factor);
    add_relaxation(level, options, factor, here);
  }
  if (made.coarse_solver.empty()) made.coarse_solver = amg::describe_last_sweeps();
  return made;
}

#define NODEWISE_FOR_SPACE(Space)                                                                  \
  template CycleLevels<float, Space> cycle_levels(const SetUpLevels<Space>&, const amg::Options&,  \
                                                  double);                                         \
  template CycleLevels<double, Space> cycle_levels(const SetUpLevels<Space>&, const amg::Options&, \
                                                   double);
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE

}  // namespace nodewise::offload
