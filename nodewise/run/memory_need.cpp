#include "nodewise/run/memory_need.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "nodewise/io/read.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::run {

namespace {

/// Entries on their way to the owners of their rows, sent and received, and the matrix.
double text_bytes(const MatrixSize& size) {
  return 72 * size.nonzeros + 8 * size.rows;
}

/// Collective.
double bytes_of_file(const mpi::Comm& comm, const std::string& path) {
  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(path, ignored);
  return mpi::max(comm, ignored ? 0.0 : static_cast<double>(bytes));
}

}  // namespace

double matrix_bytes(const MatrixSize& size) {
  return 12 * size.nonzeros + 8 * size.rows;
}

double solve_bytes(const MatrixSize& size) {
  return 24 * size.nonzeros + 300 * size.rows;
}

double division_bytes(const MatrixSize& size, bool by_graph) {
  return by_graph ? 56 * size.nonzeros + 110 * size.rows : 24 * size.nonzeros + 50 * size.rows;
}

double virtual_rank_bytes(int n_virtual_ranks) {
  constexpr double bytes_of_a_rank = 1800;
  return bytes_of_a_rank * n_virtual_ranks;
}

FileNeed need_of_file(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path) {
  const auto announced_size = *io::format_of_content(*comm, path).announced_size;
  if (announced_size != nullptr) {
    const MatrixSize size = announced_size(comm, path);
    return {text_bytes(size), solve_bytes(size), size};
  }
  // A binary file is about as large as the matrix, and read in place: two and a half times that.
  const double of_file = bytes_of_file(*comm, path);
  return {2.5 * of_file, 2.5 * of_file, {0, of_file / 12}};
}

double numbers_in_file(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path) {
  if (path.empty()) return 0;
  const auto announced_size = *io::format_of_content(*comm, path).announced_size;
  return announced_size != nullptr ? announced_size(comm, path).nonzeros
                                   : bytes_of_file(*comm, path) / sizeof(double);
}

}  // namespace nodewise::run
