#include "nodewise/model/event_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "nodewise/base/error.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/model/event_queue.hpp"
#include "nodewise/model/timetable.hpp"

namespace nodewise::model {

namespace {

[[noreturn]] void refuse_simulation(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "event simulation: " + what);
}

void check_time(double value, const char* name) {
  if (!(value >= 0) || std::isinf(value)) {  // NaN, too
    refuse_simulation(std::string(name) + " is " + std::to_string(value) + ", not a time");
  }
}

void check_table(const std::vector<MessageCost>& table, const char* name) {
  if (table.empty() || table.front().from_bytes != 0) {
    refuse_simulation(std::string("messages ") + name + " have no cost from 0 bytes on");
  }
  for (std::size_t k = 0; k < table.size(); ++k) {
    if (k > 0 && table[k].from_bytes <= table[k - 1].from_bytes) {
      refuse_simulation(std::string("the costs of messages ") + name + " do not ascend in length");
    }
    check_time(table[k].send_overhead, "overhead of sending");
    check_time(table[k].receive_overhead, "overhead of receiving");
    check_time(table[k].latency, "latency");
    check_time(table[k].seconds_per_byte, "time of a byte");
  }
}

void check_costs(const EventCosts& costs) {
  if (!costs.on_domain.empty()) check_table(costs.on_domain, "in a domain");
  check_table(costs.on_node, "on a node");
  check_table(costs.off_node, "between nodes");
  check_time(costs.gap, "gap");
  check_time(costs.nic_seconds_per_byte, "card's time of a byte");
  check_time(costs.memory_seconds_per_byte, "memory's time of a byte");
  check_time(costs.links.seconds_per_byte, "link's time of a byte");
  check_time(costs.links.hop_latency, "latency of a hop");
  if (costs.links.n_links > 0 && !costs.links.find_path)
    refuse_simulation("no paths over the links");
}

void check_messages(const MessageStages& stages, int n_ranks) {
  for (const auto& of_ranks : stages) {
    if (!std::cmp_equal(of_ranks.size(), n_ranks)) {
      refuse_simulation("a stage has messages of " + std::to_string(of_ranks.size()) +
                        " ranks, not of " + std::to_string(n_ranks));
    }
    for (std::size_t r = 0; r < of_ranks.size(); ++r) {
      for (const SentMessage& m : of_ranks[r]) {
        if (m.to < 0 || m.to >= n_ranks || std::cmp_equal(m.to, r) || m.bytes < 0) {
          refuse_simulation("rank " + std::to_string(r) + " sends " + std::to_string(m.bytes) +
                            " bytes to rank " + std::to_string(m.to));
        }
      }
    }
  }
}

/// What a kind of message costs, its handshake apart.
struct Cost {
  double send_overhead, receive_overhead, latency, seconds_per_byte, handshake;
};

/// The costs of one table by length.
class CostTable {
 public:
  explicit CostTable(const std::vector<MessageCost>& table) {
    for (const MessageCost& cost : table) {
      from_bytes_.push_back(cost.from_bytes);
      costs_.push_back({cost.send_overhead, cost.receive_overhead, cost.latency,
                        cost.seconds_per_byte,
                        std::max(0.0, cost.latency - table.front().latency)});
    }
  }

  const Cost* of(std::int64_t bytes) const {
    const auto above = std::upper_bound(from_bytes_.begin(), from_bytes_.end(), bytes);
    return &costs_[static_cast<std::size_t>(above - from_bytes_.begin()) - 1];
  }

 private:
  std::vector<std::int64_t> from_bytes_;
  std::vector<Cost> costs_;
};

/// A message that is to be posted.
struct Message {
  int to;
  double bytes;
  const Cost* cost;
};

/// The way of a message that has been posted.
struct Arrived {
  double time;
  double overhead;
};

/// The messages of all ranks in one stage, one rank after the other.
struct Stage {
  /// Those that a rank has received of its own.
  struct Inbox {
    std::size_t begin = 0;  // in `arrived`
    std::size_t n_expected = 0, n_arrived = 0;
  };

  std::vector<Message> messages;
  std::vector<std::size_t> begins;  // of each rank's
  std::vector<Inbox> inboxes;
  std::vector<Arrived> arrived;
  std::size_t n_unfinished = 0;  // ranks
};

struct RankState {
  std::size_t stage = 0;
  std::size_t next = 0;  // of the stage's messages, and behind its last
  std::size_t end = 0;
  bool receiving = false;  // all are posted
  double clock = 0;        // when its processor is free
};

/// The bytes of the shortest message, or 0.
double least_bytes(const MessageStages& stages) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const auto& of_ranks : stages) {
    for (const auto& sends : of_ranks) {
      for (const SentMessage& m : sends) least = std::min(least, m.bytes);
    }
  }
  return least == std::numeric_limits<std::int64_t>::max() ? 0 : static_cast<double>(least);
}

