#include "nodewise/amg/redistribute/holder_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "nodewise/amg/redistribute/rank_groups.hpp"
#include "nodewise/routing/route_costs.hpp"

namespace nodewise::amg {

void add_messages(model::RankLoad::Direction& direction, const model::Machine& machine,
                  model::Locality where, double messages, double bytes) {
  for (double k = 0; k < messages; ++k) direction.add(machine, where, bytes / messages);
}

double holder_stage_s(const mpi::Topology& topology, const model::Machine& machine,
                      std::span<const int> holders, std::span<const model::RankLoad> loads,
                      std::span<const model::RankLoad> of_nodes) {
  std::map<int, routing::NodeStage> nodes;
  model::NetworkLoad network;
  network.n_nodes = topology.n_nodes();
  for (std::size_t h = 0; h < loads.size(); ++h) {
    const model::RankLoad& load = of_nodes.empty() ? loads[h] : of_nodes[h];
    routing::NodeStage& node = nodes[topology.node(holders[h])];
    node.sent.messages += load.sent.off_node_messages;
    node.sent.injection_s += load.sent.injection_s;
    node.received.messages += load.received.off_node_messages;
    node.received.injection_s += load.received.injection_s;
    const double messages = std::max(load.sent.off_node_messages, load.received.off_node_messages);
    network.messages += messages;
    network.senders += messages > 0 ? 1 : 0;
  }
  double most = 0;
  for (std::size_t h = 0; h < loads.size(); ++h) {
    most = std::max(most, routing::stage_seconds(machine, routing::message_costs(machine), loads[h],
                                                 nodes[topology.node(holders[h])], network));
  }
  return most;
}

HolderTraffic::HolderTraffic(const mpi::Topology& topology, std::span<const GlobalIndex> rows,
                             int groups)
    : topology_(&topology), holder_of_(holders_of_rows(topology, rows, groups)) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const int holder = holder_of_[r];
    if (rows[r] > 0 && number_.emplace(holder, holders_.size()).second) holders_.push_back(holder);
  }
  const std::size_t n = holders_.size();
  sums_.assign(n * (n + n_fields), 0);
}

void HolderTraffic::add(const RankExchanges& rank) {
  const std::size_t own = number_of(rank.rank);
  if (own != none) {
    for (const comm::MessageSize& message : rank.product) {
      const std::size_t other = number_of(message.rank);
      if (other != own && other != none) {
        entries(own, other) += static_cast<double>(message.entries);
      }
    }
    field(nonzeros, own) += rank.nonzeros;
  }
  std::map<std::size_t, double> rows;  // by holder
  for (const comm::MessageSize& message : rank.transfer) {
    const std::size_t holder = number_of(message.rank);
    if (holder != none) rows[holder] += static_cast<double>(message.entries);
  }
  for (const auto& [holder, n] : rows) {
    if (holders_[holder] == rank.rank || n == 0) continue;
    const bool on_node = topology_->same_node(holders_[holder], rank.rank);
    field(on_node ? messages_on : messages_off, holder) += 1;
    field(on_node ? rows_on : rows_off, holder) += n;
    if (!on_node) of_node(topology_->node(rank.rank))[holder] += 1;
  }
}

std::span<double> HolderTraffic::of_node(int node) {
  std::vector<double>& counts = nodes_[node];
  counts.resize(holders_.size(), 0);
  return counts;
}

void HolderTraffic::add_node(int node) {
  const std::span<const double> counts = of_node(node);
  for (std::size_t h = 0; h < counts.size(); ++h) field(nodes_off, h) += counts[h] > 0 ? 1 : 0;
}

int HolderTraffic::n_nodes() const {
  std::set<int> nodes;
  for (const int holder : holders_) nodes.insert(topology_->node(holder));
  return static_cast<int>(nodes.size());
}

double HolderTraffic::most_nonzeros() const {
  double most = 0;
  for (std::size_t h = 0; h < holders_.size(); ++h) most = std::max(most, field(nonzeros, h));
  return most;
}

double HolderTraffic::product_s(const model::Machine& machine, double bytes, bool gathered) const {
  const double straight = straight_product_s(machine, bytes);
  const bool shares_nodes = n_nodes() < n_holders() && n_nodes() > 1;
  return gathered && shares_nodes ? std::min(straight, gathered_product_s(machine, bytes))
                                  : straight;
}

double HolderTraffic::transfer_s(const model::Machine& machine, double bytes, bool gathered) const {
  const double straight = straight_transfer_s(machine, bytes);
  return gathered ? std::min(straight, gathered_transfer_s(machine, bytes)) : straight;
}

