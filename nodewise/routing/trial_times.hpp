// Trying several ways to do the same on all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "nodewise/mpi/comm.hpp"

namespace nodewise::routing {

/// The rounds of a trial that count.
inline constexpr std::size_t rounds_of_trial = 5;

/// Collective. For each of n ways the median of its seconds: all in turn, in each round another
/// first, of every run the slowest rank. run(k) is collective, and gives the seconds of way k on
/// this rank. The first round makes what is made once, and does not count. One reduction.
template <class Run>
std::vector<double> median_seconds(const mpi::Comm& comm, std::size_t n, Run&& run) {
  std::vector<double> slowest(n * rounds_of_trial);
  for (std::size_t round = 0; round <= rounds_of_trial; ++round) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t which = (k + round) % n;
      const double seconds = run(which);
      if (round > 0) slowest[which * rounds_of_trial + round - 1] = seconds;
    }
  }
  mpi::max_in_place(comm, std::span(slowest));
  std::vector<double> medians;
  for (auto first = slowest.begin(); first != slowest.end();) {
    const auto end = first + static_cast<std::ptrdiff_t>(rounds_of_trial);
    const auto middle = first + static_cast<std::ptrdiff_t>(rounds_of_trial / 2);
    std::nth_element(first, middle, end);
    medians.push_back(*middle);
    first = end;
  }
  return medians;
}

}  // namespace nodewise::routing
