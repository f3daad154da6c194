#include "nodewise/model/switch_cost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nodewise::model {

namespace {

/// Products with A_i that a level costs in a cycle.
constexpr double products = 5;
/// A gain below this part of all levels so far is not worth a risk.
constexpr double least_gain = 0.05;

constexpr double bytes_per_nonzero = 12;
constexpr double bytes_per_row = 8;
constexpr double bytes_per_entry = 8;  // of the vector

/// The steps of a binary tree over the processes of a group.
double tree_steps(const LevelOnProcesses& level, double groups) {
  return std::ceil(std::log2(std::max(1.0, level.active_processes / groups)));
}

}  // namespace

double stay_s(const LevelOnProcesses& level, double processes, double s_per_flop,
              const NetworkParameters& network) {
  return 2 * products * level.unknowns / processes * level.nonzeros_per_row * s_per_flop +
         products * (level.sends * network.latency_s + level.elements * network.s_per_double);
}

double collective_move_s(const LevelOnProcesses& level, double groups,
                         const NetworkParameters& network) {
  const double steps = tree_steps(level, groups);
  return 3 * steps * network.latency_s +
         level.unknowns / groups * (2 + steps) * network.s_per_double;
}

double moved_product_s(const LevelOnProcesses& level, double groups, double s_per_flop,
                       const NetworkParameters& network) {
  const double of_a_message = level.sends > 0 ? level.elements / level.sends : 0;
  return 2 * level.unknowns / groups * level.nonzeros_per_row * s_per_flop +
         (groups - 1) * (network.latency_s + of_a_message * network.s_per_double);
}

double switch_s(const LevelOnProcesses& level, double groups, double s_per_flop,
                const NetworkParameters& network) {
  return products * moved_product_s(level, groups, s_per_flop, network) +
         collective_move_s(level, groups, network);
}

double CacheRule::size_of(double rows, double nonzeros_per_row) const {
  if (cache_bytes <= 0) return 0;
  const double of_vector = bytes_per_entry * rows;
  const double of_all = of_vector + rows * (bytes_per_row + bytes_per_nonzero * nonzeros_per_row);
  if (of_all <= cache_bytes) return of_all / cache_bytes;
  if (of_vector > cache_bytes) return 2;
  // In the rows at which the matrix no longer fits, and the vector.
  const double first = cache_bytes * rows / of_all, last = cache_bytes / bytes_per_entry;
  return 1 + (rows - first) / (last - first);
}

bool CacheRule::forbids(double before, double after, double nonzeros_per_row) const {
  const double now = std::floor(std::min(size_of(before, nonzeros_per_row), 1.999));
  const bool is_largest = size_of(before, nonzeros_per_row) >= 2;
  return !is_largest && size_of(after, nonzeros_per_row) >= now + 0.5;
}

std::vector<SwitchCandidate> switch_candidates(const LevelOnProcesses& level, double s_per_flop,
                                               const NetworkParameters& network,
                                               const CacheRule& cache) {
  std::vector<SwitchCandidate> candidates;
  const double before = level.unknowns / level.active_processes;
  for (int groups = 1; groups < level.sends && groups < level.active_processes; groups *= 2) {
    if (cache.forbids(before, level.unknowns / groups, level.nonzeros_per_row)) continue;
    candidates.push_back({groups, switch_s(level, groups, s_per_flop, network)});
  }
  return candidates;
}

SwitchDecision decide_switch(const LevelOnProcesses& level, double processes, double s_per_flop,
                             const NetworkParameters& network, const CacheRule& cache,
                             double finer_s) {
  SwitchDecision decision;
  decision.stay_s = stay_s(level, processes, s_per_flop, network);
  const auto candidates = switch_candidates(level, s_per_flop, network, cache);
  const auto best = std::min_element(
      candidates.begin(), candidates.end(),
      [](const SwitchCandidate& a, const SwitchCandidate& b) { return a.seconds < b.seconds; });
  if (best == candidates.end()) return decision;
  decision.best = *best;
  const double gain = decision.stay_s - best->seconds;
  decision.pays = gain > 0 && gain >= least_gain * (finer_s + decision.stay_s);
  return decision;
}

std::vector<double> frozen_flop_times(std::vector<double> measured) {
  for (std::size_t i = 1; i < measured.size(); ++i) {
    if (measured[i] <= measured[i - 1]) continue;
    std::fill(measured.begin() + static_cast<std::ptrdiff_t>(i), measured.end(), measured[i - 1]);
  }
  return measured;
}

}  // namespace nodewise::model
