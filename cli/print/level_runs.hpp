// Successive levels of which the same is to be said.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace nodewise::cli {

struct LevelRun {
  std::size_t first;
  std::string levels;  ///< "level 0", "levels 1 to 3"
};

/// Local. The levels 0 .. n - 1 in runs of those that are like the first of their run.
std::vector<LevelRun> level_runs(
    std::size_t n, const std::function<bool(std::size_t level, std::size_t first)>& are_alike);

/// Local. "level 0 direct, levels 1 to 3 three_step", by what is said of each level.
std::string by_levels(std::size_t n, const std::function<std::string(std::size_t level)>& say);

}  // namespace nodewise::cli
