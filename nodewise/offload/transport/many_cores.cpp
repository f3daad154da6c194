// Copied by the core whose data it is, then sent by all that use its card, to whom it hands parts
// in messages.
#include "nodewise/offload/transport/many_cores.hpp"

#include <span>
#include <utility>

#include "nodewise/device/items.hpp"

namespace nodewise::offload {

template <class Space>
ManyCores<Space>::ManyCores(const CarrierCall<Space>& call, MakeHandOver make)
    : card_(call.card),
      n_owned_(call.plan.n_owned),
      shares_(share_out(call.comm, call.sharing, call.plan, call.route)) {
  hand_over_ = make(call, shares_);
  exchange_ = std::make_unique<comm::Exchange>(call.comm, shares_.plan, call.transport);
  mpi::collectively(*call.comm, [&] {
    using Places = device::Buffer<LocalIndex, Space>;
    packed_entries_ = Places(card_.queue, std::span<const LocalIndex>(shares_.packed_entries));
    ghost_places_ = Places(card_.queue, std::span<const LocalIndex>(shares_.ghost_places));
    const auto room = [&](const std::vector<LocalIndex>& offsets) {
      return device::Staging<std::byte, Space>(static_cast<std::size_t>(offsets.back()) *
                                               call.most_item_bytes);
    };
    taken_ = room(shares_.taken_offsets);
    brought_ = room(shares_.brought_offsets);
  });
}

template <class Space>
void ManyCores<Space>::forward(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes) {
  card_.local([&] {
    device::gather_items(card_.queue, static_cast<std::int64_t>(packed_entries_.size()),
                         packed_entries_.data(), {owned, n_owned_, nullptr, item_bytes},
                         hand_over_->packed());
    card_.queue.wait();
  });
  hand_over_->take(taken_.data(), item_bytes);
  exchange_->forward(std::span<const std::byte>(taken_.span()), brought_.span(),
                     static_cast<int>(item_bytes));
  hand_over_->give(brought_.data(), item_bytes);
  card_.local([&] {
    device::gather_items(
        card_.queue, static_cast<std::int64_t>(ghost_places_.size()), ghost_places_.data(),
        {hand_over_->arrived(), std::int64_t{shares_.arrived_offsets.back()}, nullptr, item_bytes},
        ghosts);
  });
}

template <class Space>
std::size_t ManyCores<Space>::bytes() const {
  return packed_entries_.bytes() + ghost_places_.bytes() + hand_over_->bytes();
}

template class ManyCores<device::Host>;
#ifdef NODEWISE_CUDA
template class ManyCores<device::Cuda>;
#endif

}  // namespace nodewise::offload
