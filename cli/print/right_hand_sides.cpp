#include "cli/print/right_hand_sides.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "cli/print/progress.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

/// More lines than this of a table nobody reads.
constexpr std::size_t most_lines = 20;

/// Some columns of a block, side by side.
struct Columns {
  std::size_t first = 0;
  std::size_t count = 0;

  std::vector<double> of(std::span<const double> block, std::size_t width) const {
    std::vector<double> part;
    part.reserve(block.size() / width * count);
    for (std::size_t row = 0; row < block.size(); row += width) {
      const auto from = block.subspan(row + first, count);
      part.insert(part.end(), from.begin(), from.end());
    }
    return part;
  }
  void put(std::span<const double> part, std::span<double> block, std::size_t width) const {
    for (std::size_t i = 0; i < part.size(); ++i) {
      block[i / count * width + first + i % count] = part[i];
    }
  }
};

/// What is solved for in one go.
std::vector<Columns> groups_of(std::size_t n_rhs, bool at_once) {
  const std::size_t most = at_once ? solve::max_block_width : 1;
  const std::size_t n_groups = (n_rhs + most - 1) / most;
  std::vector<Columns> groups;
  for (std::size_t g = 0; g < n_groups; ++g) {
    const std::size_t first = n_rhs * g / n_groups;
    groups.push_back({first, n_rhs * (g + 1) / n_groups - first});
  }
  return groups;
}

std::string group_name(const Columns& group, std::size_t n_rhs) {
  if (group.count == 1) return fmt::format("right-hand side {} of {}", group.first + 1, n_rhs);
  return fmt::format("right-hand sides {} to {} of {}", group.first + 1, group.first + group.count,
                     n_rhs);
}

std::string range_text(int low, int high) {
  if (low == high) return counted(low, "iteration");
  return fmt::format("{} to {} iterations", low, high);
}

}  // namespace

bool solves_at_once(solve::Method method, int n_rhs) {
  return method == solve::Method::cg && n_rhs > 1;
}

void solve_all(const System& system, const solve::Operator<double>* preconditioner,
               const Settings& settings, Console& console, std::span<double> X,
               SolveRecord& record) {
  const mpi::Comm& comm = system.A->comm();
  const solve::MatrixOperator<double> A(system.A);
  const auto solve = [&](std::span<const double> b, std::span<double> x, std::size_t width) {
    const solve::Observer observe = iteration_progress(console);
    if (!record.at_once) {
      record.reports.push_back(solve::solve_by<double>(record.method, A, preconditioner, b, x,
                                                       settings.solver, observe));
      return;
    }
    std::vector<solve::Report> reports = solve::simultaneous_cg<double>(
        A, preconditioner, b, x, static_cast<int>(width), settings.solver, observe);
    std::move(reports.begin(), reports.end(), std::back_inserter(record.reports));
  };
  const auto k = static_cast<std::size_t>(system.n_rhs);
  const std::vector<Columns> groups = groups_of(k, record.at_once);
  if (groups.size() == 1) {
    solve(system.b, X, k);
  } else {
    for (const Columns& group : groups) {
      if (!console.is_live()) console.line("  " + group_name(group, k));
      const std::vector<double> b = mpi::collectively(comm, [&] { return group.of(system.b, k); });
      std::vector<double> x = mpi::collectively(comm, [&] { return group.of(X, k); });
      solve(b, x, group.count);
      group.put(x, X, k);
    }
  }
  record.worst = worst_of(record.reports);
}

void print_right_hand_sides(Console& console, const SolveRecord& record) {
  const std::size_t k = record.reports.size();
  if (k == 1) return;
  const bool all = k <= most_lines;
  Table table({"number", "iterations", "|b - A x| / |b|", "factor", "outcome"});
  std::size_t lines = 0;
  std::size_t left_out = 0;
  for (std::size_t c = 0; c < k; ++c) {
    const solve::Report& report = record.reports[c];
    if (!all && report.converged()) continue;
    if (lines == most_lines) {
      ++left_out;
      continue;
    }
    const double factor = average_convergence_factor(report);
    table.add_row({std::to_string(c + 1), std::to_string(report.iterations),
                   fmt::format("{:.3e}", report.true_relative_residual),
                   std::isfinite(factor) ? fmt::format("{:.3f}", factor) : "",
                   solve::to_string(report.outcome)});
    ++lines;
  }
  if (lines == 0) return;
  console.line(all ? "Right-hand sides" : "Right-hand sides that did not converge");
  for (const std::string& line : table.lines()) console.line(line);
  if (left_out > 0) console.line(fmt::format("  and {} more", left_out));
  console.line();
}

std::string right_hand_sides_text(const SolveRecord& record) {
  const std::vector<solve::Report>& reports = record.reports;
  const auto converged = std::count_if(reports.begin(), reports.end(),
                                       [](const solve::Report& r) { return r.converged(); });
  const auto [low, high] = std::minmax_element(
      reports.begin(), reports.end(),
      [](const solve::Report& a, const solve::Report& b) { return a.iterations < b.iterations; });
  return fmt::format("{} of {} converged, after {}", converged, reports.size(),
                     range_text(low->iterations, high->iterations));
}

Json right_hand_sides_json(const SolveRecord& record) {
  Json json = Json::array();
  for (const solve::Report& report : record.reports) {
    Json history = Json::array();
    for (const double residual : report.history) history.push_back(number(residual));
    json.push_back({{"outcome", solve::to_string(report.outcome)},
                    {"converged", report.converged()},
                    {"diagnosis", text_or_null(report.diagnosis)},
                    {"iterations", report.iterations},
                    {"rhs_norm", number(report.rhs_norm)},
                    {"reference_norm", number(report.reference_norm)},
                    {"target", number(report.target)},
                    {"true_relative_residual", number(report.true_relative_residual)},
                    {"average_convergence_factor", number(average_convergence_factor(report))},
                    {"history", history}});
  }
  return json;
}

}  // namespace nodewise::cli
