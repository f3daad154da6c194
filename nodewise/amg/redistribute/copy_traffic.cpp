#include "nodewise/amg/redistribute/copy_traffic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nodewise/amg/redistribute/copy_holders.hpp"
#include "nodewise/amg/redistribute/holder_traffic.hpp"

namespace nodewise::amg {

namespace {

constexpr auto within_node = model::Locality::same_node;
constexpr auto between_nodes = model::Locality::other_node;

}  // namespace

CopyTraffic::CopyTraffic(const mpi::Topology& topology, std::vector<int> holders)
    : topology_(&topology), holders_(std::move(holders)), copies_(ranks_with_copies(holders_)) {
  for (const int copy : copies_) {
    n_of_node_.push_back(static_cast<double>(std::count(holders_.begin(), holders_.end(), copy)));
  }
  sums_.assign(copies_.size() * n_fields, 0);
}

void CopyTraffic::add(const RankExchanges& rank) {
  const int holder = holders_[static_cast<std::size_t>(rank.rank)];
  double n = 0;
  for (const comm::MessageSize& message : rank.transfer) n += static_cast<double>(message.entries);
  if (holder < 0 || n == 0) return;
  const auto k = static_cast<std::size_t>(std::lower_bound(copies_.begin(), copies_.end(), holder) -
                                          copies_.begin());
  double* const sums = &sums_[k * n_fields];
  sums[messages] += 1;
  sums[rows] += n;
  if (holder != rank.rank) return;
  sums[own_messages] += 1;
  sums[own_rows] += n;
}

double CopyTraffic::restriction_s(const model::Machine& machine, double bytes,
                                  bool gathered) const {
  const double straight = straight_restriction_s(machine, bytes);
  return gathered ? std::min(straight, gathered_restriction_s(machine, bytes)) : straight;
}

double CopyTraffic::prolongation_s(const model::Machine& machine, double bytes) const {
  std::vector<model::RankLoad> loads(copies_.size());
  for (std::size_t k = 0; k < copies_.size(); ++k) {
    add_messages(loads[k].sent, machine, within_node, field(messages, k) - field(own_messages, k),
                 bytes * (field(rows, k) - field(own_rows, k)));
  }
  return holder_stage_s(*topology_, machine, copies_, loads);
}

double CopyTraffic::spreading_s(const model::Machine& machine, int owner, double bytes) const {
  std::vector<model::RankLoad> loads(copies_.size());
  const double others = n_copies() - 1;
  for (std::size_t k = 0; k < copies_.size(); ++k) {
    if (copies_[k] == owner) {
      add_messages(loads[k].sent, machine, between_nodes, others, others * bytes);
    } else {
      add_messages(loads[k].received, machine, between_nodes, 1, bytes);
    }
  }
  return holder_stage_s(*topology_, machine, copies_, loads);
}

double CopyTraffic::sum_of(Field f) const {
  double sum = 0;
  for (std::size_t k = 0; k < copies_.size(); ++k) sum += field(f, k);
  return sum;
}

double CopyTraffic::straight_restriction_s(const model::Machine& machine, double bytes) const {
  std::vector<model::RankLoad> loads(copies_.size()), of_nodes(copies_.size());
  const double others = n_copies() - 1;
  const double all_messages = sum_of(messages), all_rows = sum_of(rows);
  for (std::size_t k = 0; k < copies_.size(); ++k) {
    const double n = field(messages, k), sent = bytes * field(rows, k);
    model::RankLoad& load = loads[k];
    if (n > 0) add_messages(load.sent, machine, between_nodes, others, others * sent / n);
    add_messages(load.received, machine, within_node, n - field(own_messages, k),
                 bytes * (field(rows, k) - field(own_rows, k)));
    add_messages(load.received, machine, between_nodes, all_messages - n, bytes * all_rows - sent);
    add_messages(of_nodes[k].sent, machine, between_nodes, others * n, others * sent);
    of_nodes[k].received = load.received;
  }
  return holder_stage_s(*topology_, machine, copies_, loads, of_nodes);
}

/// The ranks of a node share in gathering what goes to each other one, in sending it, and in
/// receiving what comes for the copy here, which they hand on.
double CopyTraffic::gathered_restriction_s(const model::Machine& machine, double bytes) const {
  const std::size_t n_all = copies_.size();
  std::vector<model::RankLoad> gathering(n_all), across(n_all), of_nodes(n_all), handing(n_all);
  const double others = n_copies() - 1;
  const double all_rows = sum_of(rows);
  for (std::size_t k = 0; k < n_all; ++k) {
    const double ranks = n_of_node_[k], share = std::ceil(others / ranks);
    const double sent = bytes * field(rows, k), received = bytes * all_rows - sent;
    add_messages(gathering[k].received, machine, within_node, std::max(0.0, field(messages, k) - 1),
                 share * sent);
    if (sent > 0) add_messages(across[k].sent, machine, between_nodes, share, share * sent);
    add_messages(across[k].received, machine, between_nodes, share, received * share / others);
    if (sent > 0) add_messages(of_nodes[k].sent, machine, between_nodes, others, others * sent);
    add_messages(of_nodes[k].received, machine, between_nodes, others, received);
    add_messages(handing[k].received, machine, within_node,
                 field(messages, k) - field(own_messages, k) + std::min(others, ranks - 1),
                 bytes * (field(rows, k) - field(own_rows, k)) + received);
  }
  return holder_stage_s(*topology_, machine, copies_, gathering) +
         holder_stage_s(*topology_, machine, copies_, across, of_nodes) +
         holder_stage_s(*topology_, machine, copies_, handing);
}

}  // namespace nodewise::amg
