#include "nodewise/comm/route/message_estimate.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "nodewise/comm/route/stage_tally.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

namespace {

/// What is compared with what: the domains of a node where there is no other node.
const mpi::Topology& nodes_of(const mpi::Topology& topology) {
  return topology.n_nodes() <= 1 ? topology.domains() : topology;
}

/// Of the first list of facts.
std::size_t words_of_facts(std::span<const std::int64_t> facts) {
  return static_cast<std::size_t>(2 + 3 * facts[0] + 2 * facts[1]);
}

}  // namespace

std::vector<StageSizes> sizes_of(const Plan& plan) {
  std::vector<StageSizes> stages;
  for (const Stage& stage : plan.stages) {
    StageSizes& sizes = stages.emplace_back();
    route::visit_lists(stage.send_ranks, stage.send_offsets,
                       [&](int to, LocalIndex begin, LocalIndex end) {
                         sizes.sent.push_back({to, end - begin});
                       });
    route::visit_lists(stage.recv_ranks, stage.recv_offsets,
                       [&](int from, LocalIndex begin, LocalIndex end) {
                         sizes.received.push_back({from, end - begin});
                       });
  }
  return stages;
}

Traffic traffic(std::span<const StageSizes> stages, const mpi::Topology& topology, int rank) {
  Traffic total;
  for (const StageSizes& stage : stages) {
    for (const MessageSize& m : stage.sent) total.add(topology, rank, m.rank, m.entries);
  }
  return total;
}

std::vector<std::int64_t> MessageEstimate::facts(const Plan& direct, const mpi::Topology& topology,
                                                 int rank) {
  const mpi::Topology& nodes = nodes_of(topology);
  const Stage& stage = direct.stages.front();
  std::map<int, std::pair<std::vector<LocalIndex>, std::int64_t>> needed;  // with messages, by node
  route::visit_lists(stage.send_ranks, stage.send_offsets,
                     [&](int to, LocalIndex begin, LocalIndex end) {
                       if (nodes.same_node(rank, to)) return;
                       auto& [entries, messages] = needed[nodes.node(to)];
                       entries.insert(entries.end(), stage.send_entries.begin() + begin,
                                      stage.send_entries.begin() + end);
                       messages += 1;
                     });
  std::vector<std::int64_t> words = {std::ssize(needed), 0};
  for (auto& [node, what] : needed) {
    auto& [entries, messages] = what;
    std::sort(entries.begin(), entries.end());
    const auto n_distinct = std::unique(entries.begin(), entries.end()) - entries.begin();
    words.insert(words.end(), {node, n_distinct, messages});
  }
  route::visit_lists(stage.recv_ranks, stage.recv_offsets,
                     [&](int from, LocalIndex begin, LocalIndex end) {
                       if (nodes.same_node(rank, from)) return;
                       words.insert(words.end(), {from, end - begin});
                       words[1] += 1;
                     });
  return words;
}

MessageEstimate::MessageEstimate(const Plan& direct, const mpi::Topology& topology, int rank,
                                 std::span<const std::int64_t> facts,
                                 const route::NodeMapping& mapping)
    : known_{direct, nodes_of(topology), rank, {}, mapping} {
  for (const int other : topology.ranks_on(topology.node(rank))) {
    NodeExchanges::Part part;
    const std::int64_t n_sent = facts[0], n_heard = facts[1];
    facts = facts.subspan(2);
    for (std::int64_t k = 0; k < n_sent; ++k, facts = facts.subspan(3)) {
      part.sent[static_cast<int>(facts[0])] = {facts[1], facts[2]};
    }
    for (std::int64_t k = 0; k < n_heard; ++k, facts = facts.subspan(2)) {
      part.heard[static_cast<int>(facts[0])] = facts[1];
    }
    if (known_.nodes.same_node(rank, other)) known_.parts[other] = std::move(part);
  }
}

std::vector<StageSizes> MessageEstimate::sizes(const Route& route) const {
  require_route(route);
  if (known_.nodes.n_nodes() <= 1) return sizes_of(known_.direct);
  return route->estimate(known_);
}

MessageEstimate forecast(const mpi::Comm& comm, const Plan& direct, std::optional<Error>& failure) {
  return std::move(forecasts(comm, std::span(&direct, 1), failure).front());
}

std::vector<MessageEstimate> forecasts(const mpi::Comm& comm, std::span<const Plan> direct,
                                       std::optional<Error>& failure) {
  const mpi::Topology& topology = comm.topology();
  std::vector<std::int64_t> mine;
  const auto tell = [&] {
    for (const Plan& plan : direct) {
      const auto words = MessageEstimate::facts(plan, topology, comm.rank());
      mine.insert(mine.end(), words.begin(), words.end());
    }
  };
  if (!failure) failure = mpi::caught(tell);
  if (failure) mine.assign(2 * direct.size(), 0);  // nothing to tell
  const std::vector<std::int64_t> all =
      mpi::concatenate_all(comm.node(), std::span<const std::int64_t>(mine));
  std::vector<std::vector<std::int64_t>> told(direct.size());  // of each exchange by all ranks
  std::span<const std::int64_t> rest = all;
  for (int rank = 0; rank < comm.node().size(); ++rank) {
    for (std::vector<std::int64_t>& words : told) {
      const std::size_t n = words_of_facts(rest);
      words.insert(words.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
      rest = rest.subspan(n);
    }
  }
  const auto& mapping_choice = comm.settings().node_mapping;
  const route::NodeMapping mapping = mapping_choice->make(mapping_choice);
  std::vector<MessageEstimate> estimates;
  for (std::size_t k = 0; k < direct.size(); ++k) {
    estimates.emplace_back(direct[k], topology, comm.rank(), told[k], mapping);
  }
  return estimates;
}

}  // namespace nodewise::comm
