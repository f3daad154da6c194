#include "cli/print/summary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/base/version.hpp"
#include "nodewise/solver/ways_out.hpp"

#include "cli/inputs/system.hpp"
#include "cli/options/preset_text.hpp"
#include "cli/print/command_to_paste.hpp"
#include "cli/print/devices.hpp"
#include "cli/print/level_runs.hpp"
#include "cli/print/profile.hpp"
#include "cli/print/right_hand_sides.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

constexpr std::size_t label_width = 17;
constexpr std::size_t page_width = 98;
/// Of the table of levels, without --details.
constexpr std::size_t most_levels = 10;

std::string nodes_text(const run::Environment& machine) {
  const auto [low, high] =
      std::minmax_element(machine.ranks_per_node.begin(), machine.ranks_per_node.end());
  const auto n_nodes = std::ssize(machine.ranks_per_node);
  std::string text = counted(machine.ranks, "rank") + " on " + counted(n_nodes, "node");
  if (*low != *high) text += fmt::format(" of {} to {} ranks", *low, *high);
  if (run::has_domains(machine)) text += " with " + counted(machine.domains, "domain");
  if (machine.domains_wanted && !run::has_domains(machine)) {
    text += ", in which no two ranks are bound to different domains";
  }
  if (machine.threads > 1) text += fmt::format(", {} threads each", machine.threads);
  if (!machine.bound_to.empty()) {
    text += fmt::format(", bound to {}{}", machine.bound_to, machine.ranks > 1 ? " (rank 0)" : "");
  }
  if (machine.crowd > 0) {
    text += fmt::format(" ({} on {}: mostly waiting)",
                        counted(machine.crowd, machine.threads > 1 ? "thread" : "rank"),
                        counted(machine.crowd_cores, "core"));
  }
  return text + (machine.placement_given ? " (placement as given)" : "");
}

std::string rhs_text(const SolveRecord& record, const Settings& settings) {
  const int first_seed = settings.rhs.rhs_seed;
  switch (record.rhs) {
    case solver::RhsKind::given:
      break;
    case solver::RhsKind::file:
      return record.n_rhs == 1 ? settings.rhs.rhs
                               : fmt::format("{}: {} columns", settings.rhs.rhs, record.n_rhs);
    case solver::RhsKind::problem:
      return "that of the model problem";
    case solver::RhsKind::random:
      if (record.n_rhs > 1) {
        return fmt::format("{} columns of standard normal random numbers, seeds {} to {}",
                           record.n_rhs, first_seed, std::int64_t{first_seed} + record.n_rhs - 1);
      }
      return fmt::format("standard normal random numbers, seed {}", first_seed);
    case solver::RhsKind::ones:
      return "b = A 1, which x = 1 everywhere solves";
    case solver::RhsKind::consistent:
      return "b = A x* with random x*, because A 1 = 0: the matrix is singular, the solution is "
             "known up to a constant";
  }
  return "";
}

std::string method_text(const SolveRecord& record) {
  const bool symmetric = record.matrix.symmetric, negative = record.matrix.negative;
  std::string text = solve::title_of(record.method);
  if (record.n_rhs > 1) {
    text += record.at_once ? " for all right-hand sides at once"
                           : " for one right-hand side after another";
  }
  if (record.preconditioner == "amg") text += ", preconditioned by algebraic multigrid";
  if (record.preconditioner == "jacobi") text += ", preconditioned by the diagonal";
  if (!record.preconditioner_text.empty()) {
    text += ", preconditioned by " + record.preconditioner_text;
  }
  if (record.preconditioner == "none") text += ", not preconditioned";
  if (record.preconditioner == "direct") text += ", preconditioned by its factors";
  if (record.preconditioner == "fields") text += ", preconditioned by a cycle for each field";
  if (record.preconditioner == "cpr") text += ", preconditioned by pressures, then by blocks";
  std::string reason = record.solver_was_chosen ? "hence the method" : "the method as asked";
  if (record.solver_was_chosen && symmetric && !negative &&
      !record.method->needs_symmetric_preconditioner) {
    reason = "the preconditioner is not";  // asked to be so by its options
  }
  if (record.preset.set_solver) reason = "the method is the preset's";
  return fmt::format("{}; the matrix is {}, {}", text,
                     negative    ? "symmetric with a negative diagonal"
                     : symmetric ? "symmetric"
                                 : "not symmetric",
                     reason);
}

