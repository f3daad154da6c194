// What several threads of a kernel may do to one number at once. On the host a kernel that uses
// this must give every such number to one index alone, or go through counts in one loop.
#pragma once

#include "nodewise/base/types.hpp"
#include "nodewise/device/space.hpp"

namespace nodewise::device {

/// *place += what; returns what there was.
NODEWISE_KERNEL LocalIndex add_to(LocalIndex* place, LocalIndex what) {
#ifdef __CUDA_ARCH__
  return atomicAdd(place, what);
#else
  return __atomic_fetch_add(place, what, __ATOMIC_RELAXED);
#endif
}

/// *place = what where it is `from`; returns what there was.
NODEWISE_KERNEL LocalIndex exchange_if(LocalIndex* place, LocalIndex from, LocalIndex what) {
#ifdef __CUDA_ARCH__
  return atomicCAS(place, from, what);
#else
  const LocalIndex before = *place;
  if (before == from) *place = what;
  return before;
#endif
}

}  // namespace nodewise::device
