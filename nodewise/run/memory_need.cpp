#include "nodewise/run/memory_need.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "nodewise/io/matrix_market_body.hpp"
#include "nodewise/io/read.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::run {

namespace {

/// Entries on their way to the owners of their rows, sent and received, and the matrix.
double market_bytes(const MatrixSize& size) {
  return 72 * size.nonzeros + 8 * size.rows;
}

/// Collective. What a Matrix Market file announces, but no more entries than its bytes can hold: a
/// size line that lies is for the reader to report. Rows take memory whether they have entries or
/// not.
MatrixSize announced_size(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path) {
  const io::MarketFile file(comm, path);
  const io::MarketHeader& header = file.header();
  const double smallest_line = header.format == io::MarketFormat::array ? 2 : 4;
  const double expansion = file.compressed() ? 1032 : 1;  // the most that deflate can do
  const double possible = expansion * static_cast<double>(file.file_bytes()) / smallest_line;
  const double entries = std::min(static_cast<double>(header.entries), possible);
  const double sides = header.symmetry == io::MarketSymmetry::general ? 1 : 2;
  return {static_cast<double>(header.rows), sides * entries};
}

/// Collective.
double bytes_of_file(const mpi::Comm& comm, const std::string& path) {
  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(path, ignored);
  return mpi::max(comm, ignored ? 0.0 : static_cast<double>(bytes));
}

/// Collective.
bool is_market(const mpi::Comm& comm, const std::string& path) {
  return io::format_of_content(comm, path) == io::FileFormat::matrix_market;
}

}  // namespace

double matrix_bytes(const MatrixSize& size) {
  return 12 * size.nonzeros + 8 * size.rows;
}

double solve_bytes(const MatrixSize& size) {
  return 24 * size.nonzeros + 300 * size.rows;
}

double virtual_rank_bytes(int n_virtual_ranks) {
  constexpr double bytes_of_a_rank = 1800;
  return bytes_of_a_rank * n_virtual_ranks;
}

FileNeed need_of_file(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path) {
  if (is_market(*comm, path)) {
    const MatrixSize size = announced_size(comm, path);
    return {market_bytes(size), solve_bytes(size), size.rows};
  }
  // A binary file is about as large as the matrix, and read in place: two and a half times that.
  const double bytes = 2.5 * bytes_of_file(*comm, path);
  return {bytes, bytes, 0};
}

double numbers_in_file(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path) {
  if (path.empty()) return 0;
  return is_market(*comm, path) ? announced_size(comm, path).nonzeros
                                : bytes_of_file(*comm, path) / sizeof(double);
}

}  // namespace nodewise::run
