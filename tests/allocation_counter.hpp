// How often this process has asked for memory.
#pragma once

#include <cstdint>

namespace nodewise::test {

/// Whether allocations are counted: not under sanitizers, which count them themselves.
bool counts_allocations();

/// Calls of operator new so far.
std::int64_t allocations();

}  // namespace nodewise::test
