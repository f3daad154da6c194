// How much memory a matrix and the work on it take at least, told before anything is read.
#pragma once

#include <memory>
#include <string>

#include "nodewise/io/matrix_size.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::run {

using io::MatrixSize;

/// Local. Bytes of a matrix alone, and of a solve with it, as measured at its peak
/// (docs/exit-codes.md).
double matrix_bytes(const MatrixSize& size);
double solve_bytes(const MatrixSize& size);
/// Local. Bytes of a matrix whose rows are divided among ranks, by its graph or by their numbers,
/// and brought there, as measured at its peak with METIS.
double division_bytes(const MatrixSize& size, bool by_graph);

/// Local. What the patterns, plans and counts of virtual ranks take on each rank that lays them
/// out, as measured for routes of two and three steps.
double virtual_rank_bytes(int n_virtual_ranks);

/// What a matrix file takes, in bytes of all ranks.
struct FileNeed {
  double reading = 0;  ///< at the peak
  double solving = 0;  ///< with the matrix
  /// As the header announces it; of a binary file, whose header is not asked, nonzeros as its bytes
  /// say, and no rows.
  MatrixSize size;
};

/// Collective. Looks at the beginning of a file. One that is missing is for the reader to report.
FileNeed need_of_file(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path);

/// Collective. How many numbers the vectors of a file have; 0 of one without a name.
double numbers_in_file(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path);

}  // namespace nodewise::run
