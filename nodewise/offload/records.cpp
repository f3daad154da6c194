#include "nodewise/offload/records.hpp"

#include "nodewise/comm/exchange.hpp"
#include "nodewise/comm/record_plan.hpp"

namespace nodewise::offload {

template <class Space>
RecordCarrier<Space>::RecordCarrier(Card<Space>& card, const std::shared_ptr<const mpi::Comm>& comm,
                                    const Leaving& leaving, const comm::Plan& plan,
                                    std::span<const Offset> offsets, const comm::Route& route,
                                    const comm::Transport& transport, std::size_t most_item_bytes) {
  if (comm->size() == 1) return;
  require_available<Space>(*comm, leaving.how, transport, leaving.trusts_mpi);
  const comm::Plan of_items = comm::plan_of_items(comm, plan, offsets);
  std::vector<Offset> lengths, of_ghosts;
  mpi::collectively(*comm, [&] {
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      lengths.push_back(offsets[i + 1] - offsets[i]);
    }
    of_ghosts.resize(static_cast<std::size_t>(plan.n_ghosts));
  });
  comm::Exchange(comm, plan)
      .forward(std::span<const Offset>(lengths), std::span<Offset>(of_ghosts));
  mpi::collectively(*comm, [&] {
    for (const Offset n : of_ghosts) ghost_offsets_.push_back(ghost_offsets_.back() + n);
  });
  carrier_ = (*leaving.how->make_carrier)(
      CarrierCall<Space>{card, comm, leaving.sharing, of_items, route, transport, most_item_bytes});
}

template <class Space>
void RecordCarrier<Space>::forward(const std::byte* owned, std::byte* ghosts,
                                   std::size_t item_bytes) {
  if (carrier_ != nullptr) carrier_->forward(owned, ghosts, item_bytes);
}

template class RecordCarrier<device::Host>;
#ifdef NODEWISE_CUDA
template class RecordCarrier<device::Cuda>;
#endif

}  // namespace nodewise::offload
