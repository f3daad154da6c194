// What tests of partitions share.
#pragma once

#include <string>

#include "nodewise/partition/partition_method.hpp"

namespace nodewise::test {

/// Whether a method can be asked without more: libraries may be missing from a build, and a file
/// has to be named.
inline bool is_here(const partition::PartitionMethod& method) {
  const std::string& name = method.name;
#ifndef NODEWISE_METIS
  if (name == "metis" || name == "node_aware") return false;
#endif
#ifndef NODEWISE_PTSCOTCH
  if (name == "ptscotch") return false;
#endif
  return name != "file";
}

}  // namespace nodewise::test
