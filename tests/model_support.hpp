// Machines with round numbers, for what can be worked out by hand.
#pragma once

#include "nodewise/model/machine.hpp"

namespace nodewise::test {

/// One protocol; on a socket 0.125 s and 64 B/s, on a node 0.25 s and 32 B/s, between nodes 1 s,
/// 8 B/s and 16 B/s for a whole node. Nothing else costs anything.
inline model::Machine round_machine() {
  model::Machine machine;
  machine.name = "round";
  machine.sockets_per_node = 2;
  machine.cores_per_node = 4;
  machine.path(model::Locality::same_socket)[2] =
      model::MessageParameters{0.125, 64, model::unlimited};
  machine.path(model::Locality::same_node)[2] =
      model::MessageParameters{0.25, 32, model::unlimited};
  machine.path(model::Locality::other_node)[2] = model::MessageParameters{1, 8, 16};
  return machine;
}

}  // namespace nodewise::test