/// Where the solve runs, and what that needs.
std::string device_text(const solver::DeviceRecord& device) {
  std::string text = device.name;
  if (!device.set.empty()) text += "; sets " + option_words(device.set);
  return text;
}

std::string unused_text(const std::vector<solver::UnusedOption>& options) {
  std::string text;
  for (const solver::UnusedOption& option : options) {
    text += fmt::format("{}--{} (needs {})", text.empty() ? "" : ", ", with_dashes(option.name),
                        option.needs);
  }
  return text;
}

/// The messages of no level of one rank are worth two columns of zeros.
bool has_traffic(const SolveRecord& record) {
  return record.machine.ranks > 1;
}

bool was_tried(const amg::LevelInfo& info) {
  return info.transport_choice && !info.transport_choice->trials.empty();
}

bool was_overlap_chosen(const amg::LevelInfo& info) {
  return info.overlap_choice && !info.overlap_choice->reason.empty();
}

bool was_chosen(const amg::LevelInfo& info) {
  return info.route_choice || info.setup_route_choice || was_tried(info) ||
         was_overlap_chosen(info) || info.redistribution_choice || info.sparsity_choice;
}

/// Where every level is direct and point to point that need not be said, unless it was found out.
bool has_routes(const SolveRecord& record) {
  return has_traffic(record) &&
         std::any_of(record.levels.begin(), record.levels.end(), [](const amg::LevelInfo& info) {
           const routing::LevelRoutes standard;
           return info.routes != standard || was_chosen(info);
         });
}

std::string route_text(const comm::Route& route, const comm::Transport& transport) {
  if (transport == comm::Transport()) return route.name();
  return fmt::format("{}, {}", route.name(), transport.name());
}

std::string routes_text(const routing::LevelRoutes& routes) {
  const std::string solve = route_text(routes.solve, routes.solve_transport);
  const std::string setup = route_text(routes.setup, routes.setup_transport);
  return setup == solve ? solve : fmt::format("{} (setup: {})", solve, setup);
}

std::vector<std::string> hierarchy_row(const SolveRecord& record, std::size_t l) {
  constexpr double value_bytes = sizeof(double);
  const amg::LevelInfo& info = record.levels[l];
  const double rows = static_cast<double>(std::max<GlobalIndex>(info.rows, 1));
  std::vector<std::string> row = {std::to_string(l), grouped(info.rows), grouped(info.nonzeros)};
  if (!run::has_domains(record.machine)) {
    row.push_back(fmt::format("{:.1f}", static_cast<double>(info.nonzeros) / rows));
  }
  if (!has_traffic(record)) return row;
  const comm::Traffic& traffic = info.traffic;
  const auto bytes = [](std::int64_t entries) {
    return human_bytes(value_bytes * static_cast<double>(entries));
  };
  row.push_back(ranks_text(info.active_ranks, info.copies));
  if (run::has_domains(record.machine)) {
    row.insert(row.end(), {grouped(traffic.messages_on_domain), bytes(traffic.entries_on_domain)});
  }
  row.insert(row.end(), {grouped(traffic.messages_on_node), bytes(traffic.entries_on_node),
                         grouped(traffic.messages_off_node), bytes(traffic.entries_off_node)});
  return row;
}

/// Whether --details would print more.
bool has_details(const SolveRecord& record) {
  return record.levels.size() > most_levels || record.reports.size() > 8 ||
         (has_traffic(record) &&
          std::any_of(record.levels.begin(), record.levels.end(), was_chosen));
}

