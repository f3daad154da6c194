#include "cli/print/overlap_tables.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using roofline::OverlapCase;
using roofline::OverlapRecord;
using roofline::OverRanks;

/// By whom and how: "task on 4 threads, route three_step".
std::string overlap_way(const OverlapCase& of) {
  std::string text =
      fmt::format("{} on {}", comm::overlap_name(of.mode), counted(of.threads, "thread"));
  return of.route.empty() ? text : text + ", route " + of.route;
}

double over_naive(const OverlapRecord& record, const OverlapCase& of) {
  return record.naive_of(of).kernel.times.median() / of.kernel.times.median();
}

/// "12 (11-14)": the median over the ranks, and their middle half, in microseconds.
std::string us_over_ranks(const OverRanks& times) {
  const auto text = [](double seconds) {
    const double us = seconds * 1e6;
    return fmt::format("{:.{}f}", us, us < 10 ? 1 : 0);
  };
  const std::string middle = text(times.median);
  const std::string low = text(times.lower_quartile), high = text(times.upper_quartile);
  return low == middle && high == middle ? middle : fmt::format("{} ({}-{})", middle, low, high);
}

std::string middle_half(const calibrate::Repeats& times) {
  return fmt::format("{}-{}", duration(times.quantile(0.25)), duration(times.quantile(0.75)));
}

/// One row of a table. The bound is the memory's: data that lie in a cache are not bound by it.
std::vector<std::string> overlap_row(const OverlapRecord& record, const OverlapCase& of) {
  const roofline::KernelRecord& kernel = of.kernel;
  const bool in_memory = !record.measured.is_in_cache(kernel).value_or(false);
  const double share = record.measured.share_of_bound(kernel);
  return {of.route.empty() ? "by level" : of.route,
          std::to_string(of.threads),
          comm::overlap_name(of.mode),
          duration(kernel.times.median()),
          middle_half(kernel.times),
          fmt::format("{:.2f}", over_naive(record, of)),
          kernel.has_traffic ? fmt::format("{:.2f}", kernel.flops_per_s() / 1e9) : "-",
          kernel.has_traffic && in_memory && std::isfinite(share)
              ? fmt::format("{:.0f} %", 100 * share)
              : "-",
          us_over_ranks(of.gather),
          us_over_ranks(of.work),
          us_over_ranks(of.wait),
          us_over_ranks(of.rest)};
}

void print_cases(Console& console, const OverlapRecord& record, const std::string& kernel,
                 int level, const std::string& title) {
  Table table({"route", "threads", "overlap", "time", "middle half", "times naive", "GFlop/s",
               "of the\nbound", "gather us", "work us", "wait us", "rest us"});
  for (const OverlapCase& of : record.cases) {
    if (of.kernel.name == kernel && of.kernel.level == level)
      table.add_row(overlap_row(record, of));
  }
  table.print(console, title);
}

void print_fastest(Console& console, const OverlapRecord& record, const std::string& kernel) {
  const OverlapCase* best = record.fastest(kernel, 0);
  if (best == nullptr) return;
  std::string text = fmt::format("Fastest {}: {}, {}", kernel, overlap_way(*best),
                                 duration(best->kernel.times.median()));
  if (best->mode != comm::Overlap::naive) {
    text += fmt::format("; {:.2f} times as fast as naive there", over_naive(record, *best));
  }
  console.line(text);
}

}  // namespace

void print_overlap(Console& console, const BenchRecord& all) {
  const OverlapRecord& record = *all.overlap;
  console.line(matrix_text(all.run.matrix));
  print_fastest(console, record, "product");
  print_fastest(console, record, "cycle");
  console.line();
  print_cases(console, record, "product", 0, "Products with the matrix");
  for (std::size_t l = 1; l < record.measured.levels.size(); ++l) {
    const amg::LevelInfo& info = record.measured.levels[l];
    print_cases(console, record, "product", static_cast<int>(l),
                fmt::format("Products on level {}: {}, {}", l, counted(info.rows, "row"),
                            counted(info.nonzeros, "nonzero")));
  }
  if (!record.measured.levels.empty()) print_cases(console, record, "cycle", 0, "Cycles");
  console.line(
      "gather, work, wait: medians over the ranks, and their middle half; with task, work");
  console.line("goes on meanwhile, and rest is what is outside of both");
  console.line(fmt::format("measured in {}", human_seconds(record.measured.seconds)));
}

}  // namespace nodewise::cli
