#include "nodewise/comm/transport/stage_carrier.hpp"

#include <string>
#include <utility>

#include "nodewise/mpi/ledger.hpp"

namespace nodewise::comm::transport {

StageCarrier::StageCarrier(Setting setting, const Stage& stage, const Transport& transport)
    : setting_(std::move(setting)), stage_(stage) {
  on_node_.transport = transport;
  const std::string& between = transport->between_nodes;
  between_.transport = between.empty() ? transport : Transport(between);
  const mpi::Comm& comm = *setting_.comm;
  // Sends begin after this rank and wrap round, in both directions.
  const auto distribute = [&](const std::vector<int>& ranks, std::vector<std::size_t> Links::*to) {
    const Rotation order(ranks, comm.rank());
    for (std::size_t k = 0; k < order.n; ++k) {
      const bool here = comm.topology().same_node(comm.rank(), ranks[order[k]]);
      ((here ? on_node_ : between_).*to).push_back(order[k]);
    }
  };
  distribute(stage.send_ranks, &Links::sends);
  distribute(stage.recv_ranks, &Links::receives);
}

/// Channels that are made collectively are made by all ranks or by none.
void StageCarrier::learn_use() {
  knows_use_ = true;
  if (!on_node_.transport->is_collective && !between_.transport->is_collective) return;
  std::int32_t used[2];
  std::int32_t* flag = used;
  for (const Links* links : {&on_node_, &between_}) {
    *flag++ = links->sends.empty() && links->receives.empty() ? 0 : 1;
  }
  mpi::sum_in_place(*setting_.comm, std::span<std::int32_t>(used));
  on_node_.used = used[0] > 0;
  between_.used = used[1] > 0;
}

Neighbours StageCarrier::neighbours(const Links& links, Direction direction) const {
  Neighbours all;
  for (const std::size_t i : links.sends) all.send_ranks.push_back(stage_.send_ranks[i]);
  for (const std::size_t i : links.receives) all.recv_ranks.push_back(stage_.recv_ranks[i]);
  if (direction == Direction::reverse) std::swap(all.send_ranks, all.recv_ranks);
  return all;
}

void StageCarrier::start_links(Links& links, Direction direction, const Transfer& transfer) {
  if (!links.used) return;
  std::unique_ptr<Channel>& channel = links.channels[direction == Direction::forward ? 0 : 1];
  if (!channel) channel = links.transport->channel(setting_, neighbours(links, direction));
  const bool forward = direction == Direction::forward;
  links.send_parts.clear();
  links.receive_parts.clear();
  for (const std::size_t i : forward ? links.sends : links.receives) {
    links.send_parts.push_back(transfer.sends[i]);
  }
  for (const std::size_t i : forward ? links.receives : links.sends) {
    links.receive_parts.push_back(transfer.receives[i]);
  }
  Transfer part = transfer;
  part.sends = links.send_parts;
  part.receives = links.receive_parts;
  links.running = channel.get();
  channel->start(part);
}

void StageCarrier::start(Direction direction, const Transfer& transfer) {
  if (!knows_use_) learn_use();
  began_ = setting_.comm->ledger().waits();
  // What has further to go first.
  start_links(between_, direction, transfer);
  start_links(on_node_, direction, transfer);
}

void StageCarrier::finish_links(Links& links) {
  if (Channel* channel = std::exchange(links.running, nullptr)) channel->finish();
}

void StageCarrier::finish_on_node() {
  finish_links(on_node_);
}

void StageCarrier::finish() {
  finish_on_node();
  finish_links(between_);
  if (crosses()) setting_.comm->ledger().count_waits_since(began_, 1);
}

}  // namespace nodewise::comm::transport
