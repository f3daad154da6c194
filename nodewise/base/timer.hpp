// Wall-clock time of a phase, on this rank.
#pragma once

#include <chrono>

namespace nodewise {

class Timer {
 public:
  /// Seconds since construction or the last restart().
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace nodewise
