#include "nodewise/offload/conjugate_gradients.hpp"

#include <cmath>
#include <utility>

#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/cg_tests.hpp"

namespace nodewise::offload {

template <class Space>
CgSolver<Space>::CgSolver(std::shared_ptr<const mpi::Comm> comm, LocalIndex n)
    : comm_(std::move(comm)), n_(static_cast<std::size_t>(n)) {}

template <class Space>
void CgSolver<Space>::take(DistProductPointer<double, Space> A,
                           std::unique_ptr<DeviceCycle<Space>> cycle) {
  A_ = std::move(A);
  cycle_ = std::move(cycle);
  if (steps_) return;
  steps_.emplace(card_.queue, static_cast<std::int64_t>(n_));
  const auto places = static_cast<std::size_t>(A_->n_with_ghosts());
  for (Vector* v : {&x_, &p_}) *v = Vector(places);
  for (Vector* v : {&b_, &r_, &z_, &q_}) *v = Vector(n_);
}

template <class Space>
std::size_t CgSolver<Space>::bytes() const {
  std::size_t sum = A_->bytes() + cycle_->bytes();
  for (const Vector* v : {&b_, &x_, &r_, &z_, &p_, &q_}) sum += v->bytes();
  return sum;
}

/// Collective. Sums numbers of the device over the ranks: nothing on one, else two copies and an
/// allreduce, in which the ranks agree that nothing failed.
template <class Space>
template <int K>
void CgSolver<Space>::add_over_ranks(device::Terms<K>* numbers) {
  if (comm_->size() == 1) return;
  device::Terms<K> here{};
  card_.local([&] {
    card_.queue.copy_out(&here, numbers, sizeof(here));
    card_.queue.wait();
  });
  mpi::agree_on_sums(*comm_, card_.local.take(), std::span<double>(here.v));
  card_.local([&] {
    card_.queue.copy_in(numbers, &here, sizeof(here));
    card_.queue.wait();
  });
}

/// Collective. The numbers of an iteration, when r.r has been summed over the ranks: the same on
/// each. The ranks agree that nothing failed.
template <class Space>
device::CgNumbers CgSolver<Space>::sum_and_read() {
  device::CgNumbers numbers{};
  card_.local([&] {
    card_.queue.copy_out(&numbers, steps_->numbers(), sizeof(numbers));
    card_.queue.wait();
  });
  mpi::agree_on_sums(*comm_, card_.local.take(), std::span<double>(numbers.rr.v));
  card_.local([&] {
    if (comm_->size() == 1) return;
    card_.queue.copy_in(&steps_->numbers()->rr, &numbers.rr, sizeof(numbers.rr));
    card_.queue.wait();
  });
  return numbers;
}

template <class Space>
solve::Report CgSolver<Space>::solve(const solve::KrylovCall<double>& call) {
  it_.emplace(call);
  best_.emplace(*it_);
  flexible_ = !call.method->needs_fixed_preconditioner;
  mpi::collectively(*comm_, [&] {
    best_->reserve_workspace();
    on_host_.resize(n_);
  });
  if (it_->begin(on_host_)) {
    best_->begin();
    mpi::collectively(*comm_, [&] {
      put(r_, on_host_);
      put(b_, it_->b());
      put(x_, it_->x());
      card_.queue.clear(q_.data(), q_.bytes());
      steps_->forget_direction();
      steps_->square(r_.data());
    });
    add_over_ranks(&steps_->numbers()->rr);
    do {
      precondition();
    } while (advance());
    mpi::collectively(*comm_, [&] {
      if (const auto failure = card_.local.take()) throw *failure;
      x_.get(card_.queue, it_->x());
    });
  }
  best_->restore(on_host_);
  it_->examine_range(on_host_);
  solve::Report report = it_->finish(on_host_);
  best_.reset();
  it_.reset();
  return report;
}

/// z = M r, p = z + beta p. Whether the iteration goes on is seen with the numbers of advance().
template <class Space>
void CgSolver<Space>::precondition() {
  cycle_->apply(*steps_, r_.data(), q_.data(), z_.data());
  add_over_ranks(&steps_->numbers()->rz_qz);
  card_.local([&] { steps_->turn(flexible_, z_.data(), p_.data()); });
}

/// q = A p and the step along p: where its numbers make no sense, none.
template <class Space>
bool CgSolver<Space>::advance() {
  A_->multiply(p_.data(), q_.data());
  card_.local([&] { steps_->dot(p_.data(), q_.data()); });
  add_over_ranks(&steps_->numbers()->pq);
  card_.local([&] { steps_->advance(p_.data(), q_.data(), x_.data(), r_.data()); });
  const device::CgNumbers numbers = sum_and_read();
  if (!solve::accepts_preconditioner(*it_, numbers.rz_before)) return false;
  const double pq = numbers.pq.v[0];
  if (!solve::accepts_matrix(*it_, pq, numbers.rz_before / pq)) return false;
  return settle(numbers);
}

/// Collective. r = b - A x; returns its norm relative to that of b.
template <class Space>
double CgSolver<Space>::true_residual() {
  A_->residual(x_.data(), b_.data(), r_.data());
  card_.local([&] { steps_->square(r_.data()); });
  return std::sqrt(sum_and_read().rr.v[0]) / it_->reference_norm();
}

/// Local. Copies x and p to the host: what the last step of this length was there.
template <class Space>
solve::Move<double> CgSolver<Space>::last_step(double alpha) {
  card_.local([&] {
    x_.get(card_.queue, it_->x());
    p_.get(card_.queue, std::span<double>(on_host_));
  });
  return {alpha, on_host_};
}

/// Takes the new residual, and keeps the best x; where the recurrence says converged, it is
/// replaced by the true one, from which iteration starts afresh if that is too large. False where
/// the solve is over.
template <class Space>
bool CgSolver<Space>::settle(const device::CgNumbers& numbers) {
  double relative = std::sqrt(numbers.rr.v[0]) / it_->reference_norm();
  const bool is_true = it_->passes(relative);
  if (is_true) {
    relative = true_residual();
    card_.local([&] { steps_->forget_direction(); });
  } else if (relative > it_->last() && std::isfinite(relative) && best_->is_worth_keeping()) {
    best_->keep_before({last_step(numbers.alpha)});
  }
  const bool more = it_->record(relative);
  if (!std::isfinite(relative)) {
    best_->undo({last_step(numbers.alpha)});
    card_.local([&] { put(x_, it_->x()); });
  }
  best_->note(relative);
  return more && (!is_true || it_->attainable(relative));
}

template class CgSolver<device::Host>;
#ifdef NODEWISE_CUDA
template class CgSolver<device::Cuda>;
#endif

}  // namespace nodewise::offload
