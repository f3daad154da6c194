#include "nodewise/model/event_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <string>
#include <utility>

#include "nodewise/base/error.hpp"

namespace nodewise::model {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "event simulation: " + what);
}

void check_time(double value, const char* name) {
  if (!(value >= 0) || std::isinf(value)) {  // NaN, too
    refuse(std::string(name) + " is " + std::to_string(value) + ", not a time");
  }
}

void check_table(const std::vector<MessageCost>& table, const char* name) {
  if (table.empty() || table.front().from_bytes != 0) {
    refuse(std::string("messages ") + name + " have no cost from 0 bytes on");
  }
  for (std::size_t k = 0; k < table.size(); ++k) {
    if (k > 0 && table[k].from_bytes <= table[k - 1].from_bytes) {
      refuse(std::string("the costs of messages ") + name + " do not ascend in length");
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
  if (costs.links.n_links > 0 && !costs.links.find_path) refuse("no paths over the links");
}

void check_messages(const MessageStages& stages, int n_ranks) {
  for (const auto& of_ranks : stages) {
    if (!std::cmp_equal(of_ranks.size(), n_ranks)) {
      refuse("a stage has messages of " + std::to_string(of_ranks.size()) + " ranks, not of " +
             std::to_string(n_ranks));
    }
    for (std::size_t r = 0; r < of_ranks.size(); ++r) {
      for (const SentMessage& m : of_ranks[r]) {
        if (m.to < 0 || m.to >= n_ranks || std::cmp_equal(m.to, r) || m.bytes < 0) {
          refuse("rank " + std::to_string(r) + " sends " + std::to_string(m.bytes) +
                 " bytes to rank " + std::to_string(m.to));
        }
      }
    }
  }
}

const MessageCost& cost_of(const std::vector<MessageCost>& table, std::int64_t bytes) {
  const auto above =
      std::upper_bound(table.begin(), table.end(), bytes,
                       [](std::int64_t b, const MessageCost& cost) { return b < cost.from_bytes; });
  return *(above - 1);
}

/// What serves one message after the other.
struct Server {
  double free_at = 0;
  /// Takes a message that comes at `time` for so long; returns when it begins.
  double serve(double time, double busy) {
    const double begin = std::max(time, free_at);
    free_at = begin + busy;
    return begin;
  }
};

/// A message under way.
struct Flight {
  int to = 0;
  std::size_t stage = 0;
  double bytes = 0;
  const MessageCost* cost = nullptr;
  std::vector<int> path;  // the links it takes
  std::size_t hop = 0;
};

enum class What { post, at_link, at_card, arrive };

/// `index` is a rank for `post`, else a flight.
struct Event {
  double time;
  std::int64_t number;  // of those at one instant the first found out comes first
  What what;
  std::size_t index;
};
struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

struct RankState {
  std::size_t stage = 0;
  std::size_t posted = 0;     // of the stage's messages
  std::int64_t received = 0;  // of those for it
  bool receiving = false;     // all are posted
  double clock = 0;           // when its processor is free
};

struct Arrival {
  double time;
  double overhead;
};

class Simulation {
 public:
  Simulation(const MessageStages& stages, const mpi::Topology& topology, const EventCosts& costs)
      : stages_(stages), topology_(topology), costs_(costs) {
    const auto n_ranks = static_cast<std::size_t>(topology.n_ranks());
    const auto n_nodes = static_cast<std::size_t>(topology.n_nodes());
    ranks_.resize(n_ranks);
    outward_.resize(n_nodes);
    inward_.resize(n_nodes);
    memory_.resize(n_nodes);
    links_.resize(static_cast<std::size_t>(std::max(costs.links.n_links, 0)));
    expected_.assign(stages.size(), std::vector<std::int64_t>(n_ranks, 0));
    early_.assign(stages.size(), std::vector<std::vector<Arrival>>(n_ranks));
    times_.finished.assign(stages.size(), std::vector<double>(n_ranks, 0));
    for (std::size_t s = 0; s < stages.size(); ++s) {
      for (const auto& sends : stages[s]) {
        for (const SentMessage& m : sends) ++expected_[s][static_cast<std::size_t>(m.to)];
      }
    }
  }

  StageTimes run() {
    if (stages_.empty()) return {};
    for (std::size_t r = 0; r < ranks_.size(); ++r) begin_stage(r);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      switch (event.what) {
        case What::post:
          post(event.index, event.time);
          break;
        case What::at_link:
          pass_link(event.index, event.time);
          break;
        case What::at_card:
          pass_card(event.index, event.time);
          break;
        case What::arrive:
          arrive(event.index, event.time);
          break;
      }
    }
    return std::move(times_);
  }

 private:
  void schedule(double time, What what, std::size_t index) {
    events_.push({time, n_events_++, what, index});
  }

  const MessageCost& cost(std::size_t from, const SentMessage& m) const {
    const int rank = static_cast<int>(from);
    if (!topology_.same_node(rank, m.to)) return cost_of(costs_.off_node, m.bytes);
    const bool near = !costs_.on_domain.empty() && topology_.same_domain(rank, m.to);
    return cost_of(near ? costs_.on_domain : costs_.on_node, m.bytes);
  }

  // Ranks.

  void begin_stage(std::size_t r) {
    RankState& rank = ranks_[r];
    rank.posted = 0;
    rank.received = 0;
    rank.receiving = false;
    schedule_next_post(r);
  }

  void schedule_next_post(std::size_t r) {
    RankState& rank = ranks_[r];
    const auto& sends = stages_[rank.stage][r];
    if (rank.posted == sends.size()) return begin_receiving(r);
    rank.clock += cost(r, sends[rank.posted]).send_overhead;
    schedule(rank.clock, What::post, r);
  }

  void post(std::size_t r, double now) {
    RankState& rank = ranks_[r];
    send(r, rank.stage, stages_[rank.stage][r][rank.posted], now);
    ++rank.posted;
    schedule_next_post(r);
  }

  void begin_receiving(std::size_t r) {
    RankState& rank = ranks_[r];
    rank.receiving = true;
    const std::vector<Arrival> early = std::exchange(early_[rank.stage][r], {});
    for (const Arrival& arrival : early) receive(rank, arrival);
    end_stage_if_complete(r);
  }

  static void receive(RankState& rank, const Arrival& arrival) {
    rank.clock = std::max(rank.clock, arrival.time) + arrival.overhead;
    ++rank.received;
  }

  void end_stage_if_complete(std::size_t r) {
    RankState& rank = ranks_[r];
    if (rank.received < expected_[rank.stage][r]) return;
    times_.finished[rank.stage][r] = rank.clock;
    if (++rank.stage < stages_.size()) begin_stage(r);
  }

  // Messages.

  std::size_t take_off(Flight flight) {
    if (landed_.empty()) {
      flights_.push_back(std::move(flight));
      return flights_.size() - 1;
    }
    const std::size_t index = landed_.back();
    landed_.pop_back();
    flights_[index] = std::move(flight);
    return index;
  }

  void send(std::size_t r, std::size_t stage, const SentMessage& m, double now) {
    Flight flight{m.to, stage, static_cast<double>(m.bytes), &cost(r, m), {}, 0};
    const int from_node = topology_.node(static_cast<int>(r));
    const int to_node = topology_.node(m.to);
    const auto node = static_cast<std::size_t>(from_node);
    const double latency = flight.cost->latency;
    if (from_node == to_node) {
      const double busy = flight.bytes * costs_.memory_seconds_per_byte;
      const double begin = memory_[node].serve(now, busy);
      const double rest = std::max(busy, flight.bytes * flight.cost->seconds_per_byte);
      schedule(begin + latency + rest, What::arrive, take_off(std::move(flight)));
      return;
    }
    if (costs_.links.n_links > 0) costs_.links.find_path(from_node, to_node, flight.path);
    const What next = flight.path.empty() ? What::at_card : What::at_link;
    const double begin = outward_[node].serve(now, card_time(flight));
    schedule(begin + latency, next, take_off(std::move(flight)));
  }

  double card_time(const Flight& flight) const {
    return costs_.gap + flight.bytes * costs_.nic_seconds_per_byte;
  }

  void pass_link(std::size_t index, double now) {
    Flight& flight = flights_[index];
    Server& link = links_.at(static_cast<std::size_t>(flight.path[flight.hop]));
    const double begin = link.serve(now, flight.bytes * costs_.links.seconds_per_byte);
    ++flight.hop;
    const What next = flight.hop == flight.path.size() ? What::at_card : What::at_link;
    schedule(begin + costs_.links.hop_latency, next, index);
  }

  void pass_card(std::size_t index, double now) {
    const Flight& flight = flights_[index];
    const auto node = static_cast<std::size_t>(topology_.node(flight.to));
    const double begin = inward_[node].serve(now, card_time(flight));
    double slowest = std::max(flight.cost->seconds_per_byte, costs_.nic_seconds_per_byte);
    if (!flight.path.empty()) slowest = std::max(slowest, costs_.links.seconds_per_byte);
    schedule(begin + flight.bytes * slowest, What::arrive, index);
  }

  void arrive(std::size_t index, double now) {
    const Flight& flight = flights_[index];
    const auto r = static_cast<std::size_t>(flight.to);
    const std::size_t stage = flight.stage;
    const Arrival arrival{now, flight.cost->receive_overhead};
    landed_.push_back(index);
    RankState& rank = ranks_[r];
    if (rank.stage == stage && rank.receiving) {
      receive(rank, arrival);
      end_stage_if_complete(r);
    } else {
      early_[stage][r].push_back(arrival);
    }
  }

  const MessageStages& stages_;
  const mpi::Topology& topology_;
  const EventCosts& costs_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::int64_t n_events_ = 0;
  std::vector<RankState> ranks_;
  std::vector<Server> outward_, inward_, memory_;  // of each node
  std::vector<Server> links_;
  std::vector<Flight> flights_;
  std::vector<std::size_t> landed_;                  // places in flights_ that are free again
  std::vector<std::vector<std::int64_t>> expected_;  // messages, by stage and rank
  std::vector<std::vector<std::vector<Arrival>>> early_;
  StageTimes times_;
};

/// The coordinates of a node of a torus.
std::array<int, 3> coordinates(int node, const std::array<int, 3>& sides) {
  return {node % sides[0], node / sides[0] % sides[1], node / (sides[0] * sides[1])};
}

}  // namespace

Links torus_links(std::array<int, 3> sides, double seconds_per_byte, double hop_latency) {
  for (const int side : sides) {
    if (side < 1) refuse("a torus with a side of " + std::to_string(side));
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
                           const EventCosts& costs) {
  check_costs(costs);
  check_messages(stages, topology.n_ranks());
  return Simulation(stages, topology, costs).run();
}

}  // namespace nodewise::model
