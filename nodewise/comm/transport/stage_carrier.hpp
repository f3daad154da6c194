// Runs one stage of a plan over a transport, in either direction.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "nodewise/comm/plan.hpp"
#include "nodewise/comm/transport/channel.hpp"

namespace nodewise::comm::transport {

/// forward: from the stage's send_ranks' point of view as it stands; reverse: every message back.
enum class Direction { forward, reverse };

/// The messages of a stage on the node and those between nodes go over channels of their own, so
/// that the first can be there before the others, and over different transports.
class StageCarrier {
 public:
  /// Local. `stage` must outlive the object.
  StageCarrier(Setting setting, const Stage& stage, const Transport& transport);

  /// Sends and receives are in the order of the stage's ranks: those of send_ranks are the sends
  /// going forward, the receives in reverse. Data and parts last until finish().
  void start(Direction direction, const Transfer& transfer);
  /// What comes from this node is there; the rest may still travel.
  void finish_on_node();
  void finish();
  bool crosses() const { return !between_.sends.empty() || !between_.receives.empty(); }

 private:
  /// A part of the stage's messages, by their numbers.
  struct Links {
    Transport transport;
    bool used = true;  // by any rank
    std::vector<std::size_t> sends, receives;
    std::array<std::unique_ptr<Channel>, 2> channels;  // by direction
    std::vector<Part> send_parts, receive_parts;       // of the run in progress
    Channel* running = nullptr;
  };

  void learn_use();
  Neighbours neighbours(const Links& links, Direction direction) const;
  void start_links(Links& links, Direction direction, const Transfer& transfer);
  static void finish_links(Links& links);

  Setting setting_;
  const Stage& stage_;
  Links on_node_, between_;
  bool knows_use_ = false;
  std::int64_t began_ = 0;  // of the run in progress, by the ledger's waits
};

}  // namespace nodewise::comm::transport