std::string sparsity_text(const amg::LevelInfo& info) {
  const amg::Sparsity& sparsity = *info.sparsity;
  std::string text = fmt::format(
      "{} of {} left, {:.0f} %", grouped(info.nonzeros), grouped(sparsity.nonzeros),
      100 * static_cast<double>(info.nonzeros) / static_cast<double>(sparsity.nonzeros));
  const auto add = [&](const char* where, std::int64_t after, std::int64_t before) {
    if (before > 0) text += fmt::format("; {} {} of {}", where, grouped(after), grouped(before));
  };
  add("messages on nodes", sparsity.after.messages_on_node, sparsity.before.messages_on_node);
  add("between nodes", sparsity.after.messages_off_node, sparsity.before.messages_off_node);
  return text;
}

/// After how many iterations which levels got entries back.
void print_entries_back(Console& console, const SolveRecord& record) {
  if (record.entries_back.empty()) return;
  console.line("Entries that came back");
  for (const solver::EntriesBack& event : record.entries_back) {
    std::string label =
        event.iteration == 0 ? "at the start" : fmt::format("iteration {}", event.iteration);
    if (record.n_rhs > 1) label = fmt::format("rhs {}, {}", event.rhs + 1, label);
    print_entry(console, label,
                fmt::format("on level{} {}", event.levels.size() == 1 ? "" : "s",
                            fmt::join(event.levels, ", ")));
  }
  console.line();
}

/// What coarse matrices have lost.
void print_sparsity(Console& console, const SolveRecord& record) {
  const auto has_lost = [](const amg::LevelInfo& info) { return info.sparsity != nullptr; };
  if (std::none_of(record.levels.begin(), record.levels.end(), has_lost)) return;
  console.line("Entries of coarse matrices, and direct messages of a product with them");
  for (std::size_t l = 0; l < record.levels.size(); ++l) {
    if (!has_lost(record.levels[l])) continue;
    print_entry(console, fmt::format("level {}", l), sparsity_text(record.levels[l]));
  }
  console.line();
}

/// Apart from the table, in whose lines long names find no room; levels of one route on one line.
void print_routes(Console& console, const std::vector<amg::LevelInfo>& levels) {
  console.line("Routes of the exchanges, and transports other than point_to_point");
  const auto are_alike = [&](std::size_t l, std::size_t first) {
    return levels[l].routes == levels[first].routes;
  };
  for (const LevelRun& run : level_runs(levels.size(), are_alike)) {
    print_entry(console, run.levels, routes_text(levels[run.first].routes));
  }
  console.line();
}

/// Where the costs are from that routes were chosen by; empty where none were asked.
std::string basis_of_routes(const std::vector<amg::LevelInfo>& levels) {
  for (const amg::LevelInfo& info : levels) {
    for (const auto& choice : {info.route_choice, info.setup_route_choice}) {
      if (choice && !choice->basis.empty()) return choice->basis;
    }
  }
  return {};
}

/// Why the levels have their routes and transports, where these were chosen.
void print_choices(Console& console, const std::vector<amg::LevelInfo>& levels) {
  const bool has_cycles = std::any_of(levels.begin(), levels.end(), [](const amg::LevelInfo& info) {
    return info.redistribution_choice || info.sparsity_choice;
  });
  console.line(has_cycles
                   ? "Why: routes by the time of one exchange, ranks and entries by that of a cycle"
                   : "Why, by the time of one exchange");
  const std::string basis = basis_of_routes(levels);
  if (!basis.empty()) print_entry(console, "routes by", basis);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const amg::LevelInfo& info = levels[l];
    if (info.redistribution_choice) {
      print_entry(console, fmt::format("level {} ranks", l), info.redistribution_choice->reason);
    }
    if (info.sparsity_choice) {
      print_entry(console, fmt::format("level {} entries", l), info.sparsity_choice->reason);
    }
    if (info.route_choice) {
      print_entry(console, fmt::format("level {}", l),
                  fmt::format("{}, {}", info.routes.solve.name(), info.route_choice->reason));
    }
    if (info.setup_route_choice) {
      print_entry(console, fmt::format("level {} setup", l),
                  fmt::format("{}, {}", info.routes.setup.name(), info.setup_route_choice->reason));
    }
    if (was_tried(info)) {
      print_entry(
          console, fmt::format("level {} sent by", l),
          fmt::format("{}, {}", info.routes.solve_transport.name(), info.transport_choice->reason));
    }
    if (was_overlap_chosen(info)) {
      print_entry(
          console, fmt::format("level {} overlap", l),
          fmt::format("{}, {}", comm::overlap_name(info.overlap), info.overlap_choice->reason));
    }
  }
  const amg::LevelInfo& finest = levels.front();
  if (finest.transport_choice && !was_tried(finest)) {
    print_entry(console, "sent by",
                fmt::format("{}, {}", finest.routes.solve_transport.name(),
                            finest.transport_choice->reason));
  }
  console.line();
}

