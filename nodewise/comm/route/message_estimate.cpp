#include "nodewise/comm/route/message_estimate.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "nodewise/comm/route/node_leader.hpp"
#include "nodewise/comm/route/two_step.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::comm {

namespace {

/// What is compared with what: the domains of a node where there is no other node.
const mpi::Topology& nodes_of(const mpi::Topology& topology) {
  return topology.n_nodes() <= 1 ? topology.domains() : topology;
}

/// Messages of a stage: what has the same ends travels together.
class StageTally {
 public:
  void send(int to, std::int64_t entries) { sent_[to] += entries; }
  void receive(int from, std::int64_t entries) { received_[from] += entries; }
  StageSizes finish() const { return {listed(sent_), listed(received_)}; }

 private:
  static std::vector<MessageSize> listed(const std::map<int, std::int64_t>& entries_of) {
    std::vector<MessageSize> messages;
    for (const auto& [rank, entries] : entries_of) messages.push_back({rank, entries});
    return messages;
  }
  std::map<int, std::int64_t> sent_, received_;
};

template <class Visit>
void visit_lists(std::span<const int> ranks, std::span<const LocalIndex> offsets,
                 const Visit& visit) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (offsets[i + 1] > offsets[i]) visit(ranks[i], offsets[i], offsets[i + 1]);
  }
}

/// Of the direct plan, what stays on the node.
void add_on_node(const Stage& direct, const mpi::Topology& nodes, int rank, StageTally& stage) {
  visit_lists(direct.send_ranks, direct.send_offsets,
              [&](int to, LocalIndex begin, LocalIndex end) {
                if (nodes.same_node(rank, to)) stage.send(to, end - begin);
              });
  visit_lists(direct.recv_ranks, direct.recv_offsets,
              [&](int from, LocalIndex begin, LocalIndex end) {
                if (nodes.same_node(rank, from)) stage.receive(from, end - begin);
              });
}

std::int64_t rounded_up(std::int64_t number, std::int64_t parts) {
  return (number + parts - 1) / parts;
}

/// Piece k of so many entries: those numbered from k total / parts on, rounded up.
struct Piece {
  Piece(std::int64_t total, std::int64_t parts, std::size_t k)
      : begin(rounded_up(static_cast<std::int64_t>(k) * total, parts)),
        end(rounded_up(static_cast<std::int64_t>(k + 1) * total, parts)) {}
  /// How many are in a range.
  std::int64_t among(std::int64_t first, std::int64_t n) const {
    return std::max<std::int64_t>(0, std::min(end, first + n) - std::max(begin, first));
  }
  std::int64_t begin, end;
};

}  // namespace

