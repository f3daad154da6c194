#include "nodewise/predict/collective_messages.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "nodewise/base/error.hpp"
#include "nodewise/mpi/collectives/pair_map.hpp"
#include "nodewise/mpi/collectives/schedule.hpp"

namespace nodewise::predict {

namespace {

using model::MessageStages;
namespace collectives = mpi::collectives;

MessageStages empty_stages(std::size_t n_stages, int n_ranks) {
  return MessageStages(
      n_stages, std::vector<std::vector<model::SentMessage>>(static_cast<std::size_t>(n_ranks)));
}

/// The length of a schedule's message.
using BytesOf =
    std::function<std::int64_t(const collectives::Stage& stage, const collectives::Message&)>;

/// The place of a message's round among all rounds of a stage, of which ranks leave out those that
/// are empty for them: first that between nodes, then those on the node, at distances 1, 2, 4 ...
std::size_t round_of(const mpi::Topology& topology, int from, int to) {
  if (!topology.same_node(from, to)) return 0;
  const std::size_t n = topology.ranks_on(topology.node(from)).size();
  const std::size_t distance = (topology.place_on_node(from) + n - topology.place_on_node(to)) % n;
  return static_cast<std::size_t>(std::bit_width(distance));
}

/// The schedules of all ranks on one count of stages. Nodes with fewer meetings have the last ones
/// in common with the others, so that stages are counted from the end. Throws internal where that
/// does not bring every message to a rank that waits for it.
class AlignedSchedules {
 public:
  AlignedSchedules(const mpi::Topology& topology, BytesOf bytes_of)
      : topology_(topology), bytes_of_(std::move(bytes_of)) {
    for (int r = 0; r < topology.n_ranks(); ++r) {
      schedules_.push_back(collectives::make_schedule(topology, r));
      n_stages_ = std::max(n_stages_, schedules_.back().stages.size());
    }
    n_rounds_ = static_cast<std::size_t>(std::bit_width(topology.most_ranks_on_a_node())) + 1;
    messages_ = empty_stages(n_stages_ * n_rounds_, topology.n_ranks());
  }

  MessageStages take() {
    for (int r = 0; r < topology_.n_ranks(); ++r) {
      const auto& stages = schedules_[static_cast<std::size_t>(r)].stages;
      for (std::size_t k = 0; k < stages.size(); ++k) add(r, stages[k], first_of(r, k));
    }
    for (const auto& [key, missing] : awaited_) {
      if (missing != 0) throw Error(ErrorCode::internal, "the schedules of a collective differ");
    }
    return std::move(messages_);
  }

 private:
  std::size_t first_of(int rank, std::size_t stage) const {
    const std::size_t mine = schedules_[static_cast<std::size_t>(rank)].stages.size();
    return (n_stages_ - mine + stage) * n_rounds_;
  }

  void add(int rank, const collectives::Stage& stage, std::size_t first) {
    for (const collectives::Round& round : stage.rounds) {
      for (const collectives::Message& m : round.sends) {
        const std::size_t s = first + round_of(topology_, rank, m.rank);
        messages_[s][static_cast<std::size_t>(rank)].push_back({m.rank, bytes_of_(stage, m)});
        --awaited_[{s, rank, m.rank}];
      }
      for (const collectives::Message& m : round.recvs) {
        ++awaited_[{first + round_of(topology_, m.rank, rank), m.rank, rank}];
      }
    }
  }

  const mpi::Topology& topology_;
  BytesOf bytes_of_;
  std::vector<collectives::Schedule> schedules_;
  std::size_t n_stages_ = 0;
  std::size_t n_rounds_ = 0;
  MessageStages messages_;
  std::map<std::tuple<std::size_t, int, int>, int> awaited_;  // by stage, from, to; less those sent
};

}  // namespace

namespace {

/// Stages among a power of two of ranks, with what ranks beyond it need before and after.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int n_ranks)
      : n_ranks_(n_ranks),
        power_(n_ranks > 0 ? static_cast<int>(std::bit_floor(static_cast<unsigned>(n_ranks))) : 1),
        beyond_(n_ranks - power_) {}

