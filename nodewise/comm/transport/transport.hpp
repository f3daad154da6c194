// The transports: with which means of MPI a stage's messages are carried.
#pragma once

#include <memory>
#include <string>

#include "nodewise/base/family.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::comm {

namespace transport {
class Channel;
struct Neighbours;
struct Setting;
}  // namespace transport

/// A transport. What arrives is the same over each, bit for bit.
struct TransportMethod : MethodInfo {
  using MakeChannel = std::unique_ptr<transport::Channel> (*)(transport::Setting setting,
                                                              transport::Neighbours neighbours);
  using Unavailable = std::string (*)(const mpi::Comm& comm);

  /// Whether making and destroying an exchange over it, and its first run in each direction,
  /// synchronise all ranks.
  Required<bool> is_collective;
  /// The transport of messages between nodes, where this one is for those on a node; else empty.
  Required<std::string> between_nodes;
  Required<bool> may_be_tried;  ///< by routing::choose_transport(): making it is quick enough
  /// Whether the host copies what it carries, so that this cannot be a card's memory.
  Required<bool> copies_data;
  /// Collective. Why it cannot be used here, and what to take instead; empty where it can. The same
  /// on every rank. Sends no message where the transport is not collective.
  Required<Unavailable> unavailable;
  Required<MakeChannel> channel;  ///< for messages that are its own, where it is available

  /// Transports, the plain one first: the others have to be better. "automatic" is for
  /// routing::choose_transport() to replace.
  static Family<TransportMethod>& family();
};

/// How the messages of a stage are carried.
using Transport = Choice<TransportMethod>;

/// Collective. Throws unsupported, the same on every rank, where this MPI or the placement of the
/// ranks lacks what the transport needs; invalid_argument for automatic.
void require_available(const mpi::Comm& comm, const Transport& transport);

namespace transport {
/// Local. For transports that every MPI has.
inline std::string always_available(const mpi::Comm& /*comm*/) {
  return {};
}
}  // namespace transport

}  // namespace nodewise::comm
