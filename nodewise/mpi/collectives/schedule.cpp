#include "nodewise/mpi/collectives/schedule.hpp"

#include <algorithm>

#include "nodewise/base/error.hpp"

namespace nodewise::mpi::collectives {

namespace {

/// `size` things shared out over `n` parts, the first ones larger by one where it does not divide.
struct Cut {
  int size, n;
  int begin(int part) const { return part * (size / n) + std::min(part, size % n); }
  int length(int part) const { return begin(part + 1) - begin(part); }
  int part_of(int item) const {
    int part = item / (size / n + 1);
    while (begin(part + 1) <= item) ++part;
    return part;
  }
};

/// The least k with k^n >= size.
int root(int size, int n) {
  for (int k = 1;; ++k) {
    std::int64_t power = 1;
    for (int i = 0; i < n && power < size; ++i) power *= k;
    if (power >= size) return k;
  }
}

/// The messages that a rank has one after the other if each of `ranks` takes its share.
std::int64_t messages_in_turn(int n_nodes, int n_levels, int ranks) {
  std::int64_t total = 0;
  int size = n_nodes;
  for (int level = n_levels; level > 0 && size > 1; --level) {
    const int n = root(size, level);
    total += (n - 1 + ranks - 1) / ranks;
    size = Cut{size, n}.length(0);
  }
  return total;
}

int choose_levels(const Topology& topology) {
  const int n_nodes = topology.n_nodes();
  std::size_t fewest = topology.ranks_on(0).size();
  for (int n = 1; n < n_nodes; ++n) fewest = std::min(fewest, topology.ranks_on(n).size());
  const int ranks = static_cast<int>(fewest);
  int best = 1;
  for (int levels = 2; root(n_nodes, levels - 1) > 2; ++levels) {
    if (messages_in_turn(n_nodes, levels, ranks) < messages_in_turn(n_nodes, best, ranks)) {
      best = levels;
    }
  }
  return best;
}

/// The position of a node when the nodes [first, first + cut.size) meet: in group `part`, as its
/// number `index`. `turn`: which of the node's ranks takes the first message.
struct Meeting {
  int first;
  Cut cut;
  int part, index;
  int turn = 0;
};

/// The meetings of a node, the smallest first.
std::vector<Meeting> meetings_of(const Topology& topology, int node, int n_levels) {
  std::vector<Meeting> meetings;
  int first = 0;
  int size = topology.n_nodes();
  for (int level = n_levels; size > 1; --level) {
    const Cut cut{size, root(size, level)};
    const int part = cut.part_of(node - first);
    meetings.push_back({first, cut, part, node - first - cut.begin(part)});
    first += cut.begin(part);
    size = cut.length(part);
  }
  std::reverse(meetings.begin(), meetings.end());
  int turn = 0;  // the ranks that had little to do are the next to be asked
  for (Meeting& meeting : meetings) {
    meeting.turn = turn;
    turn = (turn + meeting.cut.n - 1) % static_cast<int>(topology.ranks_on(node).size());
  }
  return meetings;
}

/// A message of a node: to or from which, with what part, by which of its ranks.
struct NodeMessage {
  int node;
  int part;
  int place;
};

/// The messages of one node in one of its meetings.
class NodeMessages {
 public:
  NodeMessages(const Topology& topology, int node, const Meeting& meeting)
      : meeting_(meeting), n_ranks_(static_cast<int>(topology.ranks_on(node).size())) {}

  /// The receives of a node: the part of each other group, from the node there at the same
  /// position. Groups differ by one node at most; the last of a larger one asks any of the others.
  std::vector<NodeMessage> receives() const {
    std::vector<NodeMessage> result;
    for (int part = 0; part < meeting_.cut.n; ++part) {
      if (part == meeting_.part) continue;
      const int length = meeting_.cut.length(part);
      const int index = meeting_.index < length ? meeting_.index : meeting_.part % length;
      result.push_back({node(part, index), part, place_for(part)});
    }
    return result;
  }

