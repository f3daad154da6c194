#include "nodewise/predict/sparse_exchange_messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>

#include "nodewise/base/error.hpp"
#include "nodewise/comm/sdde/choice.hpp"
#include "nodewise/comm/sdde/message_count.hpp"
#include "nodewise/predict/collective_messages.hpp"

namespace nodewise::predict {

namespace {

using model::MessageStages;

constexpr std::int64_t count_bytes = 8, vote_bytes = 32, known_bytes = 48;
constexpr std::int64_t header_bytes = sizeof(comm::sdde::JoinedHeader);

class Builder {
 public:
  Builder(const mpi::Topology& topology, const SparseSends& sends)
      : topology_(topology), sends_(sends) {}

  void personalized();
  void nonblocking();
  void rma();
  void known_number();
  void locality_personalized();
  void locality_nonblocking();
  void locality_dense();
  void locality_rma();
  SparseExchangeMessages take() { return std::move(made_); }

 private:
  void add(MessageStages stages) {
    for (auto& stage : stages) made_.stages.push_back(std::move(stage));
  }
  void add_data(const SparseSends& stage, bool synchronous);
  void add_counts(std::span<const std::vector<int>> groups);
  void add_end() { add(recursive_doubling(topology_.n_ranks(), vote_bytes)); }
  std::vector<std::vector<int>> all_ranks() const;
  std::vector<std::vector<int>> ranks_by_node() const;
  void add_lengths(std::span<const std::vector<int>> groups);
  SparseSends crossing() const;
  SparseSends on_node() const;