  int power() const { return power_; }
  void add_before(std::int64_t bytes) {
    if (beyond_ > 0)
      add(
          beyond_, idle, [this](int i) { return rank_of(i); }, bytes);
  }
  /// Each with the rank whose number differs by `step`.
  void add_step(int step, std::int64_t bytes) {
    add(
        power_, [this](int i) { return rank_of(i); }, [&](int i) { return rank_of(i ^ step); },
        bytes);
  }
  void add_after(std::int64_t bytes) {
    if (beyond_ > 0)
      add(
          beyond_, [this](int i) { return rank_of(i); }, idle, bytes);
  }
  MessageStages take() { return std::move(stages_); }

 private:
  // Of each pair 2 i, 2 i + 1 among the first 2 * beyond ranks the odd one takes part, for both.
  int rank_of(int i) const { return i < beyond_ ? 2 * i + 1 : i + beyond_; }
  static int idle(int i) { return 2 * i; }

  void add(int n_senders, const std::function<int(int)>& from, const std::function<int(int)>& to,
           std::int64_t bytes) {
    stages_.push_back(empty_stages(1, n_ranks_).front());
    for (int i = 0; i < n_senders; ++i) {
      stages_.back()[static_cast<std::size_t>(from(i))].push_back({to(i), bytes});
    }
  }

  int n_ranks_, power_, beyond_;
  MessageStages stages_;
};

}  // namespace

MessageStages recursive_doubling(int n_ranks, std::int64_t bytes) {
  PowerOfTwo ranks(n_ranks);
  ranks.add_before(bytes);
  for (int step = 1; step < ranks.power(); step *= 2) ranks.add_step(step, bytes);
  ranks.add_after(bytes);
  return ranks.take();
}

MessageStages halving_allreduce(int n_ranks, std::int64_t bytes) {
  PowerOfTwo ranks(n_ranks);
  const auto part = [&](int n) { return (bytes + n - 1) / n; };
  ranks.add_before(bytes);
  for (int n = 2; n <= ranks.power(); n *= 2) ranks.add_step(n / 2, part(n));
  for (int n = ranks.power(); n >= 2; n /= 2) ranks.add_step(n / 2, part(n));
  ranks.add_after(bytes);
  return ranks.take();
}

MessageStages bruck_allgather(std::span<const std::int64_t> bytes) {
  const auto n = static_cast<int>(bytes.size());
  std::vector<std::int64_t> before = {0};  // of the blocks, twice round
  for (int k = 0; k < 2 * n; ++k) {
    before.push_back(before.back() + bytes[static_cast<std::size_t>(k % n)]);
  }
  MessageStages stages;
  for (int step = 1; step < n; step *= 2) {
    stages.push_back(empty_stages(1, n).front());
    const int blocks = std::min(step, n - step);
    for (int r = 0; r < n; ++r) {  // has the blocks r .. r + step - 1
      const auto first = static_cast<std::size_t>(r);
      stages.back()[first].push_back(
          {(r - step + n) % n, before[first + static_cast<std::size_t>(blocks)] - before[first]});
    }
  }
  return stages;
}

MessageStages ring_allgather(std::span<const std::int64_t> bytes) {
  const auto n = static_cast<int>(bytes.size());
  MessageStages stages;
  for (int step = 1; step < n; ++step) {
    stages.push_back(empty_stages(1, n).front());
    for (int r = 0; r < n; ++r) {
      const auto block = static_cast<std::size_t>((r - step + 1 + n) % n);
      stages.back()[static_cast<std::size_t>(r)].push_back({(r + 1) % n, bytes[block]});
    }
  }
  return stages;
}

MessageStages node_leader_allreduce(const mpi::Topology& topology, std::int64_t bytes) {
  const std::size_t most = topology.most_ranks_on_a_node();
  MessageStages up, down;
  for (std::size_t step = 1; step < most; step *= 2) {
    up.push_back(empty_stages(1, topology.n_ranks()).front());
    down.insert(down.begin(), empty_stages(1, topology.n_ranks()).front());
    for (int node = 0; node < topology.n_nodes(); ++node) {
      const auto ranks = topology.ranks_on(node);
      for (std::size_t place = step; place < ranks.size(); place += 2 * step) {
        const int child = ranks[place], parent = ranks[place - step];
        up.back()[static_cast<std::size_t>(child)].push_back({parent, bytes});
        down.front()[static_cast<std::size_t>(parent)].push_back({child, bytes});
      }
    }
  }
  for (const auto& stage : recursive_doubling(topology.n_nodes(), bytes)) {
    up.push_back(empty_stages(1, topology.n_ranks()).front());
    for (std::size_t node = 0; node < stage.size(); ++node) {
      const auto from = static_cast<std::size_t>(topology.ranks_on(static_cast<int>(node)).front());
      for (const model::SentMessage& m : stage[node]) {
        up.back()[from].push_back({topology.ranks_on(m.to).front(), bytes});
      }
    }
  }
  up.insert(up.end(), down.begin(), down.end());
  return up;
}

