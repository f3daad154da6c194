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

constexpr std::int64_t count_bytes = 8, vote_bytes = 32, address_bytes = 16;
constexpr std::int64_t header_bytes = sizeof(comm::sdde::JoinedHeader);

class Builder {
 public:
  Builder(const mpi::Topology& topology, const SparseSends& sends)
      : topology_(topology), sends_(sends) {}

  void personalized();
  void nonblocking();
  void rma();
  void locality(bool synchronous);
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

void Builder::rma() {
  const std::vector<std::int64_t> addresses(static_cast<std::size_t>(topology_.n_ranks()),
                                            address_bytes);
  add(bruck_allgather(addresses));
  add_end();
  SparseSends puts = sends_;
  for (auto& of_rank : puts) {
    for (model::SentMessage& put : of_rank) put.bytes += 1;  // the flag
  }
  add_data(puts, false);
  add_end();
}

/// What goes to other nodes, joined by node, and then what all ranks of a node pass on there.
void Builder::locality(bool synchronous) {
  const auto n_ranks = static_cast<std::size_t>(topology_.n_ranks());
  std::vector<std::map<int, std::int64_t>> crossing(n_ranks), on_node(n_ranks);
  for (std::size_t r = 0; r < n_ranks; ++r) {
    const auto from = static_cast<int>(r);
    for (const model::SentMessage& message : sends_[r]) {
      const int node = topology_.node(message.to);
      const bool stays = node == topology_.node(from);
      const int by = stays ? from : topology_.corresponding_rank(from, node);
      if (!stays) crossing[r][by] += header_bytes + message.bytes;
      on_node[static_cast<std::size_t>(by)][message.to] += header_bytes + message.bytes;
    }
  }
  const auto as_sends = [&](const auto& maps) {
    SparseSends sends(n_ranks);
    for (std::size_t r = 0; r < n_ranks; ++r) {
      for (const auto& [to, bytes] : maps[r]) {
        if (to != static_cast<int>(r)) sends[r].push_back({to, bytes});
      }
    }
    return sends;
  };
  if (!synchronous) add_counts(all_ranks());
  add_data(as_sends(crossing), synchronous);
  if (synchronous) add_end();
  if (!synchronous) add_counts(ranks_by_node());
  add_data(as_sends(on_node), synchronous);
  // The end on a node is a few messages between its ranks, beside which the reduction of counts is
  // as long: a node's ranks all send to each other.
  if (synchronous) add_counts(ranks_by_node());
}

}  // namespace

std::span<const std::string_view> sparse_exchanges() {
  static constexpr std::array<std::string_view, 5> names = {
      "personalized", "nonblocking", "rma", "locality_personalized", "locality_nonblocking"};
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
  Builder builder(topology, sends);
  const bool joins = comm::choice_needs_load(topology);  // or there is nothing to join
  if (algorithm == "personalized" || (algorithm == "locality_personalized" && !joins)) {
    builder.personalized();
  } else if (algorithm == "nonblocking" || (algorithm == "locality_nonblocking" && !joins)) {
    builder.nonblocking();
  } else if (algorithm == "rma") {
    builder.rma();
  } else if (algorithm == "locality_personalized" || algorithm == "locality_nonblocking") {
    builder.locality(algorithm == "locality_nonblocking");
  } else {
    throw Error(ErrorCode::invalid_argument,
                "no messages are known of a sparse exchange " + std::string(algorithm));
  }
  return builder.take();
}

}  // namespace nodewise::predict
