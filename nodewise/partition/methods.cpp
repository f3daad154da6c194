// The list of partitions. Each is described at the end of its own file.
#include "nodewise/partition/partition_method.hpp"

namespace nodewise::partition {

const PartitionMethod& no_partition();
const PartitionMethod& contiguous_partition();
const PartitionMethod& strided_partition();
const PartitionMethod& metis_partition();
const PartitionMethod& ptscotch_partition();
const PartitionMethod& node_aware_partition();
const PartitionMethod& file_partition();

Family<PartitionMethod>& PartitionMethod::family() {
  static Family<PartitionMethod> methods(
      "partition",
      {&no_partition(), &contiguous_partition(), &strided_partition(), &metis_partition(),
       &ptscotch_partition(), &node_aware_partition(), &file_partition()},
      {"automatic",
       "node_aware where a model says that it pays for the products of `expected_solves`, or "
       "none"});
  return methods;
}

}  // namespace nodewise::partition
