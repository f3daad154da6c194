// A solver on a device for a hierarchy that was set up on the host.
#include <type_traits>
#include <utility>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/offload/cards.hpp"
#include "nodewise/offload/conjugate_gradients.hpp"

namespace nodewise::offload {

namespace {

template <class Space>
std::unique_ptr<DeviceCycle<Space>> make_cycle(Card<Space>& card,
                                               const amg::Hierarchy<double>& hierarchy,
                                               const LeavingByLevel& leaving) {
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
class HierarchySolver final : public CgSolver<Space> {
 public:
  explicit HierarchySolver(const DeviceCall& call)
      : CgSolver<Space>(call.A->shared_comm(), call.A->n_local()) {
    const Leaving leaving = how_data_leave<Space>(call);
    auto A = product_of<double>(this->card(), *call.A, leaving);
    auto cycle =
        make_cycle(this->card(), call.hierarchy, [&](std::size_t /*level*/) { return leaving; });
    mpi::collectively(call.A->comm(), [&] { this->take(std::move(A), std::move(cycle)); });
  }
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