std::size_t HolderTraffic::number_of(int rank) const {
  const auto found = number_.find(holder_of_[static_cast<std::size_t>(rank)]);
  return found == number_.end() ? none : found->second;
}

double HolderTraffic::ranks_of_node(std::size_t h) const {
  return static_cast<double>(topology_->ranks_on(topology_->node(holders_[h])).size());
}

double HolderTraffic::straight_product_s(const model::Machine& machine, double bytes) const {
  std::vector<model::RankLoad> loads(holders_.size());
  for (std::size_t g = 0; g < holders_.size(); ++g) {
    for (std::size_t h = 0; h < holders_.size(); ++h) {
      if (entries(g, h) == 0) continue;
      const model::Locality where = model::locality(*topology_, machine, holders_[g], holders_[h]);
      loads[g].sent.add(machine, where, bytes * entries(g, h));
      loads[h].received.add(machine, where, bytes * entries(g, h));
    }
  }
  return stage_s(machine, loads);
}

/// Each pair of nodes has one message, which the holders of both share in turn; before and after it
/// each holder has one with every other of its node.
double HolderTraffic::gathered_product_s(const model::Machine& machine, double bytes) const {
  std::map<int, std::vector<std::size_t>> of_node;
  std::map<std::pair<int, int>, double> pairs;
  for (std::size_t g = 0; g < holders_.size(); ++g) {
    const int node = topology_->node(holders_[g]);
    of_node[node].push_back(g);
    for (std::size_t h = 0; h < holders_.size(); ++h) {
      const int other = topology_->node(holders_[h]);
      if (other != node && entries(g, h) > 0) pairs[{node, other}] += entries(g, h);
    }
  }
  std::vector<model::RankLoad> across(holders_.size()), inside(holders_.size());
  std::map<int, std::size_t> sent, received;  // by node, to share out the messages
  for (const auto& [nodes, n] : pairs) {
    const auto& from = of_node[nodes.first];
    const auto& to = of_node[nodes.second];
    across[from[sent[nodes.first]++ % from.size()]].sent.add(machine, model::Locality::other_node,
                                                             bytes * n);
    across[to[received[nodes.second]++ % to.size()]].received.add(
        machine, model::Locality::other_node, bytes * n);
    for (const std::size_t g : from) {
      const auto n_ranks = static_cast<double>(from.size());
      add_messages(inside[g].sent, machine, model::Locality::same_node, n_ranks - 1,
                   bytes * n / n_ranks);
    }
  }
  return stage_s(machine, across) + 2 * stage_s(machine, inside);
}

double HolderTraffic::straight_transfer_s(const model::Machine& machine, double bytes) const {
  std::vector<model::RankLoad> loads(holders_.size());
  for (std::size_t h = 0; h < holders_.size(); ++h) {
    add_messages(loads[h].received, machine, model::Locality::same_node, field(messages_on, h),
                 bytes * field(rows_on, h));
    add_messages(loads[h].received, machine, model::Locality::other_node, field(messages_off, h),
                 bytes * field(rows_off, h));
  }
  return stage_s(machine, loads);
}

/// On each node one rank gathers what goes to a holder elsewhere; the ranks of the holder's node
/// share in receiving it and hand it on.
double HolderTraffic::gathered_transfer_s(const model::Machine& machine, double bytes) const {
  const std::size_t n_all = holders_.size();
  std::vector<model::RankLoad> gathering(n_all), across(n_all), of_node(n_all), spreading(n_all);
  for (std::size_t h = 0; h < holders_.size(); ++h) {
    const double n = field(nodes_off, h), ranks = ranks_of_node(h);
    const double sent = bytes * field(rows_off, h);
    if (n > 0) {
      const double per_node = std::max(0.0, field(messages_off, h) / n - 1);
      add_messages(gathering[h].received, machine, model::Locality::same_node, per_node, sent / n);
    }
    const double share = std::ceil(n / ranks);
    add_messages(across[h].received, machine, model::Locality::other_node, share,
                 n > 0 ? sent * share / n : 0);
    add_messages(of_node[h].received, machine, model::Locality::other_node, n, sent);
    add_messages(spreading[h].received, machine, model::Locality::same_node,
                 field(messages_on, h) + std::min(n, ranks - 1), bytes * field(rows_on, h) + sent);
  }
  return stage_s(machine, gathering) + stage_s(machine, across, of_node) +
         stage_s(machine, spreading);
}

}  // namespace nodewise::amg
