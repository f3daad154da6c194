#include "nodewise/comm/sdde/choice.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "nodewise/comm/sdde/message_count.hpp"

namespace nodewise::comm {

namespace {

/// Measured; docs/sparse-exchange.md says how. The exchange on the node costs as much time as it
/// takes the busiest rank to send about so many messages between nodes.
constexpr Offset messages_worth_a_step = 6;
/// Measured likewise: above so many bytes a message the copies on the node outweigh what fewer
/// messages save.
constexpr Offset longest_joined_message = Offset{1} << 12;

Offset own_load(const mpi::Topology& topology, int rank, std::span<const int> destinations,
                std::span<const Offset> bytes, SparseLoad& load) {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const int to = destinations[i];
    if (to == rank) continue;
    ++load.messages;
    if (topology.same_node(to, rank)) continue;
    ++load.messages_off_node;
    load.bytes_off_node += bytes[i];
    nodes.push_back(topology.node(to));
  }
  std::sort(nodes.begin(), nodes.end());
  return std::unique(nodes.begin(), nodes.end()) - nodes.begin();
}

SparseLoad count_load(const mpi::Comm& comm, std::span<const int> destinations,
                      std::span<const Offset> bytes) {
  std::vector<Offset> offsets(bytes.size() + 1, 0);
  std::partial_sum(bytes.begin(), bytes.end(), offsets.begin() + 1);
  const sdde::Channel channel{comm, 0, SparseOptions{}.max_message_bytes};
  return sdde::count_messages(channel, {destinations, offsets, {}}, false).load;
}

}  // namespace

bool choice_needs_load(const mpi::Topology& topology) {
  return topology.n_nodes() > 1 && topology.n_nodes() < topology.n_ranks();
}

SparseChoice choose_sparse_exchange(const mpi::Topology& topology, const SparseLoad& load) {
  const bool counts = sdde::counts_messages_first(topology);
  const auto straight = counts ? "personalized" : "nonblocking";
  const auto joined = counts ? "locality_personalized" : "locality_nonblocking";
  if (!choice_needs_load(topology)) {
    return {"nonblocking",
            topology.n_nodes() <= 1 ? "all ranks are on one node" : "every node has one rank"};
  }
  const Offset saved = load.messages_off_node - load.nodes;
  const Offset mean_bytes = load.bytes_off_node / std::max<Offset>(1, load.messages_off_node);
  if (saved < messages_worth_a_step) {
    return {straight,
            fmt::format("joining messages saves the busiest rank {} messages between nodes; the "
                        "step on the node costs about {}",
                        saved, messages_worth_a_step)};
  }
  if (mean_bytes > longest_joined_message) {
    return {straight,
            fmt::format("messages of {} bytes are too long to be copied on the node; the limit is "
                        "{}",
                        mean_bytes, longest_joined_message)};
  }
  return {joined,
          fmt::format("joining messages saves the busiest rank {} messages between nodes, more "
                      "than the {} that the step on the node costs",
                      saved, messages_worth_a_step)};
}

SparseLoad measure_load(const mpi::Comm& comm, std::span<const int> destinations,
                        std::span<const Offset> bytes) {
  if (sdde::counts_messages_first(comm.topology())) return count_load(comm, destinations, bytes);
  SparseLoad mine;
  mine.nodes = own_load(comm.topology(), comm.rank(), destinations, bytes, mine);
  std::array<Offset, 4> most = {mine.messages, mine.messages_off_node, mine.nodes,
                                mine.bytes_off_node};
  mpi::max_in_place<Offset>(comm, most);
  return {most[0], most[1], most[2], most[3]};
}

std::string explain_choice(const mpi::Comm& comm, std::span<const int> destinations,
                           std::span<const Offset> bytes) {
  const SparseLoad load = measure_load(comm, destinations, bytes);
  const mpi::Topology& topology = comm.topology();
  const mpi::SparseExchange& set = comm.settings().sparse_exchange;
  const SparseChoice choice = choose_sparse_exchange(topology, load);
  const bool is_chosen = set.is_automatic();
  return fmt::format(
      "sparse exchange: {} ({})\n"
      "  ranks {}, nodes {}\n"
      "  most of any rank: {} messages, {} of them to {} other nodes with {} bytes\n"
      "  {}{}\n",
      (is_chosen ? choice.algorithm : set).name(),
      is_chosen ? "chosen" : "set for this communicator", topology.n_ranks(), topology.n_nodes(),
      load.messages, load.messages_off_node, load.nodes, load.bytes_off_node,
      is_chosen ? "" : fmt::format("by itself {}: ", choice.algorithm.name()), choice.reason);
}

}  // namespace nodewise::comm