/// How the one right-hand side went, or the worst of several.
std::string course_text(const SolveRecord& record) {
  const solve::Report& report = record.report();
  const double factor = solver::average_convergence_factor(report);
  std::string text = " after " + counted(report.iterations, "iteration");
  if (std::isfinite(factor)) text += fmt::format(", average convergence factor {:.3f}", factor);
  return text;
}

/// The same of a solve that failed: its x is the best iterate, which may be much better than the
/// last.
std::string failed_course_text(const SolveRecord& record) {
  const solve::Report& report = record.report();
  if (report.history.empty()) return course_text(record);
  const double last = report.history.back();
  const double best = report.true_relative_residual;
  const bool is_plain = report.norm == solve::ResidualNorm::unpreconditioned;
  std::string text =
      fmt::format(": {} {:.1e} after {}", is_plain ? "residual" : "tested norm of the residual",
                  last, counted(report.iterations, "iteration"));
  if (is_plain && best < 0.9 * last) text += fmt::format("; the best iterate had {:.1e}", best);
  return text;
}

/// What was reached; and what was asked for, where that is the same norm.
std::string residual_text(const solve::Report& report, const Settings& settings) {
  std::string text =
      fmt::format("{:.3e}   |b - A x| / |b|, computed anew from x", report.true_relative_residual);
  if (report.norm != solve::ResidualNorm::unpreconditioned || report.history.empty()) return text;
  return fmt::format("{}; asked for {:.0e}{}", text, report.target,
                     report.target_is_absolute(settings.solver) ? ", the absolute tolerance" : "");
}

/// The norm that was tested, where that is another.
std::string tested_text(const solve::Report& report, const Settings& settings) {
  return fmt::format("{:.3e}   the same in the {} norm, which was tested; asked for {:.0e}{}",
                     report.history.back(), solve::to_string(report.norm), report.target,
                     report.target_is_absolute(settings.solver) ? ", the absolute tolerance" : "");
}

std::string error_text(const SolveRecord& record) {
  const bool constants = record.error->modulo_constants;
  const char* what = constants ? "|x - x*| / |x*|, up to a constant" : "|x - 1| / |1|";
  constexpr double another_solution = 0.01;  // of the size of x itself
  const bool is_another = record.converged() && record.error->relative > another_solution;
  return fmt::format("{:.3e}   {}{}", record.error->relative, what,
                     is_another ? ": x has the residual above and is another solution, for the "
                                  "matrix is singular or nearly so"
                                : "");
}

}  // namespace

void print_entry(Console& console, const std::string& label, const std::string& text) {
  bool first = true;
  for (const std::string& line : wrapped(text, page_width - label_width - 2)) {
    console.line(fmt::format("  {:<{}}{}", first ? label : "", label_width, line));
    first = false;
  }
}

std::string matrix_text(const run::MatrixSummary& matrix) {
  std::string text = matrix.source;
  if (!matrix.format.empty()) text += " (" + matrix.format + ")";
  if (matrix.graph_laplacian) text += ", its grounded graph Laplacian";
  if (matrix.duplicates > 0) {
    text += fmt::format("; {} added to an earlier one in the same place",
                        counted(matrix.duplicates, "entry", "entries"));
  }
  return text;
}

