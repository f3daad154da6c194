// Matrix Market files, plain or compressed by gzip, as a format.
#include "nodewise/io/matrix_market.hpp"

#include <algorithm>

#include "nodewise/io/file_format.hpp"
#include "nodewise/io/matrix_market_body.hpp"

namespace nodewise::io::formats {

namespace {

/// Rows take memory whether they have entries or not.
MatrixSize announced_by_market(const std::shared_ptr<const mpi::Comm>& comm,
                               const std::string& path) {
  const MarketFile file(comm, path);
  const MarketHeader& header = file.header();
  const double smallest_line = header.format == MarketFormat::array ? 2 : 4;
  const double expansion = file.compressed() ? 1032 : 1;  // the most that deflate can do
  const double possible = expansion * static_cast<double>(file.file_bytes()) / smallest_line;
  const double entries = std::min(static_cast<double>(header.entries), possible);
  const double sides = header.symmetry == MarketSymmetry::general ? 1 : 2;
  return {static_cast<double>(header.rows), sides * entries};
}

template <class T>
FormatFunctions<T> market_functions() {
  return {
      .read_matrix = read_matrix_market<T>,
      .read_vector = [](const comm::Layout& layout,
                        const std::string& path) { return read_vector_market<T>(layout, path); },
      .read_vectors = [](const comm::Layout& layout,
                         const std::string& path) { return read_vectors_market<T>(layout, path); },
      .write_matrix = write_matrix_market<T>,
      .write_vector = write_vector_market<T>,
      .write_vectors = write_vectors_market<T>};
}

}  // namespace

const FileFormat& matrix_market_format() {
  static const FileFormat format = {
      {"matrix_market", "one entry a line, as text, plain or compressed by gzip",
       "Boisvert, Pozo, Remington 1996"},
      {.title = "Matrix Market",
       .file = "a Matrix Market file",
       .endings = std::vector<std::string>{".mtx", ".mtx.gz"},
       .recognise = nullptr,
       .refusal = [](std::span<const char>, bool) { return std::string(); },
       .announced_size = announced_by_market,
       .in_double = market_functions<double>(),
       .in_float = market_functions<float>()}};
  return format;
}

}  // namespace nodewise::io::formats
