#include "nodewise/offload/conjugate_gradients.hpp"

#include <cmath>
#include <optional>
#include <type_traits>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/device/cg_steps.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/offload/cards.hpp"
#include "nodewise/offload/cycle.hpp"
#include "nodewise/solve/cg_tests.hpp"

namespace nodewise::offload {

namespace {

/// A cycle as a preconditioner of vectors in double precision.
template <class Space>
class DeviceCycle {
 public:
  virtual ~DeviceCycle() = default;
  /// Collective. z = M r, and the sums of CgSteps::extend(). steps.numbers()->rr belongs to r.
  virtual void apply(device::CgSteps<Space>& steps, const double* r, const double* q,
                     double* z) = 0;
  virtual std::size_t bytes() const = 0;
};

template <class T, class Space>
class CycleIn final : public DeviceCycle<Space> {
 public:
  CycleIn(Card<Space>& card, const amg::Cycle<T>& host, Sweeps sweeps, double matrix_scale,
          const LeavingByLevel& leaving)
      : card_(card),
        cycle_(card, host, restrictions_of(host), sweeps, leaving),
        matrix_scale_(matrix_scale) {}

  void apply(device::CgSteps<Space>& steps, const double* r, const double* q, double* z) override {
    card_.local([&] { steps.round(matrix_scale_, r, cycle_.b()); });
    cycle_.run();
    card_.local([&] { steps.extend(cycle_.x(), r, q, z); });
  }
  std::size_t bytes() const override { return cycle_.bytes(); }

 private:
  Card<Space>& card_;
  Cycle<T, Space> cycle_;
  double matrix_scale_;  // of the cycle's matrices
};

template <class Space>
std::unique_ptr<DeviceCycle<Space>> make_cycle(Card<Space>& card,
                                               const amg::Hierarchy<double>& hierarchy,
                                               const LeavingByLevel& leaving) {
  const amg::SweepCounts counts = amg::sweep_counts(hierarchy.options().cycle);
  const Sweeps sweeps = {counts.pre_sweeps, counts.post_sweeps};
  const amg::MixedPrecisionCycle<double>& cycle = hierarchy.cycle();
  if (const auto* rounded = cycle.levels_in_float()) {
    return std::make_unique<CycleIn<float, Space>>(card, rounded->levels(), sweeps,
                                                   rounded->scale(), leaving);
  }
  return std::make_unique<CycleIn<double, Space>>(card, cycle.levels_in_own_precision(), sweeps, 1,
                                                  leaving);
}

template <class Space>
class Solver final : public DeviceSolver {
 public:
  using Vector = device::Buffer<double, Space>;

  explicit Solver(const DeviceCall& call);
  solve::Report solve(const solve::KrylovCall<double>& call) override;
  std::size_t bytes() const override;

 private:
  void precondition();
  bool advance();
  bool settle(double square);
  double true_residual();
  template <int K>
  void add_over_ranks(device::Terms<K>* numbers);
  device::CgNumbers sum_and_read();
  void put(Vector& to, std::span<const double> from) { to.put(card_.queue, from); }

