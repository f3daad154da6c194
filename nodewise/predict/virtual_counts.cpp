#include "nodewise/predict/virtual_counts.hpp"

#include <algorithm>

#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/row_exchange.hpp"

namespace nodewise::predict {

namespace {

using comm::Traffic;
using Starts = std::span<const GlobalIndex>;

void add(Volume& volume, std::int64_t messages, std::int64_t bytes) {
  volume.max_messages = std::max(volume.max_messages, messages);
  volume.max_bytes = std::max(volume.max_bytes, bytes);
  volume.messages += messages;
  volume.bytes += bytes;
}

/// Counts exchanges of vectors with one number an entry.
RouteVolumes volumes_of_vectors(const std::vector<Traffic>& sent) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(double));
  RouteVolumes volumes;
  for (const Traffic& t : sent) {
    add(volumes.on_domain, t.messages_on_domain, bytes * t.entries_on_domain);
    add(volumes.on_node, t.messages_on_node, bytes * t.entries_on_node);
    add(volumes.off_node, t.messages_off_node, bytes * t.entries_off_node);
  }
  return volumes;
}

/// Counts exchanges of matrix rows: the lengths of all before them in the same message.
RouteVolumes volumes_of_rows(const std::vector<Traffic>& lengths,
                             const std::vector<Traffic>& rows) {
  constexpr auto length_bytes = static_cast<std::int64_t>(sizeof(Offset));
  constexpr auto word_bytes = static_cast<std::int64_t>(sizeof(matrix::RowWord<double>));
  RouteVolumes volumes;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Traffic& a = lengths[r];
    const Traffic& b = rows[r];
    add(volumes.on_domain, a.messages_on_domain,
        length_bytes * a.entries_on_domain + word_bytes * b.entries_on_domain);
    add(volumes.on_node, a.messages_on_node,
        length_bytes * a.entries_on_node + word_bytes * b.entries_on_node);
    add(volumes.off_node, a.messages_off_node,
        length_bytes * a.entries_off_node + word_bytes * b.entries_off_node);
  }
  return volumes;
}

VirtualCounts empty_record(const VirtualMachine& machine) {
  VirtualCounts record;
  record.routes = machine.routes;
  record.n_domains = machine.topology.domains().n_nodes();
  for (int node = 0; node < machine.topology.n_nodes(); ++node) {
    record.ranks_per_node.push_back(static_cast<int>(machine.topology.ranks_on(node).size()));
  }
  return record;
}

/// The level of these rows, of which nothing is counted yet.
LevelCounts level_of(Starts rows) {
  LevelCounts level;
  for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
    const GlobalIndex n = rows[r + 1] - rows[r];
    level.active_ranks += n > 0 ? 1 : 0;
    level.most_rows = std::max(level.most_rows, n);
  }
  return level;
}

/// What each rank sends in one reversed run of its plan.
std::vector<Traffic> reversed_traffic(std::span<const comm::Plan> plans,
                                      const mpi::Topology& topology) {
  std::vector<Traffic> sent(plans.size());
  comm::visit_reversed_messages(
      plans, topology, [&](std::size_t, int from, int to, std::int64_t entries) {
        sent[static_cast<std::size_t>(from)].add(topology, from, to, entries);
      });
  return sent;
}

/// Counts into the levels of a record.
ExchangeVisitor counter(VirtualCounts& record, const mpi::Topology& topology) {
  return [&record, &topology](const VirtualExchange& exchange) {
    const std::vector<Traffic> sent = exchange.is_reversed
                                          ? reversed_traffic(exchange.plans, topology)
                                          : comm::virtual_traffic(exchange.plans, topology);
    const bool of_rows = exchange.operation == CountedExchange::interpolation_rows;
    record.levels[exchange.level].volumes[static_cast<std::size_t>(exchange.operation)].push_back(
        of_rows ? volumes_of_rows(
                      sent, comm::virtual_record_traffic(exchange.plans, topology, exchange.rows))
                : volumes_of_vectors(sent));
  };
}

}  // namespace

VirtualCounts count_virtually(const amg::Hierarchy<double>& hierarchy,
                              const VirtualMachine& machine, const CountObserver& observe) {
  VirtualCounts record = empty_record(machine);
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    record.levels.push_back(level_of(hierarchy.virtual_starts(l)));
    record.levels.back().copies = hierarchy.levels()[l].copies;
  }
  visit_exchanges(hierarchy, machine, counter(record, machine.topology), observe);
  return record;
}

VirtualCounts count_virtually(const Matrix& A, Starts rows, const VirtualMachine& machine,
                              const CountObserver& observe) {
  VirtualCounts record = empty_record(machine);
  const bool is_square = A.rows() == A.cols();
  const std::vector<GlobalIndex> uniform =
      comm::uniform_starts(A.cols().n_global(), machine.topology.n_ranks());
  record.levels.push_back(level_of(rows));
  visit_exchanges(A, rows, is_square ? rows : Starts(uniform), machine,
                  counter(record, machine.topology), observe);
  return record;
}

}  // namespace nodewise::predict
