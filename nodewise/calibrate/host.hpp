// The processors of a host, as the kernel tells.
#pragma once

#include <vector>

#include "nodewise/model/machine.hpp"

namespace nodewise::calibrate {

struct Host {
  int cores = 1;
  int allowed_cores = 1;  ///< that this process may run on
  int sockets = 1;
  std::vector<model::Cache> caches;  ///< for data, of the first core; empty where not told
};

/// Local. Reads the affinity of the process and, on Linux, /sys.
Host describe_host();

}  // namespace nodewise::calibrate