void print_machine(Console& console, const run::Environment& machine) {
  const BuildInfo build = build_info();
  const std::string text =
      fmt::format("nodewise {}, {}, {}", build.version, nodes_text(machine), machine.mpi_library);
  for (const std::string& line : wrapped(text, page_width)) console.line(line);
  console.line();
}

void print_partition(Console& console, const solver::MethodOptions& method) {
  const partition::Partition& partition = method.partition;
  if (!partition.is_automatic() && partition->moves_rows) {
    print_entry(console, "partition", fmt::format("{}: {}", partition.name(), *partition->summary));
  }
  const bool by_rows = method.balance == partition::Balance::rows;
  const bool has_shares = method.balance != partition::Balance::automatic;
  if (has_shares && (partition.is_automatic() || !partition->overrules("balance", ""))) {
    print_entry(console, "balance",
                fmt::format("ranks get equal shares of {}", by_rows ? "rows" : "nonzeros"));
  }
  const partition::Reordering& reorder = method.reorder;
  if (reorder->renumbers) {
    print_entry(console, "order", fmt::format("{}: {}", reorder.name(), *reorder->summary));
  }
}

void print_decision(Console& console, const std::optional<partition::PartitionDecision>& decision) {
  if (!decision) return;
  print_entry(console, "partition",
              fmt::format("automatic, {}: {}", decision->chosen, decision->reason));
}

void print_placement(Console& console, const partition::Placement& placement,
                     const std::optional<partition::PlacementGain>& gain) {
  if (!gain) return;
  std::string text = fmt::format("{}: {} of {} on other ranks", placement.name(),
                                 grouped(gain->moved_parts), counted(gain->n_parts, "part"));
  if (!gain->is_known) {
    text += "; nearly all parts need values of nearly all others";
  } else {
    text += fmt::format("; {} between nodes in a product instead of {}",
                        counted(gain->values_after, "value"), grouped(gain->values_before));
  }
  if (gain->seconds_after) {
    text += fmt::format("; {} for its messages, going straight, instead of {}, as predicted",
                        duration(*gain->seconds_after), duration(*gain->seconds_before));
  }
  print_entry(console, "placement", text);
}

bool deals_in_blocks(const Settings& settings) {
  return (*settings.method.placement->node_of_rank)(1, 4, 2) == 0;
}

void print_system(Console& console, const SolveRecord& record, const Settings& settings) {
  const run::MatrixSummary& matrix = record.matrix;
  const double per_row = static_cast<double>(matrix.nonzeros) / static_cast<double>(matrix.rows);
  console.line("Problem");
  print_entry(console, "matrix", matrix_text(matrix));
  print_entry(console, "size",
              fmt::format("{}, {}, {:.1f} a row", counted(matrix.rows, "row"),
                          counted(matrix.nonzeros, "nonzero"), per_row));
  print_entry(console, record.n_rhs == 1 ? "right-hand side" : "right-hand sides",
              rhs_text(record, settings));
  if (is_worth_telling(record.preset)) print_entry(console, "preset", preset_text(record.preset));
  if (record.device) print_entry(console, "device", device_text(*record.device));
  print_entry(console, "method", method_text(record));
  print_partition(console, record.options.method);
  if (!record.unused.empty()) print_entry(console, "without effect", unused_text(record.unused));
  console.line();
}