  const mpi::Topology& topology_;
  const SparseSends& sends_;
  SparseExchangeMessages made_;
};

/// Messages that are complete when they were received have an answer.
void Builder::add_data(const SparseSends& stage, bool synchronous) {
  made_.of_data.push_back(made_.stages.size());
  made_.stages.push_back(stage);
  if (!synchronous) return;
  SparseSends answers(stage.size());
  for (std::size_t r = 0; r < stage.size(); ++r) {
    for (const model::SentMessage& message : stage[r]) {
      answers[static_cast<std::size_t>(message.to)].push_back({static_cast<int>(r), 0});
    }
  }
  made_.stages.push_back(std::move(answers));
}

/// Within each group, all of them at once: ranks beyond a power of two give their vector to another
/// first, and hear from it last.
void Builder::add_counts(std::span<const std::vector<int>> groups) {
  std::size_t most = 1;
  for (const auto& group : groups) most = std::max(most, group.size());
  const auto n_rounds = static_cast<std::size_t>(std::bit_width(std::bit_floor(most)) + 1);
  MessageStages stages(n_rounds, SparseSends(static_cast<std::size_t>(topology_.n_ranks())));
  for (const auto& group : groups) {
    const std::size_t n = group.size(), half = std::bit_floor(n);
    const auto send = [&](std::size_t round, std::size_t from, std::size_t to,
                          std::size_t numbers) {
      stages[round][static_cast<std::size_t>(group[from])].push_back(
          {group[to], count_bytes * static_cast<std::int64_t>(numbers)});
    };
    for (std::size_t k = half; k < n; ++k) {
      send(0, k, k - half, n);
      send(n_rounds - 1, k - half, k, 1);
    }
    std::size_t round = 1;
    for (std::size_t distance = half / 2; distance > 0; distance /= 2, ++round) {
      const std::size_t numbers = std::max<std::size_t>(1, n * distance / half);
      for (std::size_t k = 0; k < half; ++k) send(round, k, k ^ distance, numbers);
    }
  }
  std::erase_if(stages, [](const SparseSends& stage) {
    return std::ranges::all_of(stage, [](const auto& of_rank) { return of_rank.empty(); });
  });
  add(std::move(stages));
}

std::vector<std::vector<int>> Builder::all_ranks() const {
  std::vector<std::vector<int>> all(1);
  for (int r = 0; r < topology_.n_ranks(); ++r) all.front().push_back(r);
  return all;
}

std::vector<std::vector<int>> Builder::ranks_by_node() const {
  std::vector<std::vector<int>> groups;
  for (int node = 0; node < topology_.n_nodes(); ++node) {
    const auto ranks = topology_.ranks_on(node);
    groups.emplace_back(ranks.begin(), ranks.end());
  }
  return groups;
}

void Builder::personalized() {
  add_counts(all_ranks());
  add_data(sends_, false);
}

void Builder::nonblocking() {
  add_data(sends_, true);
  add_end();
}

/// All numbers to all ranks of a group at once.
void Builder::add_lengths(std::span<const std::vector<int>> groups) {
  SparseSends stage(sends_.size());
  for (const auto& group : groups) {
    for (const int from : group) {
      for (const int to : group) {
        if (to != from) stage[static_cast<std::size_t>(from)].push_back({to, count_bytes});
      }
    }
  }
  made_.stages.push_back(std::move(stage));
}

void Builder::rma() {
  add_end();
  SparseSends puts = sends_;
  for (auto& of_rank : puts) {
    for (model::SentMessage& put : of_rank) put.bytes += 1;  // the flag
  }
  add_data(puts, false);
  add_end();
}

void Builder::known_number() {
  add(recursive_doubling(topology_.n_ranks(), known_bytes));
  add_data(sends_, false);
}

/// What a rank sends to each other, itself left out.
SparseSends as_sends(const std::vector<std::map<int, std::int64_t>>& bytes_to) {
  SparseSends sends(bytes_to.size());
  for (std::size_t r = 0; r < sends.size(); ++r) {
    for (const auto& [to, bytes] : bytes_to[r]) {
      if (to != static_cast<int>(r)) sends[r].push_back({to, bytes});
    }
  }
  return sends;
}

/// What goes to other nodes, joined by node.
SparseSends Builder::crossing() const {
  std::vector<std::map<int, std::int64_t>> bytes_to(sends_.size());
  for (std::size_t r = 0; r < sends_.size(); ++r) {
    const auto from = static_cast<int>(r);
    for (const model::SentMessage& message : sends_[r]) {
      if (topology_.same_node(from, message.to)) continue;
      const int by = topology_.corresponding_rank(from, topology_.node(message.to));
      bytes_to[r][by] += header_bytes + message.bytes;
    }
  }
  return as_sends(bytes_to);
}

/// What all ranks of a node pass on there.
SparseSends Builder::on_node() const {
  std::vector<std::map<int, std::int64_t>> bytes_to(sends_.size());
  for (std::size_t r = 0; r < sends_.size(); ++r) {
    const auto from = static_cast<int>(r);
    for (const model::SentMessage& message : sends_[r]) {
      const int by = topology_.same_node(from, message.to)
                         ? from
                         : topology_.corresponding_rank(from, topology_.node(message.to));
      bytes_to[static_cast<std::size_t>(by)][message.to] += header_bytes + message.bytes;
    }
  }
  return as_sends(bytes_to);
}

void Builder::locality_personalized() {
  add_counts(all_ranks());
  add_data(crossing(), false);
  add_counts(ranks_by_node());
  add_data(on_node(), false);
}

void Builder::locality_nonblocking() {
  add_data(crossing(), true);
  add_end();
  add_data(on_node(), true);
  // The end on a node is a few messages between its ranks, beside which the reduction of counts is
  // as long: a node's ranks all send to each other.
  add_counts(ranks_by_node());
}

void Builder::locality_dense() {
  add_counts(all_ranks());
  add_data(crossing(), false);
  add_lengths(ranks_by_node());
  add_data(on_node(), false);
}

/// Messages are of one size; a rank puts a slot for every rank of the other node.
void Builder::locality_rma() {
  SparseSends puts = crossing();
  for (std::size_t r = 0; r < puts.size(); ++r) {
    for (model::SentMessage& put : puts[r]) {
      const auto places = std::ssize(topology_.ranks_on(topology_.node(put.to)));
      put.bytes = places * (sends_[r].front().bytes + 1);
    }
  }
  add_end();
  add_data(puts, false);
  add_end();
  add_counts(ranks_by_node());
  add_data(on_node(), false);
}

struct Algorithm {
  std::string_view name;
  void (Builder::*build)();
  std::string_view unjoined = {};  // where there is nothing to join
  bool needs_one_size = false;
};

constexpr std::array algorithms = {
    Algorithm{"personalized", &Builder::personalized},
    Algorithm{"nonblocking", &Builder::nonblocking},
    Algorithm{"rma", &Builder::rma, {}, true},
    Algorithm{"locality_personalized", &Builder::locality_personalized, "personalized"},
    Algorithm{"locality_nonblocking", &Builder::locality_nonblocking, "nonblocking"},
    Algorithm{"locality_dense", &Builder::locality_dense, "personalized"},
    Algorithm{"locality_rma", &Builder::locality_rma, "rma", true},
    Algorithm{"known_number", &Builder::known_number}};

const Algorithm& find(std::string_view name) {
  const auto found = std::ranges::find(algorithms, name, &Algorithm::name);
  if (found != algorithms.end()) return *found;
  throw Error(ErrorCode::invalid_argument,
              "no messages are known of a sparse exchange " + std::string(name));
}

}  // namespace

std::vector<std::string_view> sparse_exchanges(bool of_one_size) {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : algorithms) {
    if (of_one_size || !algorithm.needs_one_size) names.push_back(algorithm.name);
  }
  return names;
}

SparseExchangeMessages sparse_exchange_messages(std::string_view algorithm,
                                                const mpi::Topology& topology,
                                                const SparseSends& sends) {
  if (sends.size() != static_cast<std::size_t>(topology.n_ranks())) {
    throw Error(ErrorCode::invalid_argument, "sends of " + std::to_string(sends.size()) +
                                                 " ranks, where the topology has " +
                                                 std::to_string(topology.n_ranks()));
  }
  const Algorithm& asked = find(algorithm);
  const bool has_nothing_to_join = !asked.unjoined.empty() && !comm::choice_needs_load(topology);
  const Algorithm& taken = has_nothing_to_join ? find(asked.unjoined) : asked;
  Builder builder(topology, sends);
  (builder.*taken.build)();
  return builder.take();
}

}  // namespace nodewise::predict
