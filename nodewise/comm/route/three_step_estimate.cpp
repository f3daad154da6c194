#include <algorithm>
#include <utility>

#include "nodewise/comm/route/node_leader.hpp"
#include "nodewise/comm/route/stage_tally.hpp"
#include "nodewise/comm/route/three_step.hpp"

namespace nodewise::comm::route {

namespace {

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

/// What one rank sends and receives.
class ThreeStepMessages {
 public:
  explicit ThreeStepMessages(const NodeExchanges& known)
      : known_(known),
        nodes_(known.nodes),
        rank_(known.rank),
        parts_(known.parts),
        leader_(nodes_, rank_, known.mapping) {
    WordsTo partners;
    for (const auto& [from, part] : parts_) {
      auto& words = partners[from] = {std::ssize(part.sent)};
      for (const auto& [node, share] : part.sent) {
        words.insert(words.end(), {node, share.entries, share.messages});
      }
      std::map<int, std::int64_t> needed;
      for (const auto& [owner, entries] : part.heard) {
        needed[nodes_.node(owner)] += entries;
        Incoming& incoming = incoming_[nodes_.node(owner)];
        incoming.most[owner] = std::max(incoming.most[owner], entries);
        incoming.messages += 1;
      }
      for (const auto& [node, entries] : needed) words.insert(words.end(), {node, entries});
    }
    leader_.hear_of_partners(to_messages(partners));
  }

  std::vector<StageSizes> stages() {
    gather_.add_on_node(known_);
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
    WordsTo answers;
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
    WordsTo ways;
    for (const auto& [rank, part] : parts_) ways[rank] = {};
    leader_.add_ways(to_messages(answers), ways);
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
    WordsTo told;
    for (const auto& [node, incoming] : incoming_) {
      const auto senders = nodes_.ranks_on(node);
      auto& words = told[senders.front()] = {incoming.total(), incoming.messages};
      words.insert(words.end(), senders.begin(), senders.end());
    }
    const WordsTo answers = leader_.answer_partners(to_messages(told));
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

  const NodeExchanges& known_;
  const mpi::Topology& nodes_;
  int rank_;
  const NodeExchanges::Parts& parts_;
  NodeLeader leader_;
  std::map<int, Incoming> incoming_;  // by node
  StageTally gather_, cross_, spread_;
};

}  // namespace

std::vector<StageSizes> three_step_messages(const NodeExchanges& known) {
  return ThreeStepMessages(known).stages();
}

}  // namespace nodewise::comm::route
