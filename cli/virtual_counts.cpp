#include "cli/virtual_counts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/timer.hpp"
#include "nodewise/comm/virtual_ranks.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/matrix/virtual_ranks.hpp"

#include "cli/machine.hpp"

namespace nodewise::cli {

namespace {

using comm::Route;
using comm::Traffic;
using Starts = std::span<const GlobalIndex>;

std::vector<Route> parse_routes(const std::string& text) {
  const std::string underscored = [&] {
    std::string copy = text;
    std::replace(copy.begin(), copy.end(), '-', '_');
    return copy + ",";
  }();
  std::vector<Route> routes;
  for (std::size_t at = 0; at < underscored.size();) {
    const std::size_t comma = underscored.find(',', at);
    const std::string name = underscored.substr(at, comma - at);
    at = comma + 1;
    bool known = false;
    for (const Route route : {Route::direct, Route::two_step, Route::three_step}) {
      if (name != comm::to_string(route)) continue;
      known = true;
      if (std::find(routes.begin(), routes.end(), route) != routes.end()) {
        throw Failure(ExitCode::usage, fmt::format("--routes: {} is named twice", name));
      }
      routes.push_back(route);
    }
    if (!known) {
      throw Failure(ExitCode::usage,
                    fmt::format("--routes: '{}' is none of direct, two_step, three_step", name));
    }
  }
  return routes;
}

void add(Volume& volume, std::int64_t messages, std::int64_t bytes) {
  volume.max_messages = std::max(volume.max_messages, messages);
  volume.max_bytes = std::max(volume.max_bytes, bytes);
  volume.messages += messages;
  volume.bytes += bytes;
}

/// Of vectors with one number an entry.
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

/// Of matrix rows: the lengths of all in a message of their own, then the rows.
RouteVolumes volumes_of_rows(const std::vector<Traffic>& lengths,
                             const std::vector<Traffic>& rows) {
  constexpr auto length_bytes = static_cast<std::int64_t>(sizeof(Offset));
  constexpr auto entry_bytes = static_cast<std::int64_t>(sizeof(matrix::RowEntry<double>));
  RouteVolumes volumes;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Traffic& a = lengths[r];
    const Traffic& b = rows[r];
    add(volumes.on_domain, a.messages_on_domain + b.messages_on_domain,
        length_bytes * a.entries_on_domain + entry_bytes * b.entries_on_domain);
    add(volumes.on_node, a.messages_on_node + b.messages_on_node,
        length_bytes * a.entries_on_node + entry_bytes * b.entries_on_node);
    add(volumes.off_node, a.messages_off_node + b.messages_off_node,
        length_bytes * a.entries_off_node + entry_bytes * b.entries_off_node);
  }
  return volumes;
}

/// Counts one level.
class LevelCount {
 public:
  LevelCount(const VirtualMachine& machine, std::size_t level, const CountObserver& observe)
      : machine_(machine), level_(level), observe_(observe) {}

  /// Rows are spread as `rows` says, the vectors that A multiplies as `cols`. The rows of P, if
  /// there is one, go the way of A's ghosts.
  void count_product(const Matrix& A, const Matrix* P, Starts rows, Starts cols) {
    for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
      const GlobalIndex n = rows[r + 1] - rows[r];
      result_.active_ranks += n > 0 ? 1 : 0;
      result_.most_rows = std::max(result_.most_rows, n);
    }
    count(Operation::product, A, P, rows, cols);
  }
  void count_interpolation(const Matrix& P, Starts fine, Starts coarse) {
    count(Operation::interpolation, P, nullptr, fine, coarse);
  }
  VirtualLevel take() { return std::move(result_); }

 private:
  void count(Operation operation, const Matrix& M, const Matrix* P, Starts rows, Starts cols) {
    const Timer timer;
    double rows_seconds = 0;
    const mpi::Topology& topology = machine_.topology;
    const std::vector<comm::Pattern> patterns =
        comm::virtual_patterns(cols, matrix::virtual_ghosts(M.on(), rows, cols));
    for (const Route route : machine_.routes) {
      const std::vector<comm::Plan> plans = comm::virtual_plans(patterns, topology, route);
      const std::vector<Traffic> sent = comm::virtual_traffic(plans, topology);
      volumes(operation).push_back(volumes_of_vectors(sent));
      if (P == nullptr) continue;
      const Timer rows_timer;
      volumes(Operation::interpolation_rows)
          .push_back(volumes_of_rows(
              sent, comm::virtual_record_traffic(plans, topology, P->on().row_ptr)));
      rows_seconds += rows_timer.seconds();
    }
    observe_(level_, operation, timer.seconds() - rows_seconds);
    if (P != nullptr) observe_(level_, Operation::interpolation_rows, rows_seconds);
  }

  std::vector<RouteVolumes>& volumes(Operation operation) {
    return result_.volumes[static_cast<std::size_t>(operation)];
  }

  const VirtualMachine& machine_;
  std::size_t level_;
  const CountObserver& observe_;
  VirtualLevel result_;
};

VirtualRecord empty_record(const VirtualMachine& machine) {
  VirtualRecord record;
  record.routes = machine.routes;
  record.n_domains = machine.topology.domains().n_nodes();
  for (int node = 0; node < machine.topology.n_nodes(); ++node) {
    record.ranks_per_node.push_back(static_cast<int>(machine.topology.ranks_on(node).size()));
  }
  return record;
}

}  // namespace

VirtualMachine virtual_machine(const Settings& settings) {
  return {place_virtual_ranks(settings), parse_routes(settings.virtual_machine.routes)};
}

VirtualRecord count_virtually(const amg::Hierarchy<double>& hierarchy,
                              const VirtualMachine& machine, const CountObserver& observe) {
  VirtualRecord record = empty_record(machine);
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    const Starts fine = hierarchy.virtual_starts(l);
    const Matrix* P = hierarchy.interpolation(l);
    LevelCount level(machine, l, observe);
    level.count_product(*hierarchy.matrix(l), P, fine, fine);
    if (P != nullptr) level.count_interpolation(*P, fine, hierarchy.virtual_starts(l + 1));
    record.levels.push_back(level.take());
  }
  return record;
}

VirtualRecord count_virtually(const Matrix& A, const VirtualMachine& machine,
                              const CountObserver& observe) {
  VirtualRecord record = empty_record(machine);
  const int n_ranks = machine.topology.n_ranks();
  LevelCount level(machine, 0, observe);
  level.count_product(A, nullptr, comm::uniform_starts(A.rows().n_global(), n_ranks),
                      comm::uniform_starts(A.cols().n_global(), n_ranks));
  record.levels.push_back(level.take());
  return record;
}

}  // namespace nodewise::cli
