#include "cli/print/profile.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using Accounts = std::vector<mpi::SharedAccount>;

/// What a table shows depends on the machine: zeros everywhere are not worth a column.
struct Shape {
  int ranks;
  bool has_messages;
  bool has_nodes;
  bool has_domains;

  /// Three localities leave no room for them.
  bool has_busiest() const { return has_nodes && !has_domains; }
};

/// By level, what belongs to none last; on a level in the order of first use.
Accounts sorted(Accounts accounts) {
  std::stable_sort(accounts.begin(), accounts.end(), [](const auto& a, const auto& b) {
    // As unsigned numbers, no_level is the largest.
    return static_cast<unsigned>(a.level) < static_cast<unsigned>(b.level);
  });
  return accounts;
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.2f}", 1e3 * seconds);
}

std::vector<std::string> heads(const Shape& shape) {
  std::vector<std::string> all = {"level", "operation"};
  const auto append = [&](std::initializer_list<const char*> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (shape.has_domains) append({"domain\nmessages", "domain\nbytes"});
  if (shape.has_messages) append({"on-node\nmessages", "on-node\nbytes"});
  if (shape.has_nodes) append({"off-node\nmessages", "off-node\nbytes"});
  if (shape.has_busiest()) append({"busiest\nmessages", "busiest\nbytes"});
  if (shape.has_messages) append({"collec-\ntives", "communi-\ncating"});
  append({"compu-\nting"});
  return all;
}

std::vector<std::string> row(const Shape& shape, const std::string& level,
                             const mpi::SharedAccount& account) {
  const mpi::Counts& sum = account.sum;
  const auto number = [](std::int64_t n) { return n == 0 ? "-" : grouped(n); };
  const auto bytes = [](std::int64_t n) {
    return n == 0 ? "-" : human_bytes(static_cast<double>(n));
  };
  std::string name = account.operation.empty() ? "other" : account.operation;
  std::replace(name.begin(), name.end(), '_', ' ');
  std::vector<std::string> cells = {level, name};
  const auto append = [&](std::initializer_list<std::string> more) {
    cells.insert(cells.end(), more);
  };
  if (shape.has_domains) append({number(sum.messages_on_domain), bytes(sum.bytes_on_domain)});
  if (shape.has_messages) append({number(sum.messages_on_node), bytes(sum.bytes_on_node)});
  if (shape.has_nodes) append({number(sum.messages_off_node), bytes(sum.bytes_off_node)});
  if (shape.has_busiest()) {
    append({number(account.max.messages_off_node), bytes(account.max.bytes_off_node)});
  }
  if (shape.has_messages) {
    append({number(account.max.collectives), milliseconds(sum.communicating / shape.ranks)});
  }
  append({milliseconds(sum.computing / shape.ranks)});
  return cells;
}

/// The sum over all accounts; largest numbers of a rank do not add up and are left out.
std::vector<std::string> total_row(const Shape& shape, const Accounts& accounts) {
  std::vector<std::string> cells = row(shape, "", mpi::total(accounts));
  if (shape.has_busiest()) cells[6] = cells[7] = "";
  return cells;
}

void print_phase(Console& console, const std::string& title, const Accounts& accounts,
                 const Shape& shape) {
  Table table(heads(shape));
  int level = mpi::no_level - 1;
  for (const mpi::SharedAccount& account : sorted(accounts)) {
    const std::string name = account.level == mpi::no_level ? "-" : std::to_string(account.level);
    table.add_row(row(shape, account.level == level ? "" : name, account));
    level = account.level;
  }
  table.add_row(total_row(shape, accounts));
  table.print(console, title);
}

/// How many steps wait for the network, and where most: the tables have no room for it.
void print_waits(Console& console, const Accounts& accounts) {
  Accounts most = accounts;
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.max.waits > b.max.waits; });
  std::string text;
  constexpr std::size_t shown = 3;
  for (std::size_t k = 0; k < std::min(shown, most.size()); ++k) {
    const mpi::SharedAccount& account = most[k];
    const std::string level =
        account.level == mpi::no_level ? "" : fmt::format(" on level {}", account.level);
    text += fmt::format("{}{} {}{}", k == 0 ? "" : ", ", account.max.waits,
                        account.operation.empty() ? "other" : account.operation, level);
  }
  std::replace(text.begin(), text.end(), '_', ' ');
  console.line(fmt::format("  waits for the network, one after another: {}",
                           mpi::total(accounts).max.waits));
  console.line(fmt::format("  most of them: {}", text));
}