  std::shared_ptr<const mpi::Comm> comm_;
  Card<Space> card_;
  std::size_t n_ = 0;
  std::optional<DistProduct<double, Space>> A_;
  std::unique_ptr<DeviceCycle<Space>> cycle_;
  std::optional<device::CgSteps<Space>> steps_;
  Vector b_, x_, r_, z_, p_, q_;                // x and p have room for ghosts
  std::optional<solve::Iteration<double>> it_;  // of the solve in progress
  bool flexible_ = false;
};

/// Collective.
template <class Space>
Leaving how_data_leave(const DeviceCall& call) {
  const mpi::Comm& comm = call.A->comm();
  Leaving leaving = {call.options.transport, nullptr, call.options.trust_mpi};
  if (!leaving.how->shares_cards) return leaving;
  const int card = mpi::collectively(comm, [&] {
    const int n_cards = std::is_same_v<Space, device::Cuda> ? device::cuda_devices().count : 0;
    return card_of_rank(comm, read_device_map(call.options.map), n_cards);
  });
  leaving.sharing = ranks_of_card(call.A->shared_comm(), card);
  return leaving;
}

template <class Space>
Solver<Space>::Solver(const DeviceCall& call) : comm_(call.A->shared_comm()) {
  n_ = static_cast<std::size_t>(call.A->n_local());
  const Leaving leaving = how_data_leave<Space>(call);
  A_.emplace(card_, *call.A, leaving);
  mpi::collectively(*comm_, [&] {
    steps_.emplace(card_.queue, static_cast<std::int64_t>(n_));
    const auto places = static_cast<std::size_t>(A_->n_with_ghosts());
    for (Vector* v : {&x_, &p_}) *v = Vector(places);
    for (Vector* v : {&b_, &r_, &z_, &q_}) *v = Vector(n_);
  });
  cycle_ = make_cycle(card_, call.hierarchy, [&](std::size_t /*level*/) { return leaving; });
}

template <class Space>
std::size_t Solver<Space>::bytes() const {
  std::size_t sum = A_->bytes() + cycle_->bytes();
  for (const Vector* v : {&b_, &x_, &r_, &z_, &p_, &q_}) sum += v->bytes();
  return sum;
}

/// Collective. Sums numbers of the device over the ranks: nothing on one, else two copies and an
/// allreduce, in which the ranks agree that nothing failed.
template <class Space>
template <int K>
void Solver<Space>::add_over_ranks(device::Terms<K>* numbers) {
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
device::CgNumbers Solver<Space>::sum_and_read() {
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
solve::Report Solver<Space>::solve(const solve::KrylovCall<double>& call) {
  it_.emplace(call);
  flexible_ = !call.method->needs_fixed_preconditioner;
  Array<double> r = mpi::collectively(*comm_, [&] { return Array<double>(n_); });
  if (it_->begin(r)) {
    mpi::collectively(*comm_, [&] {
      put(r_, r);
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
    mpi::collectively(*comm_, [&] { x_.get(card_.queue, it_->x()); });
  }
  it_->examine_range(r);
  solve::Report report = it_->finish(r);
  it_.reset();
  return report;
}

/// z = M r, p = z + beta p. Whether the iteration goes on is seen with the numbers of advance().
template <class Space>
void Solver<Space>::precondition() {
  cycle_->apply(*steps_, r_.data(), q_.data(), z_.data());
  add_over_ranks(&steps_->numbers()->rz_qz);
  card_.local([&] { steps_->turn(flexible_, z_.data(), p_.data()); });
}

/// q = A p and the step along p: where its numbers make no sense, none.
template <class Space>
bool Solver<Space>::advance() {
  A_->multiply(p_.data(), q_.data());
  card_.local([&] { steps_->dot(p_.data(), q_.data()); });
  add_over_ranks(&steps_->numbers()->pq);
  card_.local([&] { steps_->advance(p_.data(), q_.data(), x_.data(), r_.data()); });
  const device::CgNumbers numbers = sum_and_read();
  if (!solve::accepts_preconditioner(*it_, numbers.rz_before)) return false;
  const double pq = numbers.pq.v[0];
  if (!solve::accepts_matrix(*it_, pq, numbers.rz_before / pq)) return false;
  return settle(numbers.rr.v[0]);
}

/// Collective. r = b - A x; returns its norm relative to that of b.
template <class Space>
double Solver<Space>::true_residual() {
  A_->residual(x_.data(), b_.data(), r_.data());
  card_.local([&] { steps_->square(r_.data()); });
  return std::sqrt(sum_and_read().rr.v[0]) / it_->reference_norm();
}

/// Takes the new residual with this square; where the recurrence says converged, it is replaced by
/// the true one, from which iteration starts afresh if that is too large. False where the solve is
/// over.
template <class Space>
bool Solver<Space>::settle(double square) {
  double relative = std::sqrt(square) / it_->reference_norm();
  bool is_true = false;
  if (it_->passes(relative)) {
    relative = true_residual();
    card_.local([&] { steps_->forget_direction(); });
    is_true = true;
  }
  if (!it_->record(relative)) return false;
  return !is_true || it_->attainable(relative);
}

}  // namespace

template <class Space>
std::unique_ptr<DeviceSolver> make_device_solver(const DeviceCall& call) {
  return std::make_unique<Solver<Space>>(call);
}

template std::unique_ptr<DeviceSolver> make_device_solver<device::Host>(const DeviceCall& call);
#ifdef NODEWISE_CUDA
template std::unique_ptr<DeviceSolver> make_device_solver<device::Cuda>(const DeviceCall& call);
#endif

}  // namespace nodewise::offload
