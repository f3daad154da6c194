#include "nodewise/offload/setup_levels.hpp"

#include <limits>
#include <utility>

#include "nodewise/amg/round_off.hpp"
#include "nodewise/amg/setup/aggregation.hpp"
#include "nodewise/amg/setup/level_choice.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/device/coarse_rows.hpp"
#include "nodewise/device/sell.hpp"
#include "nodewise/device/spgemm.hpp"
#include "nodewise/offload/spectral_radius.hpp"

namespace nodewise::offload {

template <class Space>
double radius_of(device::Primitives<Space>& primitives, const SetUpLevel<Space>& level, int steps,
                 int seed) {
  const device::SellMatrix<double, Space> product(primitives, level.A);
  return spectral_radius(primitives.queue(), level.A, product, steps, seed);
}

template <class Space>
std::unique_ptr<Coarsener<Space>> make_coarsener(device::Primitives<Space>& primitives,
                                                 const amg::Options& options,
                                                 const std::vector<double>& vector) {
  return options.method->has_coarse_points ? make_classical(primitives, options)
                                           : make_aggregation(primitives, options, vector);
}

template <class Space>
std::size_t SetUpLevel<Space>::bytes() const {
  std::size_t sum = aggregates.of_point.bytes() + splitting.numbers.bytes();
  for (const Matrix* M : {&A, &P, &R, &AP}) sum += M->bytes();
  return sum;
}

template <class Space>
std::size_t SetUpLevels<Space>::bytes() const {
  std::size_t sum = coarsener_->bytes();
  for (const Level& level : levels_) sum += level.bytes();
  return sum;
}

template <class Space>
SetUpLevels<Space>::SetUpLevels(device::Primitives<Space>& primitives, const SetupCall& call)
    : primitives_(primitives),
      queue_(primitives.queue()),
      comm_(call.A->shared_comm()),
      options_(call.options) {
  std::vector<double> vector = call.info.near_null_space.values;
  if (vector.empty()) vector.assign(static_cast<std::size_t>(call.A->n_local()), 1.0);
  coarsener_ = make_coarsener(primitives, options_, vector);
  levels_.emplace_back().A = device::upload<double, Space>(queue_, call.A->on());
  set_up(call.observe);
}

/// The levels below the first.
template <class Space>
void SetUpLevels<Space>::set_up(const amg::LevelObserver& observe) {
  for (std::size_t l = 0;; ++l) {
    const int depth = static_cast<int>(l);
    const GlobalIndex rows = levels_[l].A.n_rows;
    if (amg::may_coarsen(rows, options_, depth)) {
      levels_[l].has_next = amg::is_worth_a_level(coarsener_->coarsen(levels_[l]), rows);
    }
    Level& level = levels_[l];
    if (level.has_next) make_transfer(l);
    level.solved_directly = !level.has_next && amg::may_solve_directly(rows, options_);
    if (!(level.spectral_radius > 0)) estimate_radius(level);
    describe(level);
    if (observe) observe(depth, info_.back());
    if (!level.has_next) return;
    Matrix next = next_matrix(level, false);
    levels_.emplace_back().A = std::move(next);
  }
}

template <class Space>
void SetUpLevels<Space>::make_transfer(std::size_t l) {
  coarsener_->interpolate(levels_[l], l);
  levels_[l].R = device::transpose(primitives_, levels_[l].P);
}

/// That of a relaxation which needs it.
template <class Space>
void SetUpLevels<Space>::estimate_radius(Level& level) {
  if (level.solved_directly || !options_.smoother->needs_spectral_radius) return;
  level.spectral_radius =
      radius_of(primitives_, level, amg::SpectrumOptions{}.steps, options_.seed);
}

template <class Space>
auto SetUpLevels<Space>::next_matrix(Level& level, bool keeps_product) -> Matrix {
  Matrix AP = device::multiply(primitives_, level.A, level.P);
  Matrix C = device::multiply(primitives_, level.R, AP);
  if (keeps_product) level.AP = std::move(AP);
  finish_next(level, C);
  return C;
}

/// A coarse matrix as a cycle can use it, and what it is a sum of where it may be solved directly.
template <class Space>
void SetUpLevels<Space>::finish_next(const Level& level, Matrix& C) {
  if (!options_.method->has_coarse_points) device::set_unit_rows(queue_, C);
  constexpr double margin = amg::round_off_units * std::numeric_limits<double>::epsilon();
  device::drop_round_off(queue_, level.A, level.R, margin, C);
  last_sizes_.clear();
  if (!amg::may_solve_directly(C.n_rows, options_)) return;
  device::Buffer<double, Space> sizes(static_cast<std::size_t>(C.n_rows));
  device::summand_sizes(queue_, level.A, level.R, sizes.data());
  last_sizes_.resize(sizes.size());
  sizes.get(queue_, std::span<double>(last_sizes_));
}

template <class Space>
void SetUpLevels<Space>::describe(const Level& level) {
  amg::LevelInfo& info = info_.emplace_back();
  info.rows = level.A.n_rows;
  info.nonzeros = level.A.nnz;
  info.interpolation_nonzeros = level.has_next ? level.P.nnz : 0;
  info.active_ranks = 1;
}

template <class Space>
void SetUpLevels<Space>::rebuild(const matrix::DistMatrix<double>& A, amg::Reuse reuse) {
  info_.clear();
  levels_.front().A.vals.put(queue_, std::span<const double>(A.on().vals));
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    level.spectral_radius = 0;
    if (reuse == amg::Reuse::splitting && level.has_next) {
      make_transfer(l);
      level.AP = {};
      levels_[l + 1].AP = {};
    }
    if (!(level.spectral_radius > 0)) estimate_radius(level);
    describe(level);
    if (level.has_next) renew_next(l);
  }
}

/// The next level's matrix from the values that this one has.
template <class Space>
void SetUpLevels<Space>::renew_next(std::size_t l) {
  Level& level = levels_[l];
  Matrix& C = levels_[l + 1].A;
  if (level.AP.nnz == 0) {
    C = next_matrix(level, true);
    return;
  }
  device::multiply_again(primitives_, level.A, level.P, level.AP);
  device::multiply_again(primitives_, level.R, level.AP, C);
  finish_next(level, C);
}

template <class Space>
matrix::DistMatrix<double> SetUpLevels<Space>::last_matrix() const {
  matrix::SplitRows<double> split;
  split.on = device::download<double, Space>(queue_, levels_.back().A);
  split.off = kernels::Csr<double>(split.on.n_rows, 0);
  const auto rows = comm::Layout::from_local_size(comm_, split.on.n_rows);
  return {rows, rows, std::move(split)};
}

template struct SetUpLevel<device::Host>;
template double radius_of(device::Primitives<device::Host>&, const SetUpLevel<device::Host>&, int,
                          int);
template class SetUpLevels<device::Host>;
#ifdef NODEWISE_CUDA
template struct SetUpLevel<device::Cuda>;
template double radius_of(device::Primitives<device::Cuda>&, const SetUpLevel<device::Cuda>&, int,
                          int);
template class SetUpLevels<device::Cuda>;
#endif

}  // namespace nodewise::offload
