#include "cli/print/devices.hpp"

#include <fmt/format.h>

namespace nodewise::cli {

void print_ways(Console& console, const solver::SolveRecord& record) {
  if (!record.device || record.device->ways.empty()) return;
  console.line("How data leave the device");
  const auto& ways = record.device->ways;
  for (std::size_t l = 0; l < ways.size(); ++l) {
    std::size_t last = l;  // of levels that are alike
    while (last + 1 < ways.size() && ways[last + 1] == ways[l]) ++last;
    const std::string levels =
        last == l ? fmt::format("level {}", l) : fmt::format("levels {} to {}", l, last);
    console.line(fmt::format("  {:<16} {}{}{}", levels, ways[l].name,
                             ways[l].reason.empty() ? "" : ": ", ways[l].reason));
    l = last;
  }
  console.line();
}

}  // namespace nodewise::cli
