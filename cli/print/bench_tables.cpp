#include "cli/print/bench_tables.hpp"

#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"

#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using calibrate::Repeats;
using roofline::KernelRecord;
using roofline::Record;

std::string with_decimals(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

/// Half of what the middle half of all times spans, of the median.
std::string spread(const Repeats& times) {
  return with_decimals(100 * (times.quantile(0.75) - times.quantile(0.25)) / 2 / times.median(),
                       0) +
         " %";
}

std::string kernel_text(const KernelRecord& kernel) {
  std::string text = kernel.name;
  for (char& c : text) c = c == '_' ? ' ' : c;
  if (kernel.vectors > 1) text += fmt::format(", {} vectors", kernel.vectors);
  if (kernel.single_precision) text += ", single";
  return text;
}

void print_bandwidth(Console& console, const Record& record) {
  const model::MemoryBandwidth bandwidth = record.bandwidth();
  Table table({"memory", "GB/s", "+-"});
  table.add_row(
      {"triad", with_decimals(bandwidth.triad_bytes_per_s / 1e9, 1), spread(record.triad)});
  table.add_row(
      {"reading", with_decimals(bandwidth.reading_bytes_per_s / 1e9, 1), spread(record.reading)});
  console.line(fmt::format("Bandwidth, of arrays of {}; last caches {}",
                           human_bytes(record.array_bytes),
                           record.cache_bytes > 0 ? human_bytes(record.cache_bytes) : "not known"));
  table.print(console);
  if (record.cache_bytes > 0 && 3 * record.array_bytes < 2 * record.cache_bytes) {
    console.line("  The arrays fit the caches: this is no bandwidth of the memory; more --seconds");
    console.line("  make them longer.");
  }
  console.line();
}

std::string where(const Record& record, const KernelRecord& kernel) {
  const std::optional<bool> in_cache = record.is_in_cache(kernel);
  return !in_cache ? "-" : *in_cache ? "cache" : "memory";
}

/// The bound is the memory's: data that lie in a cache are not bound by it.
std::string share_text(const Record& record, const KernelRecord& kernel) {
  constexpr double with_noise = 1.1;
  if (!kernel.has_traffic) return "-";
  const double share = record.share_of_bound(kernel);
  const bool cached = record.is_in_cache(kernel).value_or(share > with_noise);
  return cached && share > 1 ? "cached" : with_decimals(100 * share, 0) + " %";
}

void print_level(Console& console, const Record& record, std::size_t level) {
  const amg::LevelInfo& info = record.levels[level];
  Table table(
      {"kernel", "data in", "moves", "time", "+-", "GFlop/s", "GB/s", "of the\nbound", "kappa"});
  for (const KernelRecord& kernel : record.kernels) {
    if (!std::cmp_equal(kernel.level, level)) continue;
    const bool counts = kernel.has_traffic;
    table.add_row({kernel_text(kernel), where(record, kernel),
                   counts ? human_bytes(kernel.traffic.bytes()) : "-",
                   duration(kernel.times.median()), spread(kernel.times),
                   counts ? with_decimals(kernel.flops_per_s() / 1e9, 2) : "-",
                   counts ? with_decimals(kernel.bytes_per_s() / 1e9, 1) : "-",
                   share_text(record, kernel), with_decimals(record.kappa(kernel), 2)});
  }
  table.print(console, fmt::format("Level {}: {}, {}, {}", level, counted(info.rows, "row"),
                                   counted(info.nonzeros, "nonzero"),
                                   human_bytes(record.level_bytes[level])));
}

}  // namespace

void print_bench(Console& console, const BenchRecord& all) {
  const Record& record = all.measured;
  console.line(matrix_text(all.run.matrix));
  console.line();
  print_bandwidth(console, record);
  for (std::size_t l = 0; l < record.levels.size(); ++l) print_level(console, record, l);
  console.line(fmt::format("measured in {}", human_seconds(record.seconds)));
}

void print_amg2023(Console& console, const BenchRecord& all) {
  const solver::Amg2023Record& record = *all.amg2023;
  const solver::Amg2023Problem& problem = record.problem;
  const std::string solves = record.solves() == 1 ? "solve" : "3 solve";
  console.line(fmt::format("Figure of merit {}: nnz_AP / (setup + {}), of AMG2023's problem {}",
                           record.converged ? fmt::format("{:.4g}", record.merit()) : "-", solves,
                           problem.number));
  print_entry(
      console, "problem",
      fmt::format("{}, {} points a rank", all.run.matrix.source, fmt::join(problem.points, " x ")));
  print_entry(
      console, "iterations",
      fmt::format("{} of {}, {}, relative residual {:.2g}", record.iterations, record.method,
                  record.converged ? "converged" : "not converged", record.relative_residual));
  print_entry(console, "nonzeros",
              fmt::format("{} of the matrix, {} of all {} and interpolations (nnz_AP)",
                          grouped(all.run.matrix.nonzeros),
                          grouped(static_cast<std::int64_t>(record.nonzeros_AP())),
                          counted(std::ssize(record.levels), "level")));
  print_entry(
      console, "setup",
      fmt::format("{}, nnz_AP / setup {:.4g}", duration(record.setup_s), record.setup_merit()));
  print_entry(
      console, "solve",
      fmt::format("{}, nnz_AP / solve {:.4g}", duration(record.solve_s), record.solve_merit()));
}

}  // namespace nodewise::cli
