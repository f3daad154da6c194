#include "nodewise/offload/cycle.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/device/vectors.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::offload {

template <class T>
std::vector<std::shared_ptr<const matrix::DistMatrix<T>>> restrictions_of(
    const amg::Cycle<T>& host) {
  std::vector<std::shared_ptr<const matrix::DistMatrix<T>>> all;
  for (const amg::CycleLevel<T>& level : host.levels) {
    if (!level.P) continue;
    all.push_back(level.R
                      ? level.R
                      : std::make_shared<const matrix::DistMatrix<T>>(matrix::transpose(*level.P)));
  }
  return all;
}

template <class T, class Space>
std::size_t CycleLevel<T, Space>::bytes() const {
  std::size_t sum = inverse_diagonal.bytes() + inverse.bytes() + b.bytes() + x.bytes() +
                    other.bytes() + step.bytes() + r.bytes();
  for (const auto* M : {&A, &P, &R}) sum += *M ? (*M)->bytes() : 0;
  return sum;
}

namespace {

/// A step is written only where the next one of the sweep, or of the sweep behind it, reads it.
/// Returns whether there is such a step.
template <class T>
bool find_steps_that_are_read(std::vector<device::RelaxationStep<T>>& steps) {
  bool any = false;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    steps[k].leaves = steps[(k + 1) % steps.size()].keep != T{0};
    any = any || steps[k].leaves;
  }
  return any;
}

}  // namespace

template <class T, class Space>
Cycle<T, Space>::Cycle(Card<Space>& card, const amg::Cycle<T>& host,
                       const Restrictions& restrictions, Sweeps sweeps, const LeavingOf& leaving)
    : card_(card), sweeps_(sweeps) {
  const mpi::Comm& comm = host.levels.front().A->comm();
  levels_.reserve(host.levels.size());
  for (std::size_t l = 0; l < host.levels.size(); ++l) {
    add_level(host.levels[l], l < restrictions.size() ? restrictions[l].get() : nullptr, leaving);
  }
  complete(comm);
}

template <class T, class Space>
Cycle<T, Space>::Cycle(Card<Space>& card, const mpi::Comm& comm, std::vector<Level> levels,
                       Sweeps sweeps)
    : card_(card), sweeps_(sweeps), levels_(std::move(levels)) {
  complete(comm);
}

template <class T, class Space>
void Cycle<T, Space>::complete(const mpi::Comm& comm) {
  mpi::collectively(comm, [&] {
    give_vectors();
    if (comm.size() == 1) record();
  });
}

/// Local, on one rank.
template <class T, class Space>
void Cycle<T, Space>::record() {
  graph_.emplace(card_.queue, [this] { solution_ = visit(0); });
  if (const auto failure = card_.local.take()) throw Error(*failure);
}

template <class T, class Space>
void Cycle<T, Space>::add_level(const amg::CycleLevel<T>& from, const matrix::DistMatrix<T>* R,
                                const LeavingOf& leaving_of) {
  if (!from.A || from.arrival || from.to_copies) {
    throw Error(ErrorCode::unsupported,
                "a cycle on a device needs all levels on all ranks; use `redistribution none`");
  }
  Level& level = levels_.emplace_back();
  level.n = from.A->n_local();
  const Leaving leaving = leaving_of(from.A->exchange(), sizeof(T));
  if (from.P) {
    level.P = std::make_unique<DistProduct<T, Space>>(card_, *from.P, leaving);
    level.R = std::make_unique<DistProduct<T, Space>>(card_, *R, leaving);
  }
  if (!from.direct) level.A = std::make_unique<DistProduct<T, Space>>(card_, *from.A, leaving);
  mpi::collectively(from.A->comm(), [&] { give_rest(level, from); });
}

/// What a level needs besides its matrices and vectors. Local.
template <class T, class Space>
void Cycle<T, Space>::give_rest(Level& level, const amg::CycleLevel<T>& from) {
  if (from.direct) {
    if (from.A->comm().size() > 1 || from.direct->inverse_rows().empty()) {
      level.solver = from.direct;
    } else {
      level.inverse = device::Buffer<T, Space>(card_.queue, from.direct->inverse_rows());
    }
    return;
  }
  const auto steps = from.smoother->relaxation().diagonal_steps();
  if (!steps) {
    throw Error(ErrorCode::unsupported,
                "a device relaxes by `smoother chebyshev`, `l1_jacobi` or `jacobi` alone");
  }
  level.inverse_diagonal = device::Buffer<T, Space>(card_.queue, steps->inverse);
  for (const auto& step : steps->steps) level.steps.push_back({step.keep, step.take});
}

