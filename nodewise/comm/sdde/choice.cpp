#include "nodewise/comm/sdde/choice.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "nodewise/comm/sdde/message_count.hpp"

namespace nodewise::comm {

namespace {

const char* name_of(mpi::Region kind) {
  return kind == mpi::Region::domain ? "domain" : "node";
}

SparseLoad count_load(const mpi::Comm& comm, mpi::Region region, std::span<const int> destinations,
                      std::span<const Offset> bytes) {
  std::vector<Offset> offsets(bytes.size() + 1, 0);
  std::partial_sum(bytes.begin(), bytes.end(), offsets.begin() + 1);
  const sdde::Channel channel{comm, 0, SparseOptions{}.max_message_bytes, region};
  return sdde::count_messages(channel, {destinations, offsets, {}}, {}).load;
}

}  // namespace

SparseLoad load_of_rank(const mpi::Topology& regions, int rank, std::span<const int> destinations,
                        std::span<const Offset> bytes) {
  SparseLoad load;
  std::vector<int> others;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const int to = destinations[i];
    if (to == rank) continue;
    ++load.messages;
    if (regions.same_node(to, rank)) continue;
    ++load.messages_leaving;
    load.bytes_leaving += bytes[i];
    others.push_back(regions.node(to));
  }
  std::sort(others.begin(), others.end());
  load.regions = std::unique(others.begin(), others.end()) - others.begin();
  return load;
}

bool choice_needs_load(const mpi::Topology& regions) {
  return regions.n_nodes() > 1 && regions.n_nodes() < regions.n_ranks();
}

SparseChoice choose_sparse_exchange(const mpi::Topology& regions, const SparseLoad& load,
                                    const mpi::SparseCosts& costs, mpi::Region kind) {
  const bool counts = sdde::counts_messages_first(regions);
  const auto straight = counts ? "personalized" : "nonblocking";
  const auto joined = counts ? "locality_personalized" : "locality_nonblocking";
  if (!choice_needs_load(regions)) {
    return {"nonblocking", regions.n_nodes() <= 1
                               ? fmt::format("all ranks are on one {}", name_of(kind))
                               : fmt::format("no two ranks share a {}", name_of(kind))};
  }
  const Offset saved = load.messages_leaving - load.regions;
  const double ways = counts ? 1 : 2;  // a synchronous message has an answer
  // In messages to other regions, which is what a reader can compare.
  const double step = costs.step_s / costs.message_s;
  const double copies = static_cast<double>(load.bytes_leaving) * costs.byte_s / costs.message_s;
  const bool joins = ways * static_cast<double>(saved) >= step + copies;
  return {
      joins ? joined : straight,
      fmt::format("joining messages saves the busiest rank {} messages to other {}s{}; the step on "
                  "the {} costs as much as {:.1f}, and the copies of {} bytes as {:.1f}",
                  saved, name_of(kind), counts ? "" : " and their answers", name_of(kind), step,
                  load.bytes_leaving, copies)};
}

SparseLoad measure_load(const mpi::Comm& comm, mpi::Region region,
                        std::span<const int> destinations, std::span<const Offset> bytes) {
  const mpi::Topology& regions = comm.regions(region);
  if (sdde::counts_messages_first(regions)) return count_load(comm, region, destinations, bytes);
  const SparseLoad mine = load_of_rank(regions, comm.rank(), destinations, bytes);
  std::array<Offset, 4> most = {mine.messages, mine.messages_leaving, mine.regions,
                                mine.bytes_leaving};
  mpi::max_in_place<Offset>(comm, most);
  return {most[0], most[1], most[2], most[3]};
}

std::string explain_choice(const mpi::Comm& comm, std::span<const int> destinations,
                           std::span<const Offset> bytes) {
  const mpi::Region region = comm.settings().sparse_exchange_region;
  const SparseLoad load = measure_load(comm, region, destinations, bytes);
  const mpi::Topology& regions = comm.regions(region);
  const mpi::SparseExchange& set = comm.settings().sparse_exchange;
  const SparseChoice choice = choose_sparse_exchange(regions, load, comm.sparse_costs(), region);
  const bool is_chosen = set.is_automatic();
  return fmt::format(
      "sparse exchange: {} ({})\n"
      "  ranks {}, {}s {}\n"
      "  most of any rank: {} messages, {} of them to {} others of these with {} bytes\n"
      "  {}{}\n",
      (is_chosen ? choice.algorithm : set).name(),
      is_chosen ? "chosen" : "set for this communicator", regions.n_ranks(), name_of(region),
      regions.n_nodes(), load.messages, load.messages_leaving, load.regions, load.bytes_leaving,
      is_chosen ? "" : fmt::format("by itself {}: ", choice.algorithm.name()), choice.reason);
}

}  // namespace nodewise::comm
