#include "nodewise/comm/route/stage_tally.hpp"

namespace nodewise::comm::route {

void StageTally::add_on_node(const NodeExchanges& known) {
  const Stage& direct = known.direct.stages.front();
  visit_lists(direct.send_ranks, direct.send_offsets,
              [&](int to, LocalIndex begin, LocalIndex end) {
                if (known.nodes.same_node(known.rank, to)) send(to, end - begin);
              });
  visit_lists(direct.recv_ranks, direct.recv_offsets,
              [&](int from, LocalIndex begin, LocalIndex end) {
                if (known.nodes.same_node(known.rank, from)) receive(from, end - begin);
              });
}

std::vector<MessageSize> StageTally::listed(const std::map<int, std::int64_t>& entries_of) {
  std::vector<MessageSize> messages;
  for (const auto& [rank, entries] : entries_of) messages.push_back({rank, entries});
  return messages;
}

}  // namespace nodewise::comm::route
