#include "nodewise/offload/setup_levels.hpp"

#include <limits>
#include <utility>

#include "nodewise/amg/round_off.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/amg/setup/level_matrix.hpp"
#include "nodewise/amg/setup/united_info.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/device/coarse_rows.hpp"
#include "nodewise/device/spgemm.hpp"
#include "nodewise/offload/spectral_radius.hpp"

namespace nodewise::offload {

template <class Space>
double radius_of(const SetUpLevel<Space>& level, int steps, int seed) {
  const DistProduct<double, Space> product(level.at, level.A, *level.A.outline);
  return spectral_radius(level.at, level.A, product, steps, seed);
}

template <class Space>
std::unique_ptr<Coarsener<Space>> make_coarsener(device::Primitives<Space>& primitives,
                                                 const amg::Options& options,
                                                 const std::vector<double>& vector) {
  return options.method->has_coarse_points ? make_classical<Space>(options)
                                           : make_aggregation(primitives, options, vector);
}

template <class Space>
std::size_t SetUpLevel<Space>::bytes() const {
  std::size_t sum = A.local.bytes() + halo->bytes();
  if (coarse_points) sum += coarse_points->numbers.bytes();
  if (aggregates) sum += aggregates->of_point.bytes();
  for (const auto* M : {&P, &R, &AP}) sum += *M ? (*M)->local.bytes() : 0;
  return sum;
}

template <class Space>
std::size_t SetUpLevels<Space>::bytes() const {
  std::size_t sum = coarsener_->bytes();
  for (const Level& level : levels_) sum += level.bytes();
  return sum;
}

template <class Space>
SetUpLevels<Space>::SetUpLevels(Card<Space>& card, device::Primitives<Space>& primitives,
                                const SetupCall& call)
    : card_(card),
      primitives_(primitives),
      comm_(call.A->shared_comm()),
      device_options_(call.device),
      options_(call.options),
      departures_(device_options_, comm_, options_.machine.get()) {
  mpi::collectively(*comm_, [&] {
    std::vector<double> vector = call.info.near_null_space.values;
    if (vector.empty()) vector.assign(static_cast<std::size_t>(call.A->n_local()), 1.0);
    coarsener_ = make_coarsener(primitives, options_, vector);
    levels_.reserve(static_cast<std::size_t>(options_.max_levels));
  });
  add_level(upload(Workplace<Space>{&card_, &primitives_}, call.A), call.A);
  set_up(call.observe);
}

template <class Space>
void SetUpLevels<Space>::add_level(Matrix A, const Outline& outline) {
  levels_.push_back({std::move(A)});
  info_.emplace_back();
  choose_exchanges(levels_.size() - 1, outline);
}

/// What the level's exchanges take, as the host chooses it for a matrix of that outline.
template <class Space>
void SetUpLevels<Space>::choose_exchanges(std::size_t l, const Outline& outline) {
  Level& level = levels_[l];
  const auto choice = amg::choose_for<double>(outline, options_, static_cast<int>(l));
  level.routes = choice.routes.routes;
  level.outline_of_solve = choice.routes.for_solve;
  level.A.outline = amg::routed<double>(choice.routes.for_setup, level.routes.setup,
                                        level.routes.setup_transport);
  level.at = {&card_, &primitives_,
              departures_.of(level.A.outline->exchange(), sizeof(double)).leaving,
              level.routes.setup, level.routes.setup_transport};
  level.halo = std::make_unique<Halo<double, Space>>(card_, *level.A.outline, level.at.leaving);
  describe(l);
  info_[l].route_choice = choice.routes.solve;
  info_[l].setup_route_choice = choice.routes.setup;
  info_[l].transport_choice = choice.transport;
}

/// Local. Traffic and ranks are this rank's part.
template <class Space>
void SetUpLevels<Space>::describe(std::size_t l) {
  const Level& level = levels_[l];
  const amg::LevelInfo now = amg::describe(*level.outline_of_solve, level.routes);
  amg::LevelInfo& info = info_[l];
  info.rows = now.rows;
  info.nonzeros = now.nonzeros;
  info.interpolation_nonzeros = level.P ? level.P->outline->nnz_global() : 0;
  info.active_ranks = now.active_ranks;
  info.routes = now.routes;
  info.traffic = now.traffic;
  info.max_messages = now.max_messages;
}

/// The levels below the first.
template <class Space>
void SetUpLevels<Space>::set_up(const amg::LevelObserver& observe) {
  for (std::size_t l = 0;; ++l) {
    const int depth = static_cast<int>(l);
    Level& level = levels_[l];
    const GlobalIndex rows = level.A.rows.n_global();
    if (amg::may_coarsen(rows, options_, depth)) {
      level.has_next = amg::is_worth_a_level(coarsener_->coarsen(level), rows);
    }
    if (level.has_next) make_transfer(l);
    level.solved_directly = !level.has_next && amg::may_solve_directly(rows, options_);
    if (!(level.spectral_radius > 0)) estimate_radius(level);
    if (observe) observe(depth, info_.back());
    if (!level.has_next) break;
    Matrix next = next_matrix(level, false);
    give_outline(next, OutlineRows::all);
    const Outline outline = next.outline;
    add_level(std::move(next), outline);
  }
  amg::unite(*comm_, info_, card_.local.take());
}

template <class Space>
void SetUpLevels<Space>::make_transfer(std::size_t l) {
  Level& level = levels_[l];
  coarsener_->interpolate(level, l);
  describe(l);
  level.R = transpose(level.at, *level.P);
  give_outline(*level.R, OutlineRows::none);
  level.R->outline = amg::routed<double>(level.R->outline, level.at.route, level.at.transport);
}

/// That of a relaxation which needs it.
template <class Space>
void SetUpLevels<Space>::estimate_radius(Level& level) {
  if (level.solved_directly || !options_.smoother->needs_spectral_radius) return;
  level.spectral_radius = radius_of(level, amg::SpectrumOptions{}.steps, options_.seed);
}

template <class Space>
auto SetUpLevels<Space>::next_matrix(Level& level, bool keeps_product) -> Matrix {
  Matrix AP = multiply(level.at, level.A, *level.P);
  Matrix C = multiply(level.at, *level.R, AP);
  if (keeps_product) level.AP = std::move(AP);
  finish_next(level, C);
  return C;
}

/// A coarse matrix as a cycle can use it, and what it is a sum of where it may be solved directly.
template <class Space>
void SetUpLevels<Space>::finish_next(const Level& level, Matrix& C) {
  device::Queue<Space>& queue = card_.queue;
  const device::CsrMatrix<double, Space>& R = level.R->local;
  device::Buffer<double, Space> moduli;
  level.at.together(*comm_, [&] {
    moduli = device::Buffer<double, Space>(static_cast<std::size_t>(R.n_cols));
    device::diagonal_moduli(queue, level.A.local, moduli.data());
  });
  Halo<double, Space>(card_, *level.R->outline, level.at.leaving).fill(moduli.data());
  level.at.together(*comm_, [&] {
    if (!options_.method->has_coarse_points) device::set_unit_rows(queue, C.local);
    constexpr double margin = amg::round_off_units * std::numeric_limits<double>::epsilon();
    device::drop_round_off(queue, R, moduli.data(), margin, C.local);
    last_sizes_.clear();
    if (!amg::may_solve_directly(C.rows.n_global(), options_)) return;
    device::Buffer<double, Space> sizes(static_cast<std::size_t>(C.local.n_rows));
    device::summand_sizes(queue, R, moduli.data(), sizes.data());
    last_sizes_.resize(sizes.size());
    sizes.get(queue, std::span<double>(last_sizes_));
  });
}

template <class Space>
void SetUpLevels<Space>::rebuild(const matrix::DistMatrix<double>& A, amg::Reuse reuse) {
  Level& first = levels_.front();
  if (comm_->size() == 1) {
    first.A.local.vals.put(card_.queue, std::span<const double>(A.on().vals));
  } else {
    first.A.local = upload(first.at, std::make_shared<const matrix::DistMatrix<double>>(A)).local;
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    level.spectral_radius = 0;
    if (reuse == amg::Reuse::splitting && level.has_next) {
      make_transfer(l);
      level.AP.reset();
      levels_[l + 1].AP.reset();
    }
    if (!(level.spectral_radius > 0)) estimate_radius(level);
    if (level.has_next) renew_next(l);
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) describe(l);
  amg::unite(*comm_, info_, card_.local.take());
}

/// The next level's matrix from the values that this one has.
template <class Space>
void SetUpLevels<Space>::renew_next(std::size_t l) {
  Level& level = levels_[l];
  if (!level.AP) return take_next(l, next_matrix(level, comm_->size() == 1));
  Matrix& C = levels_[l + 1].A;
  device::multiply_again(primitives_, level.A.local, level.P->local, level.AP->local);
  device::multiply_again(primitives_, level.R->local, level.AP->local, C.local);
  finish_next(level, C);
}

/// Its exchanges stay, unless the places of a new prolongation make others.
template <class Space>
void SetUpLevels<Space>::take_next(std::size_t l, Matrix C) {
  Matrix& A = levels_[l + 1].A;
  const bool differs = C.ghosts != A.ghosts || C.local.nnz != A.local.nnz;
  C.outline = A.outline;
  A = std::move(C);
  if (mpi::max(*comm_, differs ? 1 : 0) == 0) return;
  give_outline(A, OutlineRows::all);
  const Outline outline = A.outline;
  choose_exchanges(l + 1, outline);
}

template <class Space>
matrix::DistMatrix<double> SetUpLevels<Space>::last_matrix() const {
  return download(card_.queue, levels_.back().A);
}

#define NODEWISE_FOR_SPACE(Space)                                \
  template struct SetUpLevel<Space>;                             \
  template double radius_of(const SetUpLevel<Space>&, int, int); \
  template class SetUpLevels<Space>;
NODEWISE_FOR_SPACE(device::Host)
#ifdef NODEWISE_CUDA
NODEWISE_FOR_SPACE(device::Cuda)
#endif
#undef NODEWISE_FOR_SPACE

}  // namespace nodewise::offload
