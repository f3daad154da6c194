// A solver on a device for a hierarchy that was set up on the host.
#include <utility>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/offload/conjugate_gradients.hpp"
#include "nodewise/offload/departures.hpp"

namespace nodewise::offload {

namespace {

template <class Space>
std::unique_ptr<DeviceCycle<Space>> make_cycle(Card<Space>& card,
                                               const amg::Hierarchy<double>& hierarchy,
                                               const LeavingOf& leaving) {
  const amg::SweepCounts counts = amg::sweep_counts(hierarchy.options().cycle);
  const Sweeps sweeps = {counts.pre_sweeps, counts.post_sweeps};
  const amg::MixedPrecisionCycle<double>& cycle = hierarchy.cycle();
  if (const auto* rounded = cycle.levels_in_float()) {
    const amg::Cycle<float>& levels = rounded->levels();
    return std::make_unique<CycleIn<float, Space>>(card, rounded->scale(), levels,
                                                   restrictions_of(levels), sweeps, leaving);
  }
  const amg::Cycle<double>& levels = cycle.levels_in_own_precision();
  return std::make_unique<CycleIn<double, Space>>(card, 1.0, levels, restrictions_of(levels),
                                                  sweeps, leaving);
}

template <class Space>
class HierarchySolver final : public CgSolver<Space> {
 public:
  explicit HierarchySolver(const DeviceCall& call)
      : CgSolver<Space>(call.A->shared_comm(), call.A->n_local()) {
    const Departures<Space> departures(call.options, call.A->shared_comm(),
                                       call.hierarchy.options().machine.get());
    auto A = std::make_unique<DistProduct<double, Space>>(
        this->card(), *call.A, departures.of(call.A->exchange(), sizeof(double)).leaving);
    auto cycle = make_cycle(this->card(), call.hierarchy,
                            [&](const comm::Exchange& exchange, std::size_t item_bytes) {
                              Departure departure = departures.of(exchange, item_bytes);
                              ways_.push_back({departure.leaving.how.name(), departure.reason});
                              return departure.leaving;
                            });
    mpi::collectively(call.A->comm(), [&] { this->take(std::move(A), std::move(cycle)); });
    if (call.A->comm().size() == 1) ways_.clear();
  }

  std::vector<WayRecord> ways() const override { return ways_; }

 private:
  std::vector<WayRecord> ways_;
};

}  // namespace

template <class Space>
std::unique_ptr<DeviceSolver> make_device_solver(const DeviceCall& call) {
  return std::make_unique<HierarchySolver<Space>>(call);
}

template std::unique_ptr<DeviceSolver> make_device_solver<device::Host>(const DeviceCall& call);
#ifdef NODEWISE_CUDA
template std::unique_ptr<DeviceSolver> make_device_solver<device::Cuda>(const DeviceCall& call);
#endif

}  // namespace nodewise::offload