std::vector<StageSizes> sizes_of(const Plan& plan) {
  std::vector<StageSizes> stages;
  for (const Stage& stage : plan.stages) {
    StageSizes& sizes = stages.emplace_back();
    visit_lists(stage.send_ranks, stage.send_offsets,
                [&](int to, LocalIndex begin, LocalIndex end) {
                  sizes.sent.push_back({to, end - begin});
                });
    visit_lists(stage.recv_ranks, stage.recv_offsets,
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
  visit_lists(stage.send_ranks, stage.send_offsets, [&](int to, LocalIndex begin, LocalIndex end) {
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
  visit_lists(stage.recv_ranks, stage.recv_offsets,
              [&](int from, LocalIndex begin, LocalIndex end) {
                if (nodes.same_node(rank, from)) return;
                words.insert(words.end(), {from, end - begin});
                words[1] += 1;
              });
  return words;
}

MessageEstimate::MessageEstimate(const Plan& direct, const mpi::Topology& topology, int rank,
                                 std::span<const std::int64_t> facts)
    : direct_(direct), nodes_(nodes_of(topology)), rank_(rank) {
  for (const int other : topology.ranks_on(topology.node(rank))) {
    Part part;
    const std::int64_t n_sent = facts[0], n_heard = facts[1];
    facts = facts.subspan(2);
    for (std::int64_t k = 0; k < n_sent; ++k, facts = facts.subspan(3)) {
      part.sent[static_cast<int>(facts[0])] = {facts[1], facts[2]};
    }
    for (std::int64_t k = 0; k < n_heard; ++k, facts = facts.subspan(2)) {
      part.heard[static_cast<int>(facts[0])] = facts[1];
    }
    if (nodes_.same_node(rank, other)) parts_[other] = std::move(part);
  }
}

namespace {

/// The three-step route of one rank.
class ThreeStep {
 public:
  ThreeStep(const mpi::Topology& nodes, int rank, const MessageEstimate::Parts& parts)
      : nodes_(nodes), rank_(rank), parts_(parts), leader_(nodes, rank, route::map_by_size) {
    route::WordsTo partners;
    for (const auto& [from, part] : parts) {
      auto& words = partners[from] = {std::ssize(part.sent)};
      for (const auto& [node, share] : part.sent) {
        words.insert(words.end(), {node, share.entries, share.messages});
      }
      for (const auto& [owner, entries] : part.heard) {
        Incoming& incoming = incoming_[nodes.node(owner)];
        incoming.most[owner] = std::max(incoming.most[owner], entries);
        incoming.messages += 1;
      }
    }
    leader_.hear_of_partners(route::to_messages(partners));
  }

  std::vector<StageSizes> stages(const Stage& direct) {
    add_on_node(direct, nodes_, rank_, gather_);
    send();
    receive();
    return {gather_.finish(), cross_.finish(), spread_.finish()};
  }

 private:
  /// What the node hears of another one.
  struct Incoming {
    std::map<int, std::int64_t> most;  // entries that one rank needs, by owner
    std::int64_t messages = 0;         // there would be, going straight

    /// Distinct entries that surely come.
    std::int64_t total() const {
      std::int64_t sum = 0;
      for (const auto& [owner, entries] : most) sum += entries;
      return sum;
    }
  };

  /// The rule by which leaders split the exchange of two nodes, with all ranks of the other node in
  /// the place of those that it would name.
  void send() {
    route::WordsTo answers;
    for (const auto& [there, words] : leader_.tell_partners()) {  // total, messages, senders
      const auto receivers = nodes_.ranks_on(nodes_.node(there));
      const auto n = std::min<std::int64_t>(
          {std::ssize(words) - 2, std::ssize(receivers), words[0], words[1]});
      answers[there].assign(receivers.begin(), receivers.begin() + n);
      for (std::size_t k = 0; std::cmp_less(k, n); ++k) {
        const Piece piece(words[0], n, k);
        if (words[2 + k] == rank_) cross_.send(receivers[k], piece.end - piece.begin);
      }
    }
    route::WordsTo ways;
    for (const auto& [rank, part] : parts_) ways[rank] = {};
    leader_.add_ways(route::to_messages(answers), ways);
    for (const auto& [rank, words] : ways) gather_from(rank, words);
  }

  /// `words` are what NodeLeader::add_ways() writes.
  void gather_from(int rank, std::span<const std::int64_t> words) {
    while (!words.empty()) {
      const std::int64_t entries = parts_.at(rank).sent.at(static_cast<int>(words[0])).entries;
      for (std::size_t k = 0; std::cmp_less(k, words[3]); ++k) {
        const auto sender = static_cast<int>(words[4 + 2 * k]);
        const std::int64_t n = Piece(words[2], words[3], k).among(words[1], entries);
        if (n == 0 || sender == rank) continue;
        if (rank == rank_) gather_.send(sender, n);
        if (sender == rank_) gather_.receive(rank, n);
      }
      words = words.subspan(static_cast<std::size_t>(4 + 2 * words[3]));
    }
  }

  void receive() {
    route::WordsTo told;
    for (const auto& [node, incoming] : incoming_) {
      const auto senders = nodes_.ranks_on(node);
      auto& words = told[senders.front()] = {incoming.total(), incoming.messages};
      words.insert(words.end(), senders.begin(), senders.end());
    }
    const route::WordsTo answers = leader_.answer_partners(route::to_messages(told));
    for (const auto& [node, incoming] : incoming_) {
      const auto senders = nodes_.ranks_on(node);
      const auto& receivers = answers.at(senders.front());
      for (std::size_t k = 0; k < receivers.size(); ++k) {
        const auto receiver = static_cast<int>(receivers[k]);
        const Piece piece(incoming.total(), std::ssize(receivers), k);
        if (receiver == rank_) cross_.receive(senders[k], piece.end - piece.begin);
        spread_from(receiver, piece, incoming);
      }
    }
  }

  /// The entries of one owner after the other, in the order of owners: of those that a rank needs
  /// of an owner, as large a part is in the piece as of all.
  void spread_from(int receiver, const Piece& piece, const Incoming& incoming) {
    std::int64_t begin = 0;
    for (const auto& [owner, of_owner] : incoming.most) {
      const std::int64_t here = piece.among(begin, of_owner);
      begin += of_owner;
      if (here == 0) continue;
      for (const auto& [rank, part] : parts_) {
        const auto needed = part.heard.find(owner);
        if (needed == part.heard.end() || rank == receiver) continue;
        const std::int64_t n = rounded_up(needed->second * here, of_owner);
        if (receiver == rank_) spread_.send(rank, n);
        if (rank == rank_) spread_.receive(receiver, n);
      }
    }
  }

  const mpi::Topology& nodes_;
  int rank_;
  const MessageEstimate::Parts& parts_;
  route::NodeLeader leader_;
  std::map<int, Incoming> incoming_;  // by node
  StageTally gather_, cross_, spread_;
};

}  // namespace

std::vector<StageSizes> MessageEstimate::sizes(Route route) const {
  require_route(route);
  if (route == Route::direct || nodes_.n_nodes() <= 1) return sizes_of(direct_);
  if (route == Route::two_step) return two_step();
  return ThreeStep(nodes_, rank_, parts_).stages(direct_.stages.front());
}

std::vector<StageSizes> MessageEstimate::two_step() const {
  StageTally cross, spread;
  add_on_node(direct_.stages.front(), nodes_, rank_, cross);
  for (const auto& [node, share] : parts_.at(rank_).sent) {
    const int there = nodes_.ranks_on(node).front();
    cross.send(nodes_.corresponding_rank(rank_, nodes_.node(there)), share.entries);
  }
  std::map<int, std::int64_t> arriving;  // here, by owner
  for (const auto& [rank, part] : parts_) {
    for (const auto& [owner, entries] : part.heard) {
      const int through = nodes_.corresponding_rank(owner, nodes_.node(rank_));
      if (through == rank_) arriving[owner] = std::max(arriving[owner], entries);
      if (through == rank_ && rank != rank_) spread.send(rank, entries);
      if (through != rank_ && rank == rank_) spread.receive(through, entries);
    }
  }
  for (const auto& [owner, entries] : arriving) cross.receive(owner, entries);
  return {cross.finish(), spread.finish()};
}

MessageEstimate forecast(const mpi::Comm& comm, const Plan& direct, std::optional<Error>& failure) {
  const mpi::Topology& topology = comm.topology();
  std::vector<std::int64_t> mine;
  const auto tell = [&] { mine = MessageEstimate::facts(direct, topology, comm.rank()); };
  if (!failure) failure = mpi::caught(tell);
  if (failure) mine.assign(2, 0);  // nothing to tell
  const std::vector<std::int64_t> all =
      mpi::concatenate_all(comm.node(), std::span<const std::int64_t>(mine));
  return {direct, topology, comm.rank(), all};
}

}  // namespace nodewise::comm
