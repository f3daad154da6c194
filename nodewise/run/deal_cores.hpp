// Which cores the threads of ranks get: pure functions of cores as data.
#pragma once

#include <span>
#include <vector>

#include "nodewise/base/hardware.hpp"

namespace nodewise::run {

/// Local. Deals cores to ranks that may all use the same ones. `domains[k]` is the domain of core
/// k; cores of a domain follow each other. `wanted[r]` is how many cores rank r needs, from 1.
/// Returns for every rank that many positions of cores, which follow each other and are no other
/// rank's. Ranks go over the domains in their order, evenly by cores, and none is in two of them
/// where as many ranks as there are of the largest kind fit in; where cores are left over, ranks
/// are apart. Throws invalid_argument where there are too few cores.
std::vector<std::vector<int>> deal_cores(std::span<const int> domains, std::span<const int> wanted);

enum class BindChoice { none, cores, siblings };

/// Local. Returns how many cores a rank of so many threads needs. Throws invalid_argument for
/// `siblings` and one thread.
int cores_needed(BindChoice choice, int threads);

/// Local. Returns the processors of each thread of a rank that has these cores. `cores`: thread t
/// gets all of core t. `siblings`: the first thread gets the second hardware thread of the first
/// core, thread t > 0 the first of core t - 1. Throws unsupported where the first core has no
/// second.
std::vector<std::vector<int>> processors_of_threads(std::span<const Core> cores, BindChoice choice);

}  // namespace nodewise::run
