// An exchange whose messages are shared out among the ranks that use a card.
#pragma once

#include <memory>

#include "nodewise/comm/exchange.hpp"
#include "nodewise/device/buffer.hpp"
#include "nodewise/offload/transport/device_transport.hpp"
#include "nodewise/offload/transport/shares.hpp"

namespace nodewise::offload {

/// How the members of a card hand their items to each other: from the packed items of all to what
/// each takes, and from what each brings to what arrives for all. `taken` and `brought` lie on the
/// host.
template <class Space>
class HandOver {
 public:
  virtual ~HandOver() = default;
  /// Where this rank packs its items, and where those arrive that it needs; on the device.
  virtual std::byte* packed() = 0;
  virtual std::byte* arrived() = 0;
  /// Collective over the card; `packed` is complete when the card's queue is done.
  virtual void take(std::byte* taken, std::size_t item_bytes) = 0;
  /// Collective over the card.
  virtual void give(const std::byte* brought, std::size_t item_bytes) = 0;
  /// Of the device.
  virtual std::size_t bytes() const = 0;
};

/// A carrier by cores that hand over in such a way.
template <class Space>
class ManyCores : public Carrier<Space> {
 public:
  using MakeHandOver = std::unique_ptr<HandOver<Space>> (*)(const CarrierCall<Space>& call,
                                                            const Shares& shares);
  /// Collective.
  ManyCores(const CarrierCall<Space>& call, MakeHandOver make);

  void forward(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes) override;
  std::size_t bytes() const override;

 private:
  Card<Space>& card_;
  LocalIndex n_owned_;
  Shares shares_;
  std::unique_ptr<HandOver<Space>> hand_over_;
  std::unique_ptr<comm::Exchange> exchange_;
  device::Buffer<LocalIndex, Space> packed_entries_, ghost_places_;
  device::Staging<std::byte, Space> taken_, brought_;
};

}  // namespace nodewise::offload
