// Conjugate gradients with a cycle of multigrid, on a device.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "nodewise/device/cg_steps.hpp"
#include "nodewise/offload/cycle.hpp"
#include "nodewise/offload/device_method.hpp"
#include "nodewise/solve/checkpoint.hpp"
#include "nodewise/solve/iteration.hpp"

namespace nodewise::offload {

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
  /// Its matrices are `matrix_scale` times those of the problem; the rest is for the Cycle.
  template <class... Arguments>
  explicit CycleIn(Card<Space>& card, double matrix_scale, Arguments&&... arguments)
      : card_(card),
        cycle_(card, std::forward<Arguments>(arguments)...),
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
  double matrix_scale_;
};

/// Conjugate gradients for a product and a cycle that whoever derives from this has made.
template <class Space>
class CgSolver : public DeviceSolver {
 public:
  solve::Report solve(const solve::KrylovCall<double>& call) override;
  std::size_t bytes() const override;

 protected:
  /// Local. For n rows on this rank; take() must follow.
  CgSolver(std::shared_ptr<const mpi::Comm> comm, LocalIndex n);
  /// Local. Multiplies and preconditions by these from now on; makes the vectors the first time.
  void take(DistProductPointer<double, Space> A, std::unique_ptr<DeviceCycle<Space>> cycle);
  Card<Space>& card() { return card_; }
  /// Local. Releases the product and the cycle, so that there is room for others.
  void release() {
    A_.reset();
    cycle_.reset();
  }

 private:
  using Vector = device::Buffer<double, Space>;

  void precondition();
  bool advance();
  bool settle(const device::CgNumbers& numbers);
  double true_residual();
  solve::Move<double> last_step(double alpha);
  template <int K>
  void add_over_ranks(device::Terms<K>* numbers);
  device::CgNumbers sum_and_read();
  void put(Vector& to, std::span<const double> from) { to.put(card_.queue, from); }

  std::shared_ptr<const mpi::Comm> comm_;
  Card<Space> card_;
  std::size_t n_;
  DistProductPointer<double, Space> A_;
  std::unique_ptr<DeviceCycle<Space>> cycle_;
  std::optional<device::CgSteps<Space>> steps_;
  Vector b_, x_, r_, z_, p_, q_;                // x and p have room for ghosts
  std::optional<solve::Iteration<double>> it_;  // of the solve in progress, and so are the rest
  std::optional<solve::Checkpoint<double>> best_;
  Array<double> on_host_;  // a vector, where one is needed there
  bool flexible_ = false;
};

/// DeviceMethod::make for a space: the finest matrix in double precision, the cycle in the
/// precisions that the hierarchy has.
template <class Space>
std::unique_ptr<DeviceSolver> make_device_solver(const DeviceCall& call);

/// DeviceMethod::set_up for a space.
template <class Space>
std::unique_ptr<DeviceSolver> set_up_on_device(const SetupCall& call);

}  // namespace nodewise::offload
