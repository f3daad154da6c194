// Messages of plans, as the event simulation takes them.
#pragma once

#include <cstdint>
#include <utility>

#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/model/event_simulation.hpp"

namespace nodewise::model {

/// Writes messages down, in stages after those that are there.
class MessageRecorder {
 public:
  explicit MessageRecorder(int n_ranks) : n_ranks_(static_cast<std::size_t>(n_ranks)) {}

  /// Of messages with so many bytes an entry, and `envelope_bytes` more; they come after all
  /// before.
  comm::MessageVisitor visitor(std::int64_t bytes, std::int64_t envelope_bytes = 0) {
    return [this, bytes, envelope_bytes, first = stages_.size()](std::size_t stage, int from,
                                                                 int to, std::int64_t entries) {
      while (stages_.size() <= first + stage) stages_.emplace_back(n_ranks_);
      stages_[first + stage][static_cast<std::size_t>(from)].push_back(
          {to, bytes * entries + envelope_bytes});
    };
  }
  MessageStages take() { return std::exchange(stages_, {}); }

 private:
  std::size_t n_ranks_;
  MessageStages stages_;
};

}  // namespace nodewise::model
