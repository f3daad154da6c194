// Runs of the entrants of a comparison, one after the other in the same processes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "entrants.hpp"

namespace nodewise::bench {

/// What an entrant has done so far.
struct Record {
  std::vector<double> setup_s, solve_s, total_s;
  double asked = 0;  ///< the tolerance by its own test that gives the true residual wanted
  double residual = 0;
  double operator_complexity = 0;
  int iterations = 0;
  std::vector<PeerLevel> levels;
  std::string failure;

  bool solved() const { return failure.empty(); }
  double best_s() const;
  void forget_times();
};

/// Collective. A first run, whose times count like others; whoever tests the residual of its
/// recurrence is asked for less until the true one is small.
void warm_up(const System& system, const Entrant& entrant, Record& record);

/// Collective. So many runs of each of the entrants at these places, in turn, each time another
/// first.
void run_in_turn(const System& system, const std::vector<Entrant>& entrants,
                 std::span<const std::size_t> places, int repeats, std::vector<Record>& records);

}  // namespace nodewise::bench