std::string decimal(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

/// What the local kernels moved a run, how fast, and what the memory would have allowed.
void print_kernels(Console& console, const roofline::SolveTraffic& traffic) {
  const bool known = traffic.bandwidth.has_value();
  std::vector<std::string> heads = {"level", "kernel",  "runs", "moves",
                                    "time",  "GFlop/s", "GB/s", "bytes\na flop"};
  if (known) heads.insert(heads.end(), {"of the\nbound", "kappa", "bytes a flop\nwith kappa"});
  Table table(heads);
  for (const roofline::SolveKernel& k : traffic.kernels) {
    const auto runs = static_cast<double>(k.runs);
    std::string name = k.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    std::vector<std::string> row = {std::to_string(k.level),
                                    name,
                                    grouped(k.runs),
                                    human_bytes(k.traffic.bytes() / runs),
                                    duration(k.seconds / runs),
                                    decimal(k.traffic.flops / k.seconds / 1e9, 2),
                                    decimal(k.traffic.bytes() / k.seconds / 1e9, 1),
                                    decimal(k.balance(), 2)};
    if (known) {
      row.insert(row.end(),
                 {decimal(100 * traffic.share_of_bound(k), 0) + " %", decimal(traffic.kappa(k), 2),
                  decimal(traffic.measured_balance(k), 2)});
    }
    table.add_row(std::move(row));
  }
  console.line("Solve: local kernels of all ranks, in one run; time is computing, the ranks' mean");
  table.print(console);
  if (!known) {
    console.line(
        "  bound: `nodewise calibrate --output m.json` (on one node with --base generic-cluster)");
    console.line("  measures the memory; with --machine m.json it stands here.");
    console.line("  `nodewise bench spmv` measures both at once.");
  }
}

void print_traffic(Console& console, const roofline::SolveTraffic& traffic) {
  if (!traffic.kernels.empty()) print_kernels(console, traffic);
  if (!traffic.not_counted.empty()) {
    console.line(fmt::format(
        "  {}not counted: {}",
        traffic.kernels.empty() ? "Local kernels: " : "The cycle: ", traffic.not_counted));
  }
  console.line();
}

std::string share(const Accounts& accounts) {
  const mpi::Counts sum = mpi::total(accounts).sum;
  const double all = sum.communicating + sum.computing;
  return fmt::format("{:.0f} %", all > 0 ? 100 * sum.communicating / all : 0);
}

}  // namespace

void print_profile(Console& console, const SolveRecord& record) {
  const bool several_nodes = record.machine.ranks_per_node.size() > 1;
  const bool divided = run::has_domains(record.machine);
  const Shape shape{record.machine.ranks, record.machine.ranks > 1, several_nodes, divided};
  const std::string what = shape.has_messages
                               ? ": what all ranks sent, and the mean time of a rank in ms"
                               : ": time in ms";
  print_phase(console, "Setup" + what, record.setup_accounts, shape);
  if (several_nodes) print_waits(console, record.setup_accounts);
  print_phase(console, "Solve" + what, record.solve_accounts, shape);
  if (record.traffic) print_traffic(console, *record.traffic);
  if (!several_nodes && !divided) return;
  if (divided) console.line("  domain: those of on-node that stayed in one domain");
  if (shape.has_busiest()) console.line("  busiest: the most that one rank sent off its node");
  if (several_nodes && record.machine.placement_given) {
    console.line("  The nodes are pretended, by --node-map or --ranks-per-node: the messages are");
    console.line("  those of such a machine, the times those of this one.");
  }
  console.line();
}

std::string communication_text(const SolveRecord& record) {
  return fmt::format("{} of the ranks' time in the setup, {} in the solve",
                     share(record.setup_accounts), share(record.solve_accounts));
}

void print_collectives(Console& console, const run::CollectiveChoices& choices) {
  console.line("Collective communication");
  print_entry(console, "dot products",
              fmt::format("{}: {}", choices.dot_products.algorithm, choices.dot_products.reason));
  print_entry(console, "sparse exchange",
              fmt::format("{}, on the finest level: {}", choices.sparse_exchange.algorithm,
                          choices.sparse_exchange.reason));
  console.line();
}

}  // namespace nodewise::cli
