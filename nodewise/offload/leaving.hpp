// How data leave a rank's device.
#pragma once

#include <memory>

#include "nodewise/offload/transport/device_transport.hpp"

namespace nodewise::offload {

struct Leaving {
  DeviceTransport how = "one_core";
  /// The ranks of the node that use this rank's card, where the way shares_cards.
  std::shared_ptr<const mpi::Comm> sharing = nullptr;
  bool trusts_mpi = false;  ///< that it takes addresses of cards, whatever it says
};

}  // namespace nodewise::offload
