// Counts the messages of one rank in one stage.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "nodewise/comm/route/message_estimate.hpp"

namespace nodewise::comm::route {

/// Messages of a stage: what has the same ends travels together.
class StageTally {
 public:
  void send(int to, std::int64_t entries) { sent_[to] += entries; }
  void receive(int from, std::int64_t entries) { received_[from] += entries; }
  /// Of the direct plan, what stays on the node.
  void add_on_node(const NodeExchanges& known);
  StageSizes finish() const { return {listed(sent_), listed(received_)}; }

 private:
  static std::vector<MessageSize> listed(const std::map<int, std::int64_t>& entries_of);
  std::map<int, std::int64_t> sent_, received_;
};

/// Calls visit(rank, begin, end) for each rank with entries.
template <class Visit>
void visit_lists(std::span<const int> ranks, std::span<const LocalIndex> offsets,
                 const Visit& visit) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (offsets[i + 1] > offsets[i]) visit(ranks[i], offsets[i], offsets[i + 1]);
  }
}

}  // namespace nodewise::comm::route
