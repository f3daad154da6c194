#include "cli/print/devices.hpp"

#include "cli/print/level_runs.hpp"
#include "cli/print/summary.hpp"

namespace nodewise::cli {

void print_ways(Console& console, const solver::SolveRecord& record) {
  if (!record.device || record.device->ways.empty()) return;
  console.line("How data leave the device");
  const auto& ways = record.device->ways;
  const auto are_alike = [&](std::size_t l, std::size_t first) { return ways[l] == ways[first]; };
  for (const LevelRun& run : level_runs(ways.size(), are_alike)) {
    const auto& [name, reason] = ways[run.first];
    print_entry(console, run.levels, reason.empty() ? name : name + ": " + reason);
  }
  console.line();
}

}  // namespace nodewise::cli