  /// The sends of a node: to the node at its position in each other group by the rank that hears
  /// from there, to the last of larger groups by ranks that have less to do.
  std::vector<NodeMessage> sends() const {
    std::vector<NodeMessage> result;
    std::vector<int> load(static_cast<std::size_t>(n_ranks_), 0);
    for (int part = 0; part < meeting_.cut.n; ++part) {
      if (part == meeting_.part || meeting_.index >= meeting_.cut.length(part)) continue;
      result.push_back({node(part, meeting_.index), meeting_.part, place_for(part)});
      ++load[static_cast<std::size_t>(place_for(part))];
    }
    const int mine = meeting_.cut.length(meeting_.part);
    for (int part = 0; part < meeting_.part; ++part) {  // the larger ones stand first
      if (meeting_.cut.length(part) == mine || part % mine != meeting_.index) continue;
      const auto idle = std::min_element(load.begin(), load.end());
      ++*idle;
      result.push_back({node(part, mine), meeting_.part, static_cast<int>(idle - load.begin())});
    }
    return result;
  }

 private:
  int node(int part, int index) const { return meeting_.first + meeting_.cut.begin(part) + index; }
  /// Spread over the node, not all at its beginning.
  int place_for(int part) const {
    const std::int64_t number = part < meeting_.part ? part : part - 1;
    const auto step = static_cast<int>(number * n_ranks_ / (meeting_.cut.n - 1));
    return (meeting_.turn + step) % n_ranks_;
  }

  Meeting meeting_;
  int n_ranks_;
};

/// Makes the schedule of one rank.
class Builder {
 public:
  Builder(const Topology& topology, int rank)
      : topology_(topology),
        rank_(rank),
        node_(topology.node(rank)),
        here_(topology.ranks_on(node_)),
        place_(static_cast<int>(topology.place_on_node(rank))),
        n_levels_(choose_levels(topology)),
        starts_(static_cast<std::size_t>(topology.n_nodes()) + 1, 0) {
    for (int n = 0; n < topology.n_nodes(); ++n) {
      const auto at = static_cast<std::size_t>(n);
      starts_[at + 1] = starts_[at] + static_cast<int>(topology.ranks_on(n).size());
    }
  }

  Schedule make() {
    Schedule schedule;
    schedule.stages.push_back(node_stage());
    const std::vector<Meeting> meetings = meetings_of(topology_, node_, n_levels_);
    for (const Meeting& meeting : meetings) schedule.stages.push_back(meeting_stage(meeting));
    return schedule;
  }

 private:
  Stage node_stage() const {
    Stage stage{place_, {}, {}};
    std::vector<std::vector<int>> slots_at;
    for (int place = 0; place < n_here(); ++place) {
      const int position = starts_[static_cast<std::size_t>(node_)] + place;
      stage.slots.push_back({position, position + 1});
      slots_at.push_back({place});
    }
    tell_node(slots_at, stage);
    return stage;
  }

  Stage meeting_stage(const Meeting& meeting) const {
    Stage stage{meeting.part, {}, {}};
    for (int part = 0; part < meeting.cut.n; ++part) {
      const int begin = meeting.first + meeting.cut.begin(part);
      const int end = meeting.first + meeting.cut.begin(part + 1);
      stage.slots.push_back(
          {starts_[static_cast<std::size_t>(begin)], starts_[static_cast<std::size_t>(end)]});
    }
    const NodeMessages messages(topology_, node_, meeting);
    std::vector<std::vector<int>> slots_at(here_.size());
    Round round;
    for (const NodeMessage& message : messages.receives()) {
      slots_at[static_cast<std::size_t>(message.place)].push_back(message.part);
      if (message.place == place_) {
        round.recvs.push_back({sender_to_here(message.node), {message.part}});
      }
    }
    for (const NodeMessage& message : messages.sends()) {
      if (message.place != place_) continue;
      round.sends.push_back({receiver_from_here(message.node), {message.part}});
    }
    // Begin after oneself, or all would send to the same node first.
    std::stable_partition(round.sends.begin(), round.sends.end(),
                          [&](const Message& message) { return message.rank > rank_; });
    if (!round.sends.empty() || !round.recvs.empty()) stage.rounds.push_back(std::move(round));
    tell_node(slots_at, stage);
    return stage;
  }

