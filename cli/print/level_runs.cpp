#include "cli/print/level_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nodewise::cli {

std::vector<LevelRun> level_runs(
    std::size_t n, const std::function<bool(std::size_t level, std::size_t first)>& are_alike) {
  std::vector<LevelRun> runs;
  for (std::size_t first = 0, end = 0; first < n; first = end) {
    end = first + 1;
    while (end < n && are_alike(end, first)) ++end;
    runs.push_back({first, end - first == 1 ? fmt::format("level {}", first)
                                            : fmt::format("levels {} to {}", first, end - 1)});
  }
  return runs;
}

std::string by_levels(std::size_t n, const std::function<std::string(std::size_t level)>& say) {
  std::vector<std::string> texts;
  for (const LevelRun& run :
       level_runs(n, [&](std::size_t l, std::size_t first) { return say(l) == say(first); })) {
    texts.push_back(fmt::format("{} {}", run.levels, say(run.first)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace nodewise::cli
