// The cores of this machine, and on which of them a thread may run, with hwloc.
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace nodewise {

/// A core that programs may use.
struct Core {
  int number = 0;               ///< among those of the machine, as hwloc counts them
  int domain = 0;               ///< of cores that share a memory (NUMA)
  std::vector<int> processors;  ///< its hardware threads, as the system numbers them; ascending
};

class Hardware {
 public:
  /// Whether this build was made with hwloc.
  static bool is_visible();
  /// Local. Reads the machine anew, in some milliseconds. Throws unsupported where the build was
  /// made without hwloc or the machine cannot be read.
  Hardware();
  ~Hardware();
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;

  /// In the order of hwloc: those of a socket, and of a domain, follow each other.
  const std::vector<Core>& cores() const { return cores_; }

  /// The processors that the calling thread may run on, ascending; empty where the system does not
  /// tell. Several threads may call it at once, and the next one.
  std::vector<int> processors_of_this_thread() const;
  /// From now on the calling thread runs on these alone. Returns whether the system did it.
  bool bind_this_thread(std::span<const int> processors) const;

 private:
  struct Topology;
  std::unique_ptr<Topology> topology_;
  std::vector<Core> cores_;
};

}  // namespace nodewise
