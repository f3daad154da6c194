#include "nodewise/offload/departures.hpp"

#include <type_traits>
#include <utility>

#include "nodewise/device/queue.hpp"
#include "nodewise/mpi/device_memory.hpp"
#include "nodewise/offload/cards.hpp"
#include "nodewise/routing/gpu_transport_choice.hpp"

namespace nodewise::offload {

namespace {

/// Of the executors the one that goes a model's way.
const DeviceTransportMethod& executor_of(const model::GpuTransport& way) {
  for (const DeviceTransportMethod& method : DeviceTransportMethod::family()) {
    if (&(*method.costs)() == &way) return method;
  }
  throw Error(ErrorCode::internal, "nothing on devices goes the way " + *way.name);
}

}  // namespace

template <class Space>
Departures<Space>::Departures(const DeviceOptions& options, std::shared_ptr<const mpi::Comm> comm,
                              const model::Machine* machine)
    : options_(options), comm_(std::move(comm)), machine_(machine) {
  leaving_.trusts_mpi = options.trust_mpi;
  const bool is_open = options.transport.is_automatic();
  if (!is_open) leaving_.how = options.transport;
  const bool may_choose =
      is_open && machine != nullptr && machine->gpu.has_value() && comm_->topology().n_nodes() > 1;
  if (!may_choose && !leaving_.how->shares_cards) return;
  const int card = mpi::collectively(*comm_, [&] {
    const int n_cards = std::is_same_v<Space, device::Cuda> ? device::cuda_devices().count : 0;
    return card_of_rank(*comm_, read_device_map(options.map), n_cards);
  });
  leaving_.sharing = ranks_of_card(comm_, card);
  fewest_sharing_ = mpi::min(*comm_, leaving_.sharing->size());
  if (std::is_same_v<Space, device::Cuda> && !options.trust_mpi) {
    passes_memory_ = mpi::min(*comm_, mpi::why_no_cuda_memory().empty() ? 1 : 0) == 1;
  }
}

template <class Space>
bool Departures<Space>::can_go(const DeviceTransportMethod& way,
                               const comm::Transport& transport) const {
  if (way.shares_cards) return fewest_sharing_ >= (*(*way.costs)().cores)(*machine_);
  if (!way.passes_device_memory || std::is_same_v<Space, device::Host>) return true;
  return passes_memory_ && !transport->copies_data;
}

template <class Space>
Departure Departures<Space>::of(const comm::Exchange& exchange, std::size_t item_bytes) const {
  if (!options_.transport.is_automatic()) return {leaving_};
  if (machine_ == nullptr) return {leaving_, "no machine file tells of GPUs"};
  const auto decision = routing::choose_gpu_transport(
      *comm_, exchange.plan(), *machine_, static_cast<double>(item_bytes),
      [&](const model::GpuTransport& way) {
        return can_go(executor_of(way), exchange.transport());
      });
  Departure departure = {leaving_, decision.reason};
  departure.leaving.how = executor_of(*decision.chosen);
  return departure;
}

template class Departures<device::Host>;
#ifdef NODEWISE_CUDA
template class Departures<device::Cuda>;
#endif

}  // namespace nodewise::offload
