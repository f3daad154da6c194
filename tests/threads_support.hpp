// Threads within a rank, for as long as a test needs them.
#pragma once

#include "nodewise/base/parallel.hpp"

#include "support.hpp"

namespace nodewise::test {

class Threads {
 public:
  explicit Threads(int n) { parallel::set_threads(n); }
  ~Threads() { parallel::set_threads(1); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
};

/// Many ranks with several threads each would take turns on few cores, for no more insight.
inline bool can_test_threads() {
  return parallel::available() && test_comm()->size() <= 2;
}

}  // namespace nodewise::test
