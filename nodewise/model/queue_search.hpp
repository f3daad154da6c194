// The cost of searching the queues of an MPI library for the messages that arrive.
#pragma once

#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// In which order n messages arrive, compared with that in which their receives are posted.
enum class Arrival {
  in_order,  ///< each is the first of the queue: the search is part of the latency
  random,    ///< n (n + 1) / 4 steps instead of n (n + 1) / 2: half of the worst
  observed,  ///< n^2 / 3 steps, two thirds of the worst: seen in sparse products (section 3.5)
  reversed   ///< the worst: each is the last of the queue, as where gamma was measured
};

/// The order assumed where nothing else is said, by the choice of routes and by `nodewise predict`.
inline constexpr Arrival usual_arrival = Arrival::observed;

/// Local. T_q = gamma n^2, in seconds, for n messages that reach a rank in one stage in the
/// reverse order (Bienz 2018, eq. 3.1); in others the share of it that their steps are.
double queue_search_s(const Machine& machine, double messages, Arrival arrival);

}  // namespace nodewise::model