/// With room for what the level's own products and those beside it read.
template <class T, class Space>
void Cycle<T, Space>::give_vectors() {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    auto places = static_cast<std::size_t>(levels_[l].n);
    const auto reads = [&](const DistProductPointer<T, Space>& M) {
      if (M) places = std::max(places, static_cast<std::size_t>(M->n_with_ghosts()));
    };
    reads(levels_[l].A);
    reads(levels_[l].R);
    if (l > 0) reads(levels_[l - 1].P);
    give_vectors(levels_[l], places);
  }
  if (levels_.back().solver == nullptr) return;
  coarse_b_.resize(static_cast<std::size_t>(levels_.back().n));
  coarse_x_.resize(coarse_b_.size());
}

template <class T, class Space>
void Cycle<T, Space>::give_vectors(Level& level, std::size_t places) {
  using Buffer = device::Buffer<T, Space>;
  level.b = Buffer(places);
  level.x = Buffer(places);
  if (!level.A) return;
  level.other = Buffer(places);
  if (find_steps_that_are_read(level.steps)) {
    level.step = Buffer(static_cast<std::size_t>(level.n));
  }
  if (level.P) level.r = Buffer(places);
}

/// A step from x to `other`, which change places.
template <class T, class Space>
void Cycle<T, Space>::step(Level& level, device::RelaxationStep<T> how, T*& x, T*& other) {
  level.A->relax(how, level.inverse_diagonal.data(), level.b.data(), x, level.step.data(), other);
  std::swap(x, other);
}

/// Sweeps from x; `other` has room for as many numbers. Returns the one that has the result.
template <class T, class Space>
T* Cycle<T, Space>::relax(Level& level, int sweeps, T* x, T* other) {
  for (int k = 0; k < sweeps; ++k) {
    for (const auto& how : level.steps) step(level, how, x, other);
  }
  return x;
}

template <class T, class Space>
T* Cycle<T, Space>::relax_from_zero(Level& level, int sweeps) {
  T* x = level.x.data();
  T* other = level.other.data();
  card_.local([&] {
    if (sweeps == 0) {
      card_.queue.clear(x, static_cast<std::size_t>(level.n) * sizeof(T));
    } else {
      const device::RelaxationStep<T>& first = level.steps.front();
      device::relax_from_zero(card_.queue, level.n, first.take, level.inverse_diagonal.data(),
                              level.b.data(), first.leaves ? level.step.data() : nullptr, x);
    }
  });
  if (sweeps == 0) return x;
  for (std::size_t k = 1; k < level.steps.size(); ++k) step(level, level.steps[k], x, other);
  return relax(level, sweeps - 1, x, other);
}

template <class T, class Space>
T* Cycle<T, Space>::solve_last(Level& level) {
  if (level.A) return relax_from_zero(level, 2 * amg::last_level_sweeps);
  T* const b = level.b.data();
  T* const x = level.x.data();
  if (level.solver == nullptr) {
    card_.local([&] { device::multiply_dense(card_.queue, level.n, level.inverse.data(), b, x); });
    return x;
  }
  card_.local([&] { level.b.get(card_.queue, std::span<T>(coarse_b_)); });
  level.solver->solve(std::span<const T>(coarse_b_), std::span<T>(coarse_x_));
  card_.local([&] { level.x.put(card_.queue, std::span<const T>(coarse_x_)); });
  return x;
}

/// From the level's b to its solution, which is in one of its arrays.
template <class T, class Space>
T* Cycle<T, Space>::visit(std::size_t l) {
  Level& level = levels_[l];
  if (!level.P) return solve_last(level);
  T* const x = relax_from_zero(level, sweeps_.before);
  T* const other = x == level.x.data() ? level.other.data() : level.x.data();
  level.A->residual(x, level.b.data(), level.r.data());
  level.R->multiply(level.r.data(), levels_[l + 1].b.data());
  T* const correction = visit(l + 1);
  level.P->multiply_add(correction, x);
  return relax(level, sweeps_.after, x, other);
}

template <class T, class Space>
void Cycle<T, Space>::run() {
  if (graph_) return card_.local([&] { graph_->run(); });
  solution_ = visit(0);
}

template <class T, class Space>
std::size_t Cycle<T, Space>::bytes() const {
  std::size_t sum = 0;
  for (const Level& level : levels_) sum += level.bytes();
  return sum;
}

template std::vector<std::shared_ptr<const matrix::DistMatrix<float>>> restrictions_of(
    const amg::Cycle<float>&);
template std::vector<std::shared_ptr<const matrix::DistMatrix<double>>> restrictions_of(
    const amg::Cycle<double>&);
template struct CycleLevel<float, device::Host>;
template struct CycleLevel<double, device::Host>;
template class Cycle<float, device::Host>;
template class Cycle<double, device::Host>;
#ifdef NODEWISE_CUDA
template struct CycleLevel<float, device::Cuda>;
template struct CycleLevel<double, device::Cuda>;
template class Cycle<float, device::Cuda>;
template class Cycle<double, device::Cuda>;
#endif

}  // namespace nodewise::offload
