// The results of a measurement of kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/calibrate/record.hpp"
#include "nodewise/model/code_balance.hpp"

namespace nodewise::roofline {

/// One kernel on one level; numbers are those of all ranks together.
struct KernelRecord {
  std::string name;
  int level = 0;
  int vectors = 1;
  bool single_precision = false;
  model::KernelTraffic traffic;
  bool has_traffic = true;   ///< false: a smoother whose traffic is not counted
  double nonzeros = 0;       ///< that the kernel reads
  double data_bytes = 0;     ///< that it works on, each counted once
  calibrate::Repeats times;  ///< of the slowest rank

  double bytes_per_s() const { return traffic.bytes() / times.median(); }
  double flops_per_s() const { return traffic.flops / times.median(); }
};

struct Record {
  std::vector<amg::LevelInfo> levels;
  std::vector<double> level_bytes;  ///< of each level's matrix
  double cache_bytes = 0;           ///< the last caches that the ranks can use; 0: not known
  double array_bytes = 0;           ///< one array of the triad
  calibrate::Repeats triad, reading;
  std::vector<KernelRecord> kernels;  ///< by level
  double seconds = 0;                 ///< that measuring took

  model::MemoryBandwidth bandwidth() const;
  /// Nothing where the caches are not known.
  std::optional<bool> is_in_cache(const KernelRecord& kernel) const;
  /// The time that the bandwidth allows over the time taken; NaN where nothing is counted.
  double share_of_bound(const KernelRecord& kernel) const;
  /// NaN where it says nothing: in a cache, or for several vectors.
  double kappa(const KernelRecord& kernel) const;
};

}  // namespace nodewise::roofline
