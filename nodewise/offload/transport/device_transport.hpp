// How data that lie on devices get to other ranks: orthogonal to routes and to the transports of
// the host. methods.cpp lists the ways.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "nodewise/base/family.hpp"
#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/route/route.hpp"
#include "nodewise/comm/transport/transport.hpp"
#include "nodewise/device/space.hpp"
#include "nodewise/model/gpu_transport.hpp"
#include "nodewise/mpi/comm.hpp"
#include "nodewise/offload/card.hpp"
#include "nodewise/offload/transport/adder.hpp"

namespace nodewise::offload {

/// Brings the ghosts of vectors on devices, again and again, as comm::Exchange does on the host:
/// the same values to the bit. One run at a time.
template <class Space>
class Carrier {
 public:
  virtual ~Carrier() = default;
  /// Collective. `owned` has the plan's n_owned items, `ghosts` room for its n_ghosts, each of
  /// item_bytes: as many on every rank, and no more than the carrier was made for. Both are arrays
  /// of the space; work that is in the card's queue comes before. What fails on this rank is left
  /// in the card's LocalWork.
  virtual void forward(const std::byte* owned, std::byte* ghosts, std::size_t item_bytes) = 0;
  /// Local. Bytes of the device's memory.
  virtual std::size_t bytes() const = 0;
};

/// What one is made of. References must outlive the carrier, but for the plan.
template <class Space>
struct CarrierCall {
  Card<Space>& card;
  std::shared_ptr<const mpi::Comm> comm;
  /// The ranks of the node that use this rank's card, ascending: where the way shares_cards.
  std::shared_ptr<const mpi::Comm> sharing;
  const comm::Plan& plan;
  comm::Route route;  ///< for what has to be planned anew
  comm::Transport transport;
  std::size_t most_item_bytes = sizeof(double);
};

/// Collective. Makes a thing of each space; throws the same Error on every rank.
template <template <class> class Thing, template <class> class Call>
struct MakeBySpace {
  template <class Space>
  using Make = std::unique_ptr<Thing<Space>> (*)(const Call<Space>& call);

  Make<device::Host> on_host;
  Make<device::Cuda> on_card;

  std::unique_ptr<Thing<device::Host>> operator()(const Call<device::Host>& call) const {
    return on_host(call);
  }
  std::unique_ptr<Thing<device::Cuda>> operator()(const Call<device::Cuda>& call) const {
    return on_card(call);
  }
};
using MakeCarriers = MakeBySpace<Carrier, CarrierCall>;
using MakeAdders = MakeBySpace<Adder, AdderCall>;

/// A way.
struct DeviceTransportMethod : MethodInfo {
  /// Whether MPI gets addresses of the device.
  Required<bool> passes_device_memory;
  /// Whether the ranks that use a card work for each other.
  Required<bool> shares_cards;
  Required<MakeCarriers> make_carrier;
  Required<MakeAdders> make_adder;
  /// What it costs.
  Required<const model::GpuTransport& (*)()> costs;

  /// `automatic` is for Departures to replace.
  static Family<DeviceTransportMethod>& family();
};

using DeviceTransport = Choice<DeviceTransportMethod>;

/// Collective. Throws the same Error on every rank, unsupported, where data on devices of the space
/// cannot go this way: an MPI that does not take addresses of cards, unless `trusts_mpi`, or a
/// transport of the host that copies on the way.
template <class Space>
void require_available(const mpi::Comm& comm, const DeviceTransport& how,
                       const comm::Transport& transport, bool trusts_mpi);
template <>
void require_available<device::Host>(const mpi::Comm& comm, const DeviceTransport& how,
                                     const comm::Transport& transport, bool trusts_mpi);

}  // namespace nodewise::offload
