// Partitions by the numbers of rows alone.
#include <algorithm>

#include "nodewise/comm/points.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/partition/partition_method.hpp"
#include "nodewise/partition/point_graph.hpp"

namespace nodewise::partition {

namespace {

GlobalIndex first_point(const PartitionTask& task) {
  return (task.A.rows().begin() - task.A.rows().first()) / task.unknowns;
}

std::size_t n_points(const PartitionTask& task) {
  return static_cast<std::size_t>(task.A.n_local() / task.unknowns);
}

/// Where the rows are, for as many ranks as there are.
std::vector<int> as_they_are(const Partition&, const PartitionTask& task) {
  return std::vector<int>(static_cast<std::size_t>(task.A.n_local()), task.A.comm().rank());
}

/// Point k goes to rank k mod P.
std::vector<int> strided_owners(const Partition&, const PartitionTask& task) {
  return mpi::collectively(task.A.comm(), [&] {
    std::vector<int> of_points;
    const GlobalIndex first = first_point(task);
    for (std::size_t k = 0; k < n_points(task); ++k) {
      const GlobalIndex point = first + static_cast<GlobalIndex>(k);
      of_points.push_back(static_cast<int>(point % task.topology.n_ranks()));
    }
    return for_rows(of_points, task.unknowns);
  });
}

std::int64_t nonzeros_of_point(const PartitionTask& task, std::size_t k) {
  std::int64_t nonzeros = 0;
  for (int u = 0; u < task.unknowns; ++u) {
    nonzeros += task.A.row_length(static_cast<LocalIndex>(k) * task.unknowns + u);
  }
  return nonzeros;
}

/// Points in their order, as much of what is to be balanced on each rank as can be.
std::vector<int> contiguous_owners(const Partition&, const PartitionTask& task) {
  const matrix::DistMatrix<double>& A = task.A;
  const bool by_rows = task.equal_rows || A.nnz_global() == 0;
  const std::int64_t mine = by_rows ? A.n_local() : A.nnz_local();
  const std::int64_t before = mpi::exclusive_sum<std::int64_t>(A.comm(), mine);
  return mpi::collectively(A.comm(), [&] {
    std::vector<int> of_points;
    const auto all = static_cast<double>(
        std::max<GlobalIndex>(1, by_rows ? A.rows().n_global() : A.nnz_global()));
    std::int64_t passed = before;
    for (std::size_t k = 0; k < n_points(task); ++k) {
      const std::int64_t weight = by_rows ? task.unknowns : nonzeros_of_point(task, k);
      // By the middle of the point, so that the parts are within half of one at each end of what
      // they should be.
      const double middle = static_cast<double>(passed) + static_cast<double>(weight) / 2;
      const int owner = static_cast<int>(middle / all * task.topology.n_ranks());
      of_points.push_back(std::clamp(owner, 0, task.topology.n_ranks() - 1));
      passed += weight;
    }
    return for_rows(of_points, task.unknowns);
  });
}

}  // namespace

std::vector<int> owners(const Partition& partition, const PartitionTask& task) {
  if (!(task.A.rows() == task.A.cols())) {
    throw Error(ErrorCode::dimension_mismatch,
                "partition: the matrix is not square, or its rows and columns are laid out "
                "differently");
  }
  comm::require_whole_points(task.A.rows(), task.unknowns);
  return (*partition->owners)(partition, task);
}

const PartitionMethod& no_partition() {
  static const PartitionMethod method = {
      {"none", "rows stay where they are", ""}, false, as_they_are};
  return method;
}

const PartitionMethod& contiguous_partition() {
  static const PartitionMethod method = {
      {"contiguous",
       "rows in their order, with as many nonzeros, or rows, on each rank as on the others", ""},
      true,
      contiguous_owners};
  return method;
}

const PartitionMethod& strided_partition() {
  static const PartitionMethod method = {
      {"strided",
       "row k on rank k mod P: the worst that can happen to most matrices",
       "Bienz 2018, section 5.5",
       no_options,
       {},
       {{"balance", {}}}},
      true,
      strided_owners};
  return method;
}

}  // namespace nodewise::partition