class Simulation {
 public:
  Simulation(const MessageStages& stages, const mpi::Topology& topology, const EventCosts& costs,
             std::uint64_t order)
      : given_(stages),
        topology_(topology),
        costs_(costs),
        order_(order),
        on_domain_(costs.on_domain),
        on_node_(costs.on_node),
        off_node_(costs.off_node),
        stages_(stages.size()) {
    const auto n_ranks = static_cast<std::size_t>(topology.n_ranks());
    const auto n_nodes = static_cast<std::size_t>(topology.n_nodes());
    const double least = least_bytes(stages);
    const Timetable card(costs.gap + least * costs.nic_seconds_per_byte);
    const Timetable memory(least * costs.memory_seconds_per_byte);
    const Timetable link(least * costs.links.seconds_per_byte);
    ranks_.resize(n_ranks);
    outward_.resize(n_nodes, card);
    inward_.resize(n_nodes, card);
    memory_.resize(n_nodes, memory);
    links_.resize(static_cast<std::size_t>(std::max(costs.links.n_links, 0)), link);
    times_.finished.assign(stages.size(), std::vector<double>(n_ranks, 0));
  }

  StageTimes run() {
    if (stages_.empty()) return {};
    for (std::size_t r = 0; r < ranks_.size(); ++r) begin_stage(r);
    while (!events_.empty()) {
      const Event event = events_.pop();
      post(event.rank, event.time);
    }
    return std::move(times_);
  }

 private:
  std::uint64_t next_number() {
    const std::uint64_t number = n_events_++;
    return order_ == 0 ? number : hash64(number, order_);
  }

  const CostTable& table(std::size_t from, int to) const {
    const int rank = static_cast<int>(from);
    if (!topology_.same_node(rank, to)) return off_node_;
    const bool near = !costs_.on_domain.empty() && topology_.same_domain(rank, to);
    return near ? on_domain_ : on_node_;
  }

  // Ranks.

  /// Lays out a stage's messages when the first rank begins it.
  void open(std::size_t s) {
    Stage& stage = stages_[s];
    stage.n_unfinished = ranks_.size();
    stage.inboxes.resize(ranks_.size());
    stage.begins.reserve(ranks_.size() + 1);
    stage.begins.push_back(0);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (const SentMessage& m : given_[s][r]) {
        stage.messages.push_back({m.to, static_cast<double>(m.bytes), table(r, m.to).of(m.bytes)});
        ++stage.inboxes[static_cast<std::size_t>(m.to)].n_expected;
      }
      stage.begins.push_back(stage.messages.size());
    }
    std::size_t begin = 0;
    for (Stage::Inbox& inbox : stage.inboxes) {
      inbox.begin = std::exchange(begin, begin + inbox.n_expected);
    }
    stage.arrived.resize(begin);
  }

  void begin_stage(std::size_t r) {
    RankState& rank = ranks_[r];
    if (stages_[rank.stage].inboxes.empty()) open(rank.stage);
    rank.next = stages_[rank.stage].begins[r];
    rank.end = stages_[rank.stage].begins[r + 1];
    rank.receiving = false;
    schedule_next_post(r);
  }

  void schedule_next_post(std::size_t r) {
    RankState& rank = ranks_[r];
    if (rank.next == rank.end) {
      rank.receiving = true;
      return end_stage_if_complete(r, rank.stage);
    }
    rank.clock += stages_[rank.stage].messages[rank.next].cost->send_overhead;
    events_.push({rank.clock, next_number(), r});
  }

  void post(std::size_t r, double now) {
    RankState& rank = ranks_[r];
    Stage& stage = stages_[rank.stage];
    const Message& m = stage.messages[rank.next++];
    const int from_node = topology_.node(static_cast<int>(r));
    const int to_node = topology_.node(m.to);
    const double arrival = from_node == to_node ? cross_node(from_node, m, now)
                                                : cross_network(from_node, to_node, m, now);
    const auto to = static_cast<std::size_t>(m.to);
    Stage::Inbox& inbox = stage.inboxes[to];
    stage.arrived[inbox.begin + inbox.n_arrived++] = {arrival, m.cost->receive_overhead};
    end_stage_if_complete(to, rank.stage);
    schedule_next_post(r);
  }

  /// Once all messages for a rank are posted, and its own, it is known when it has received them.
  void end_stage_if_complete(std::size_t r, std::size_t s) {
    RankState& rank = ranks_[r];
    if (rank.stage != s || !rank.receiving) return;
    Stage& stage = stages_[s];
    const Stage::Inbox& inbox = stage.inboxes[r];
    if (inbox.n_arrived < inbox.n_expected) return;
    const std::span<Arrived> arrivals(stage.arrived.data() + inbox.begin, inbox.n_expected);
    std::sort(arrivals.begin(), arrivals.end(), [](const Arrived& a, const Arrived& b) {
      return std::tie(a.time, a.overhead) < std::tie(b.time, b.overhead);
    });
    for (const Arrived& arrival : arrivals) {
      rank.clock = std::max(rank.clock, arrival.time) + arrival.overhead;
    }
    times_.finished[s][r] = rank.clock;
    if (--stage.n_unfinished == 0) stage = {};
    if (++rank.stage < stages_.size()) begin_stage(r);
  }

  // Messages: when one that leaves at `time` arrives. Its handshake is a part of its latency.

  double cross_node(int node, const Message& m, double now) {
    const double time = now + m.cost->handshake;
    const double busy = m.bytes * costs_.memory_seconds_per_byte;
    const double begin = memory_[static_cast<std::size_t>(node)].claim(now, time, busy);
    return begin + m.cost->latency - (time - now) +
           std::max(busy, m.bytes * m.cost->seconds_per_byte);
  }

  double cross_network(int from_node, int to_node, const Message& m, double now) {
    const double time = now + m.cost->handshake;
    const double busy = costs_.gap + m.bytes * costs_.nic_seconds_per_byte;
    double slowest = std::max(m.cost->seconds_per_byte, costs_.nic_seconds_per_byte);
    double head = outward_[static_cast<std::size_t>(from_node)].claim(now, time, busy);
    head += m.cost->latency - (time - now);
    path_.clear();
    if (costs_.links.n_links > 0) costs_.links.find_path(from_node, to_node, path_);
    for (const int link : path_) {
      head = links_.at(static_cast<std::size_t>(link))
                 .claim(now, head, m.bytes * costs_.links.seconds_per_byte) +
             costs_.links.hop_latency;
      slowest = std::max(slowest, costs_.links.seconds_per_byte);
    }
    head = inward_[static_cast<std::size_t>(to_node)].claim(now, head, busy);
    return head + m.bytes * slowest;
  }

  const MessageStages& given_;
  const mpi::Topology& topology_;
  const EventCosts& costs_;
  const std::uint64_t order_;
  const CostTable on_domain_, on_node_, off_node_;
  std::vector<Stage> stages_;  // empty before the first rank begins one, and behind the last
  EventQueue events_;
  std::uint64_t n_events_ = 0;
  std::vector<RankState> ranks_;
  std::vector<Timetable> outward_, inward_, memory_;  // of each node
  std::vector<Timetable> links_;
  std::vector<int> path_;  // of the message that is posted
  StageTimes times_;
};

