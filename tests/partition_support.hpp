// What tests of partitions share.
#pragma once

#include "nodewise/partition/partition_method.hpp"

namespace nodewise::test {

/// METIS may be missing from a build.
inline bool is_here(const partition::PartitionMethod& method) {
#ifdef NODEWISE_METIS
  return method.owners != nullptr;
#else
  return *method.name != "metis" && *method.name != "node_aware";
#endif
}

}  // namespace nodewise::test