  /// The meeting of another node in which it meets this one: the one with the same nodes.
  NodeMessages messages_of(int other) const {
    for (const Meeting& meeting : meetings_of(topology_, other, n_levels_)) {
      const int last = meeting.first + meeting.cut.size;
      if (meeting.first <= node_ && node_ < last) return {topology_, other, meeting};
    }
    throw Error(ErrorCode::internal, "schedule: two nodes do not meet");
  }

  int rank_there(int other, const std::vector<NodeMessage>& messages) const {
    for (const NodeMessage& message : messages) {
      if (message.node == node_) {
        return topology_.ranks_on(other)[static_cast<std::size_t>(message.place)];
      }
    }
    throw Error(ErrorCode::internal, "schedule: a message that is not expected");
  }
  int sender_to_here(int other) const { return rank_there(other, messages_of(other).sends()); }
  int receiver_from_here(int other) const {
    return rank_there(other, messages_of(other).receives());
  }

  /// Rounds after which every rank of the node has the slots of all. Source: Bruck et al.,
  /// "Efficient algorithms for all-to-all communications in multiport message-passing systems",
  /// 1997, section 4 (the concatenation). slots_at[p]: those that the rank at place p has.
  void tell_node(const std::vector<std::vector<int>>& slots_at, Stage& stage) const {
    const int n = n_here();
    const auto collect = [&](int begin, int count) {
      std::vector<int> slots;
      for (int k = 0; k < count; ++k) {
        const auto& more = slots_at[static_cast<std::size_t>((begin + k) % n)];
        slots.insert(slots.end(), more.begin(), more.end());
      }
      return slots;
    };
    for (int distance = 1; distance < n; distance *= 2) {
      const int count = std::min(distance, n - distance);
      Round round;
      std::vector<int> give = collect(place_, count);
      std::vector<int> get = collect(place_ + distance, count);
      if (!give.empty()) round.sends.push_back({at_place(place_ + n - distance), std::move(give)});
      if (!get.empty()) round.recvs.push_back({at_place(place_ + distance), std::move(get)});
      if (!round.sends.empty() || !round.recvs.empty()) stage.rounds.push_back(std::move(round));
    }
  }

  int n_here() const { return static_cast<int>(here_.size()); }
  int at_place(int place) const { return here_[static_cast<std::size_t>(place % n_here())]; }

  const Topology& topology_;
  int rank_;
  int node_;
  std::span<const int> here_;
  int place_;
  int n_levels_;
  std::vector<int> starts_;  // of each node among all ranks counted by node
};

}  // namespace

Schedule make_schedule(const Topology& topology, int rank) {
  return Builder(topology, rank).make();
}

std::vector<int> ranks_by_node(const Topology& topology) {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(topology.n_ranks()));
  for (int n = 0; n < topology.n_nodes(); ++n) {
    const std::span<const int> here = topology.ranks_on(n);
    ranks.insert(ranks.end(), here.begin(), here.end());
  }
  return ranks;
}

bool crosses(const Round& round, const Topology& topology, int rank) {
  const auto is_elsewhere = [&](const Message& m) { return !topology.same_node(rank, m.rank); };
  return std::any_of(round.sends.begin(), round.sends.end(), is_elsewhere) ||
         std::any_of(round.recvs.begin(), round.recvs.end(), is_elsewhere);
}

MessageCounts count_messages(const Schedule& schedule, const Topology& topology, int rank) {
  MessageCounts counts;
  for (const Stage& stage : schedule.stages) {
    const std::int64_t before = counts.off_node;
    for (const Round& round : stage.rounds) {
      for (const Message& message : round.sends) {
        ++(topology.same_node(rank, message.rank) ? counts.on_node : counts.off_node);
      }
    }
    if (counts.off_node > before) ++counts.stages_off_node;
  }
  return counts;
}

}  // namespace nodewise::mpi::collectives
