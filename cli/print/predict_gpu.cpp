#include "cli/print/predict_gpu.hpp"

#include <cmath>

#include <fmt/format.h>

#include "nodewise/base/format_numbers.hpp"
#include "nodewise/model/gpu_transport.hpp"

#include "cli/print/level_runs.hpp"
#include "cli/print/predict_summary.hpp"
#include "cli/print/summary.hpp"
#include "cli/print/tables.hpp"

namespace nodewise::cli {

namespace {

using predict::by_formula;
using predict::by_simulation;
using predict::CollectiveKind;
using predict::ExchangeTime;
using predict::GpuPrediction;
using predict::Prediction;
using predict::seconds;

std::string name_of(const GpuPrediction::Way& way) {
  return way.transport->name;
}

void print_cycles(Console& console, const GpuPrediction& gpu) {
  const std::string first = "always " + gpu.plain().routes.front().name();
  Table table({"exchanges of a cycle\nin microseconds", first + "\nformula", first + "\nsimulated",
               "best routes\nformula", "best routes\nsimulated"});
  const auto time = [](const ExchangeTime& cycle, std::size_t measure) {
    return microseconds(seconds(cycle, measure));
  };
  for (const GpuPrediction::Way& way : gpu.ways) {
    const Prediction& p = way.prediction;
    table.add_row({name_of(way), time(p.cycle(0), by_formula), time(p.cycle(0), by_simulation),
                   time(p.cycle(p.best(by_formula)), by_formula),
                   time(p.cycle(p.best(by_simulation)), by_simulation)});
  }
  table.add_row({"best of each level", "", "", time(gpu.cycle(gpu.best(by_formula)), by_formula),
                 time(gpu.cycle(gpu.best(by_simulation)), by_simulation)});
  table.print(console);
  console.line();
}

/// Whether a cycle exchanges vectors of a level, otherwise than to gather them.
bool exchanges(const GpuPrediction& gpu, std::size_t level) {
  const predict::Visits& visits = gpu.plain().levels[level].visits;
  return visits.products > 0 || visits.transfers > 0;
}

/// "level 0 one_core over direct, levels 1 to 3 many_cores over three_step"
std::string best_text(const GpuPrediction& gpu, std::size_t measure) {
  const GpuPrediction::Best best = gpu.best(measure);
  return by_levels(best.of_level.size(), [&](std::size_t l) {
    if (!exchanges(gpu, l)) return std::string("solved on the host");
    const auto& [way, route] = best.of_level[l];
    return fmt::format("{} over {}", name_of(gpu.ways[way]), gpu.plain().routes[route].name());
  });
}

std::string turn_text(const GpuPrediction& gpu, std::size_t level) {
  const GpuPrediction::CopiesWin& win = gpu.copies_win[level];
  if (!exchanges(gpu, level)) return "solved on the host";
  if (win.message_bytes == 0) return "without messages";
  if (win.messages == 0) return "never";
  return fmt::format("from {} on", counted(win.messages, "message"));
}

std::string mean_bytes(const GpuPrediction::CopiesWin& win) {
  return grouped(std::llround(win.message_bytes));
}

/// One cycle by one measure: every level by every way over every route.
void print_levels(Console& console, const GpuPrediction& gpu, std::size_t measure,
                  const std::string& title) {
  std::vector<std::string> heads = {"level", "mean bytes\nof a message", "way", "copies"};
  for (const comm::Route& route : gpu.plain().routes) heads.push_back(route.name());
  heads.insert(heads.end(), {"cheapest", "copies\nwin"});
  Table table(heads);
  table.align_last_left();
  const GpuPrediction::Best best = gpu.best(measure);
  for (std::size_t l = 0; l < best.of_level.size(); ++l) {
    for (std::size_t w = 0; w < gpu.ways.size(); ++w) {
      const auto time = [&](std::size_t route) {
        return gpu.of_cycle(l, {w, route}, best.gathering);
      };
      std::vector<std::string> row = {w == 0 ? std::to_string(l) : "",
                                      w == 0 ? mean_bytes(gpu.copies_win[l]) : "",
                                      name_of(gpu.ways[w]), microseconds(time(0).copies_s)};
      for (std::size_t k = 0; k < gpu.plain().routes.size(); ++k) {
        row.push_back(microseconds(seconds(time(k), measure)));
      }
      const auto& [way, route] = best.of_level[l];
      row.push_back(way == w && exchanges(gpu, l) ? gpu.plain().routes[route].name() : "");
      row.push_back(w == 0 ? turn_text(gpu, l) : "");
      table.add_row(std::move(row));
    }
  }
  table.print(console, title);
}

}  // namespace

void print_gpu_answer(Console& console, const predict::Result& result) {
  const GpuPrediction& gpu = *result.gpu;
  print_cycles(console, gpu);
  print_entry(console, "best ways", best_text(gpu, by_formula) + ", by formula");
  print_entry(console, "simulated", best_text(gpu, by_simulation));
  print_entry(console, "copies win", by_levels(gpu.copies_win.size(), [&](std::size_t l) {
                                       return turn_text(gpu, l);
                                     }) + ", where messages are as long as those of the level");
  for (const std::string& reason : gpu.unanswered) print_entry(console, "not known", reason);
  const Prediction& host = result.prediction;
  print_entry(
      console, "the setup",
      fmt::format(
          "is made on the host; it exchanges {} us by formula, {} simulated",
          microseconds(seconds(host.setup(host.best_for_setup(by_formula)), by_formula)),
          microseconds(seconds(host.setup(host.best_for_setup(by_simulation)), by_simulation))));
}

void print_gpu_tables(Console& console, const GpuPrediction& gpu) {
  print_levels(console, gpu, by_formula,
               "One cycle with vectors on GPUs, level by level, by formula, in microseconds");
  print_levels(console, gpu, by_simulation, "The same simulated");
}

}  // namespace nodewise::cli
