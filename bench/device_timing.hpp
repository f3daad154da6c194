// Times of work on a device.
#pragma once

#include <string>
#include <vector>

#include "nodewise/base/timer.hpp"
#include "nodewise/device/queue.hpp"

#include "measure.hpp"

namespace nodewise::bench {

/// Seconds of some work on a queue, waited for.
template <class Space, class Work>
Spread seconds_of(device::Queue<Space>& queue, int repeats, Work&& work) {
  std::vector<double> samples;
  for (int k = -1; k < repeats; ++k) {  // the first is not counted
    queue.wait();
    const Timer timer;
    work();
    queue.wait();
    if (k >= 0) samples.push_back(timer.seconds());
  }
  return spread(samples);
}

inline std::string milliseconds(const Spread& s) {
  return to_text({1e3 * s.median, 1e3 * s.low, 1e3 * s.high}, 3);
}

}  // namespace nodewise::bench