MessageStages spread_out_alltoall(int n_ranks, std::int64_t bytes) {
  MessageStages stages = empty_stages(1, n_ranks);
  for (int r = 0; r < n_ranks; ++r) {
    for (int step = 1; step < n_ranks; ++step) {
      stages[0][static_cast<std::size_t>(r)].push_back({(r + step) % n_ranks, bytes});
    }
  }
  return stages;
}

MessageStages pairwise_alltoall(int n_ranks, std::int64_t bytes) {
  MessageStages stages = empty_stages(static_cast<std::size_t>(std::max(0, n_ranks - 1)), n_ranks);
  for (int r = 0; r < n_ranks; ++r) {
    for (int step = 1; step < n_ranks; ++step) {
      stages[static_cast<std::size_t>(step - 1)][static_cast<std::size_t>(r)].push_back(
          {(r + step) % n_ranks, bytes});
    }
  }
  return stages;
}

MessageStages node_aware_alltoall(const mpi::Topology& topology, std::int64_t bytes) {
  const collectives::PairMap map(topology);
  MessageStages stages = empty_stages(4, topology.n_ranks());
  auto &lengths = stages[0], &gathered = stages[1], &crossing = stages[2], &spread = stages[3];
  for (int here = 0; here < topology.n_nodes(); ++here) {
    const std::span<const int> ranks = topology.ranks_on(here);
    using Joined = std::map<std::pair<int, int>, std::int64_t>;  // by the two ranks
    Joined words, blocks_out, blocks_in;
    for (const collectives::Share& share : map.shares_of_node(here)) {
      const int carrier = map.carrier(here, share.node, share.part);
      const std::int64_t n_there = std::ssize(topology.ranks_on(share.node));
      const std::int64_t dests_there = std::ssize(map.places(share.node, here, share.part));
      for (const int rank : ranks) {
        words[{rank, carrier}] += dests_there;
        blocks_out[{rank, carrier}] += dests_there;
      }
      for (const int place : map.places(here, share.node, share.part)) {
        const int dest = ranks[static_cast<std::size_t>(place)];
        words[{dest, carrier}] += n_there;
        blocks_in[{carrier, dest}] += n_there;
      }
      crossing[static_cast<std::size_t>(carrier)].push_back(
          {map.carrier(share.node, here, share.part), bytes * std::ssize(ranks) * dests_there});
    }
    const auto add = [](const Joined& joined, std::int64_t bytes_each, auto& stage) {
      for (const auto& [between, n] : joined) {
        if (between.first == between.second) continue;
        stage[static_cast<std::size_t>(between.first)].push_back({between.second, n * bytes_each});
      }
    };
    for (const int rank : ranks) {  // what stays on the node
      for (const int other : ranks) {
        if (other != rank) gathered[static_cast<std::size_t>(rank)].push_back({other, bytes});
      }
    }
    add(words, sizeof(std::int64_t), lengths);
    add(blocks_out, bytes, gathered);
    add(blocks_in, bytes, spread);
  }
  return stages;
}

MessageStages node_aware_allreduce(const mpi::Topology& topology, std::int64_t bytes) {
  return AlignedSchedules(topology,
                          [bytes](const collectives::Stage&, const collectives::Message& m) {
                            return bytes * static_cast<std::int64_t>(m.slots.size());
                          })
      .take();
}

MessageStages node_aware_allgather(const mpi::Topology& topology,
                                   std::span<const std::int64_t> bytes) {
  std::vector<std::int64_t> before = {0};
  for (const int rank : collectives::ranks_by_node(topology)) {
    before.push_back(before.back() + bytes[static_cast<std::size_t>(rank)]);
  }
  return AlignedSchedules(
             topology,
             [&before](const collectives::Stage& stage, const collectives::Message& m) {
               std::int64_t sum = 0;
               for (const int slot : m.slots) {
                 const collectives::Span span = stage.slots[static_cast<std::size_t>(slot)];
                 sum += before[static_cast<std::size_t>(span.end)] -
                        before[static_cast<std::size_t>(span.begin)];
               }
               return sum;
             })
      .take();
}

}  // namespace nodewise::predict