void print_hierarchy(Console& console, const SolveRecord& record, bool details) {
  if (record.partition_decision || record.placement_gain) {
    print_decision(console, record.partition_decision);
    print_placement(console, record.options.method.placement, record.placement_gain);
    console.line();
  }
  if (record.levels.empty()) return;
  std::vector<std::string> heads = {"level", "rows", "nonzeros"};
  // Three localities leave no room for what the lines of the setup have said already.
  if (!run::has_domains(record.machine)) heads.emplace_back("a row");
  if (has_traffic(record)) {
    heads.emplace_back("ranks");
    if (run::has_domains(record.machine)) {
      heads.insert(heads.end(), {"domain\nmessages", "domain\nbytes"});
    }
    for (const char* head :
         {"on-node\nmessages", "on-node\nbytes", "off-node\nmessages", "off-node\nbytes"}) {
      heads.emplace_back(head);
    }
  }
  Table table(heads);
  for (std::size_t l = 0; l < record.levels.size(); ++l) table.add_row(hierarchy_row(record, l));
  if (!details) table.shorten(most_levels);
  console.line(has_traffic(record) ? "Hierarchy, and what all ranks send in one product"
                                   : "Hierarchy");
  table.print(console);
  if (run::has_domains(record.machine)) {
    console.line("  domain: those of on-node that stay in one domain");
  }
  console.line(fmt::format(
      "  grid complexity {:.3f}, operator complexity {:.3f}, coarsest level: {}",
      record.grid_complexity, record.operator_complexity, record.levels.back().coarse_solver));
  if (record.precision.single || !record.precision.reason.empty()) {
    const bool in_part = record.precision.single && !record.levels.front().is_single_precision;
    console.line(fmt::format("  cycle in {} precision{}{}{}",
                             record.precision.single ? "single" : "double",
                             in_part ? " below level 0" : "",
                             record.precision.reason.empty() ? "" : ": ", record.precision.reason));
  }
  console.line();
  print_entries_back(console, record);
  print_sparsity(console, record);
  if (has_routes(record)) print_routes(console, record.levels);
  print_ways(console, record);
  const bool chosen = std::any_of(record.levels.begin(), record.levels.end(), was_chosen);
  if (details && chosen && has_traffic(record)) print_choices(console, record.levels);
}

void print_outcome(Console& console, const SolveRecord& record, const Settings& settings) {
  const solve::Report& report = record.report();
  console.line("Result");
  for (const solver::Attempt& attempt : record.attempts) {
    print_entry(console, "tried before", solver::why_given_up(attempt));
  }
  if (!record.attempts.empty()) {
    print_entry(console, "at last",
                fmt::format("preset {}: {}", with_dashes(record.preset.name), method_text(record)));
  }
  const std::string outcome = report.converged() ? "converged" : "NOT CONVERGED";
  const std::string course = report.converged() ? course_text(record) : failed_course_text(record);
  if (record.n_rhs > 1) {
    print_entry(console, "outcome",
                (report.converged() ? "" : outcome + ": ") + right_hand_sides_text(record));
    print_entry(console, "the worst", fmt::format("number {}{}", record.worst + 1, course));
  } else {
    print_entry(console, "outcome", outcome + course);
  }
  if (!report.converged()) {
    print_entry(console, "diagnosis",
                fmt::format("{}: {}", solve::to_string(report.outcome), report.diagnosis));
  }
  print_entry(console, "residual", residual_text(report, settings));
  if (report.norm != solve::ResidualNorm::unpreconditioned && !report.history.empty()) {
    print_entry(console, "tested norm", tested_text(report, settings));
  }
  if (record.error) print_entry(console, "error", error_text(record));
  print_entry(console, "time",
              fmt::format("read {}, setup {}, solve {}", human_seconds(record.times.read),
                          human_seconds(record.times.setup), human_seconds(record.times.solve)));
  if (record.machine.ranks > 1) {
    print_entry(
        console, "communication",
        communication_text(record) + (settings.result.profile ? "" : "; --profile says where"));
  }
  const auto megabytes = [](std::int64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  print_entry(
      console, "peak memory",
      fmt::format("{} on the largest rank, {} on all", megabytes(record.memory.peak_max_bytes),
                  megabytes(record.memory.peak_sum_bytes)));
  if (!record.solution_file.empty()) print_entry(console, "solution", record.solution_file);
  if (record.solution_file.empty() && !settings.result.output.empty()) {
    print_entry(console, "solution", "not written; --output-anyway writes the best iterate");
  }
  if (!settings.result.json.empty()) print_entry(console, "report", settings.result.json);
  if (has_details(record) && !settings.result.details) {
    print_entry(console, "more",
                "--details: every level and right-hand side, and why routes were chosen");
  }
}

}  // namespace nodewise::cli
