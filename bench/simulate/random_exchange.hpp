// A random sparse exchange: every rank has the same number of random destinations.
#pragma once

#include <vector>

#include "simulate/planned_exchange.hpp"

namespace nodewise::bench {

struct RandomExchange {
  int degree = 32;          ///< destinations of each rank, and as many sources
  LocalIndex entries = 16;  ///< in one message
  LocalIndex owned = 256;   ///< entries of each rank, of which a message takes a random window
};

/// Local. Sources come from random permutations of the ranks, so that each rank has as many
/// destinations as sources; a source that a rank draws twice, or itself, counts once or not at all.
WantedExchange random_exchange(int n_ranks, const RandomExchange& exchange);

}  // namespace nodewise::bench
