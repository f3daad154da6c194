#include "nodewise/comm/route/node_leader.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::comm::route {

namespace {

/// A rank that has failed says as little as it may; who needed to know more fails in turn.
[[noreturn]] void miss(const char* what) {
  throw Error(ErrorCode::internal, std::string("route: missing ") + what);
}

}  // namespace

NodeLeader::NodeLeader(const mpi::Topology& topology, int rank, NodeMapping mapping)
    : topology_(topology), node_(topology.node(rank)), mapping_(std::move(mapping)) {}

void NodeLeader::hear_of_partners(const Words& arrived) {
  outgoing_.clear();
  incoming_.clear();
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const auto message = arrived.message(i);
    const auto end = static_cast<std::size_t>(1 + 3 * message[0]);
    for (std::size_t w = 1; w < end; w += 3) {
      Outgoing& outgoing = outgoing_[static_cast<int>(message[w])];
      outgoing.shares.push_back({arrived.ranks[i], outgoing.total, message[w + 1]});
      outgoing.total += message[w + 1];
      outgoing.direct_messages += message[w + 2];
    }
    for (std::size_t w = end; w < message.size(); w += 2) {
      incoming_[static_cast<int>(message[w])].push_back({arrived.ranks[i], 0, message[w + 1]});
    }
  }
}

std::vector<int> NodeLeader::leaders_told() const {
  std::vector<int> leaders;
  for (const auto& [node, outgoing] : outgoing_) leaders.push_back(leader(node));
  return leaders;
}

std::vector<int> NodeLeader::leaders_heard() const {
  std::vector<int> leaders;
  for (const auto& [node, shares] : incoming_) leaders.push_back(leader(node));
  return leaders;
}

WordsTo NodeLeader::tell_partners() {
  std::vector<PartnerNode> partners;
  for (const auto& [node, outgoing] : outgoing_) {
    for (const Share& share : outgoing.shares) {
      if (share.entries == 0) miss("the entries of a rank");
    }
    partners.push_back(partner(node, outgoing.total, outgoing.shares));
  }
  const auto senders = mapped_ranks(partners, Direction::send);
  WordsTo to;
  for (std::size_t k = 0; k < partners.size(); ++k) {
    Outgoing& outgoing = outgoing_.at(partners[k].node);
    outgoing.senders = senders[k];
    auto& words = to[leader(partners[k].node)];
    words = {outgoing.total, outgoing.direct_messages};
    words.insert(words.end(), senders[k].begin(), senders[k].end());
  }
  return to;
}

WordsTo NodeLeader::answer_partners(const Words& told) const {
  std::vector<PartnerNode> partners;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told.message(i).empty()) miss("the senders of a node");
    const int node = topology_.node(told.ranks[i]);
    const auto shares = incoming_.find(node);
    if (shares == incoming_.end()) miss("who needs what of a node");
    partners.push_back(partner(node, told.message(i)[0], shares->second));
  }
  const auto receivers = mapped_ranks(partners, Direction::receive);
  WordsTo to;
  for (const int rank : topology_.ranks_on(node_)) to[rank] = {};
  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto message = told.message(i);  // total, direct messages, senders
    const auto senders = message.subspan(2);
    const auto n_parts =
        std::min({std::ssize(senders), std::ssize(receivers[i]), message[0], message[1]});
    for (std::size_t part = 0; std::cmp_less(part, n_parts); ++part) {
      to[told.ranks[i]].push_back(receivers[i][part]);
      to[receivers[i][part]].push_back(senders[part]);
    }
  }
  return to;
}

WordsTo NodeLeader::tell_destinations(const Words& answers) const {
  WordsTo to;
  for (const int rank : topology_.ranks_on(node_)) to[rank] = {0};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto receivers = answers.message(i);
    const auto& senders = outgoing_.at(topology_.node(answers.ranks[i])).senders;
    for (std::size_t part = 0; part < receivers.size(); ++part) {
      auto& words = to[senders[part]];
      ++words[0];
      words.push_back(receivers[part]);
    }
  }
  return to;
}

void NodeLeader::add_ways(const Words& answers, WordsTo& to) const {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto receivers = answers.message(i);
    if (receivers.empty()) miss("the receivers of a node");
    const int node = topology_.node(answers.ranks[i]);
    const Outgoing& outgoing = outgoing_.at(node);
    for (const Share& share : outgoing.shares) {
      auto& words = to.at(share.rank);
      words.insert(words.end(), {node, share.begin, outgoing.total, std::ssize(receivers)});
      for (std::size_t part = 0; part < receivers.size(); ++part) {
        words.insert(words.end(), {outgoing.senders[part], receivers[part]});
      }
    }
  }
}

PartnerNode NodeLeader::partner(int node, std::int64_t entries,
                                std::span<const Share> shares) const {
  PartnerNode partner = {node, entries};
  for (const Share& share : shares) {
    partner.parts.push_back({static_cast<int>(topology_.place_on_node(share.rank)), share.entries});
  }
  return partner;
}

std::vector<std::vector<int>> NodeLeader::mapped_ranks(std::span<const PartnerNode> partners,
                                                       Direction direction) const {
  const auto here = topology_.ranks_on(node_);
  auto ranks = mapping_(node_, partners, static_cast<int>(here.size()), direction);
  for (auto& places : ranks) {
    for (int& place : places) place = here[static_cast<std::size_t>(place)];
  }
  return ranks;
}

}  // namespace nodewise::comm::route
