#include "nodewise/io/read_options.hpp"

#include <fmt/format.h>

#include "nodewise/comm/points.hpp"
#include "nodewise/io/collective.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

Layout layout_for(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                  const char* what, const std::optional<Layout>& wanted, GlobalIndex n,
                  int together) {
  if (wanted && wanted->n_global() != n) {
    throw Error(
        ErrorCode::dimension_mismatch,
        fmt::format("{}: the matrix has {} {}, the layout {}", path, n, what, wanted->n_global()));
  }
  if (wanted) return *wanted;
  try {
    return comm::uniform_points(comm, n, together);
  } catch (const Error& error) {  // more than the ranks can count
    throw Error(error.code(), fmt::format("{}: {} {}: {}", path, n, what, error.what()));
  }
}

}  // namespace

MatrixLayouts choose_layouts(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                             GlobalIndex n_rows, GlobalIndex n_cols, const ReadOptions& options) {
  // Every rank decides on the same numbers: what one throws, all throw.
  const bool square = n_rows == n_cols;
  const auto& rows = options.rows || !square ? options.rows : options.cols;
  const auto& cols = options.cols || !square ? options.cols : options.rows;
  Layout row_layout = layout_for(comm, path, "rows", rows, n_rows, options.together);
  Layout col_layout = square && !rows
                          ? row_layout
                          : layout_for(comm, path, "columns", cols, n_cols, options.together);
  // Row pointers are the part of a matrix that a short file can make large.
  const std::int64_t pointers = 3 * std::int64_t{sizeof(Offset)} * row_layout.n_local();
  require_memory(*comm, pointers, fmt::format("{}: a matrix of {} rows", path, n_rows));
  return {std::move(row_layout), std::move(col_layout)};
}

}  // namespace nodewise::io