/// The coordinates of a node of a torus.
std::array<int, 3> coordinates(int node, const std::array<int, 3>& sides) {
  return {node % sides[0], node / sides[0] % sides[1], node / (sides[0] * sides[1])};
}

}  // namespace

Links torus_links(std::array<int, 3> sides, double seconds_per_byte, double hop_latency) {
  for (const int side : sides) {
    if (side < 1) refuse_simulation("a torus with a side of " + std::to_string(side));
  }
  const std::array<int, 3> strides = {1, sides[0], sides[0] * sides[1]};
  const auto find_path = [sides, strides](int from, int to, std::vector<int>& path) {
    std::array<int, 3> at = coordinates(from, sides);
    const std::array<int, 3> goal = coordinates(to, sides);
    int node = from;
    for (std::size_t d = 0; d < 3; ++d) {
      const int ahead = (goal[d] - at[d] + sides[d]) % sides[d];
      const bool forward = 2 * ahead <= sides[d];
      while (at[d] != goal[d]) {
        path.push_back(6 * node + 2 * static_cast<int>(d) + (forward ? 0 : 1));
        const int next = (at[d] + (forward ? 1 : sides[d] - 1)) % sides[d];
        node += (next - at[d]) * strides[d];
        at[d] = next;
      }
    }
  };
  return {6 * sides[0] * sides[1] * sides[2], seconds_per_byte, hop_latency, find_path};
}

double StageTimes::of_rank(int rank) const {
  return finished.empty() ? 0 : finished.back()[static_cast<std::size_t>(rank)];
}

double StageTimes::of_stage(std::size_t s) const {
  const std::vector<double>& times = finished[s];
  return times.empty() ? 0 : *std::max_element(times.begin(), times.end());
}

double StageTimes::end() const {
  return finished.empty() ? 0 : of_stage(finished.size() - 1);
}

StageTimes simulate_events(const MessageStages& stages, const mpi::Topology& topology,
                           const EventCosts& costs, std::uint64_t order) {
  check_costs(costs);
  check_messages(stages, topology.n_ranks());
  return Simulation(stages, topology, costs, order).run();
}

}  // namespace nodewise::model
