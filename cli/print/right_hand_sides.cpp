#include "cli/print/right_hand_sides.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/print/progress.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

/// More lines than this of a table nobody reads.
constexpr std::size_t most_lines = 20;

std::string group_name(const solver::RhsGroup& group) {
  if (group.count == 1) return fmt::format("right-hand side {} of {}", group.first + 1, group.of);
  return fmt::format("right-hand sides {} to {} of {}", group.first + 1, group.first + group.count,
                     group.of);
}

std::string range_text(int low, int high) {
  if (low == high) return counted(low, "iteration");
  return fmt::format("{} to {} iterations", low, high);
}

}  // namespace

solver::GroupObserver group_progress(Console& console) {
  return [&console](const solver::RhsGroup& group) {
    if (!console.is_live() && group.count < group.of) console.line("  " + group_name(group));
    return interruptible(iteration_progress(console));
  };
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
    const double factor = solver::average_convergence_factor(report);
    table.add_row({std::to_string(c + 1), std::to_string(report.iterations),
                   fmt::format("{:.3e}", report.true_relative_residual),
                   std::isfinite(factor) ? fmt::format("{:.3f}", factor) : "",
                   solve::to_string(report.outcome)});
    ++lines;
  }
  if (lines == 0) return;
  console.line(all ? "Right-hand sides" : "Right-hand sides that did not converge");
  table.print(console);
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

}  // namespace nodewise::cli
