// Partitions that a file has.
#include <fmt/format.h>

#include "nodewise/base/text_field.hpp"
#include "nodewise/io/owner_file.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/partition_method.hpp"

namespace nodewise::partition {

namespace {

struct FileOptions {
  std::string partition_file;
};

std::span<const Field<FileOptions>> file_fields() {
  static const std::vector<Field<FileOptions>> fields = {
      text_field("partition_file", &FileOptions::partition_file, "file",
                 "a line for each row with the number of its rank, from 0 on; compressed by gzip, "
                 "too")
          .affecting(Affects::rows)};
  return fields;
}

std::vector<int> owners_by_file(const Partition& chosen, const PartitionTask& task) {
  const std::string& path = chosen.options<FileOptions>().partition_file;
  if (path.empty()) {
    throw Error(ErrorCode::invalid_argument, "`partition file` needs `partition_file`");
  }
  const comm::Layout& rows = task.A.rows();
  const std::vector<int> owners = io::read_owners(rows, path, task.topology.n_ranks());
  mpi::collectively(rows.comm(), [&] {
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const std::size_t first = i - i % static_cast<std::size_t>(task.unknowns);
      if (owners[i] == owners[first]) continue;
      const GlobalIndex row = rows.begin() - rows.first() + static_cast<GlobalIndex>(i) + 1;
      throw Error(ErrorCode::file_format,
                  fmt::format("{}: row {} is for rank {}, and the first row of its point, of {} "
                              "rows, for rank {}",
                              path, row, owners[i], task.unknowns, owners[first]));
    }
  });
  return owners;
}

}  // namespace

const PartitionMethod& file_partition() {
  static const PartitionMethod method = {
      {"file", "as a file says", "", own_options(file_fields), {}, {{"balance", {}}}},
      true,
      owners_by_file};
  return method;
}

}  // namespace nodewise::partition
