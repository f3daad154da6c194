// One exchange over every route, its values and messages checked, its time by the simulated clock.
#pragma once

#include <string>
#include <vector>

#include "simulate/planned_exchange.hpp"

namespace nodewise::bench {

/// What became of one route; the same on every rank.
struct RouteTime {
  std::string route;
  double seconds = 0;             ///< from the common start to the end of the last rank
  std::int64_t max_off_node = 0;  ///< messages of the rank that sends most between nodes
  std::int64_t max_on_node = 0;
  std::int64_t sum_off_node = 0;  ///< messages of all ranks
  std::int64_t sum_on_node = 0;
  std::int64_t entries_off_node = 0;
  std::int64_t wrong_values = 0;  ///< ghosts that did not get their owner's value
  std::int64_t uncounted = 0;     ///< ranks that did not send what their plan announces
};

/// Collective. Lets every rank go on at the same instant, which it returns (of MPI_Wtime). Exact
/// where all ranks have one clock, as simulated ranks do: the end of a barrier is not.
double start_together(const mpi::Comm& comm);

/// Collective. Brings the ghosts over each route once and, by the name "ascending", over the direct
/// route with every rank sending to the lowest destination first.
std::vector<RouteTime> time_routes(const PlannedExchange& planned);

}  // namespace nodewise::bench
