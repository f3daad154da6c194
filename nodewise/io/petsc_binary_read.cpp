#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/base/row_text.hpp"
#include "nodewise/io/big_endian.hpp"
#include "nodewise/io/byte_source.hpp"
#include "nodewise/io/collective.hpp"
#include "nodewise/io/petsc_binary.hpp"
#include "nodewise/io/petsc_header.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

/// Reads integers of the file's width.
template <class To>
void read_integers(const InputFile& file, PetscIndex index, Offset offset, std::span<To> into) {
  const auto read = [&](Offset at, std::span<char> bytes) { file.read_all_at(at, bytes); };
  if (index == PetscIndex::bits64) {
    read_big_endian<std::int64_t>(read, offset, into);
  } else {
    read_big_endian<std::int32_t>(read, offset, into);
  }
}

template <class T>
void read_values(const InputFile& file, Offset offset, std::span<T> into) {
  read_big_endian<double>([&](Offset at, std::span<char> bytes) { file.read_all_at(at, bytes); },
                          offset, into);
}

/// This rank's rows as they stand in the file.
template <class T>
struct FileRows {
  std::vector<Offset> row_ptr;
  Array<GlobalIndex> cols;
  Array<T> vals;

  Offset entries() const { return row_ptr.back(); }
};

/// Row lengths become row_ptr.
std::vector<Offset> read_lengths(const InputFile& file, const PetscHeader& header,
                                 const Layout& rows) {
  std::vector<Offset> row_ptr(static_cast<std::size_t>(rows.n_local()) + 1, 0);
  const GlobalIndex first = rows.begin() - rows.first();
  read_integers(file, header.index, header.lengths_at(first), std::span(row_ptr).subspan(1));
  for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i) {
    if (row_ptr[i + 1] < 0 || row_ptr[i + 1] > header.nonzeros) {
      throw Error(ErrorCode::file_format,
                  fmt::format("{}, has length {}", row_text(first + static_cast<GlobalIndex>(i)),
                              row_ptr[i + 1]));
    }
    row_ptr[i + 1] += row_ptr[i];
  }
  return row_ptr;
}

template <class T>
void check_entries(const FileRows<T>& rows, const PetscHeader& header, GlobalIndex first_row) {
  for (std::size_t i = 0; i + 1 < rows.row_ptr.size(); ++i) {
    const GlobalIndex row = first_row + static_cast<GlobalIndex>(i);
    for (Offset k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (rows.cols[p] < 0 || rows.cols[p] >= header.cols) {
        throw Error(ErrorCode::file_format,
                    fmt::format("row {}, column {} (counted from 0): the last column is {}", row,
                                rows.cols[p], header.cols - 1));
      }
      if (!std::isfinite(rows.vals[p])) {
        throw Error(ErrorCode::file_format,
                    fmt::format("row {}, column {} (counted from 0): the value {} is not finite",
                                row, rows.cols[p], rows.vals[p]));
      }
    }
  }
}

/// Collective. Runs local work in file order and adds the path to its error.
template <class Work>
void in_file_order(const mpi::Comm& comm, const std::string& path, Work&& work) {
  share_first_error(comm, with_path(path, mpi::caught(std::forward<Work>(work))));
}

template <class T>
FileRows<T> read_rows(const InputFile& file, const PetscHeader& header, const Layout& layout,
                      const std::string& path) {
  const mpi::Comm& comm = layout.comm();
  FileRows<T> rows;
  in_file_order(comm, path, [&] { rows.row_ptr = read_lengths(file, header, layout); });
  const GlobalIndex before = mpi::exclusive_sum(comm, rows.entries());
  const GlobalIndex total = mpi::sum(comm, rows.entries());
  if (total != header.nonzeros) {
    throw Error(ErrorCode::file_format,
                fmt::format("{}: the rows have {} entries, but {} are announced", path, total,
                            header.nonzeros));
  }
  in_file_order(comm, path, [&] {
    rows.cols.resize(static_cast<std::size_t>(rows.entries()));
    rows.vals.resize(static_cast<std::size_t>(rows.entries()));
    read_integers(file, header.index, header.columns_at(before), std::span(rows.cols));
    read_values(file, header.values_at(before), std::span(rows.vals));
    check_entries(rows, header, layout.begin() - layout.first());
  });
  return rows;
}

}  // namespace

template <class T>
matrix::DistMatrix<T> read_petsc_matrix(const std::shared_ptr<const mpi::Comm>& comm,
                                        const std::string& path, const ReadOptions& options,
                                        ReadSummary* summary) {
  const PetscHeader header = read_petsc_header(*comm, path, PetscObject::matrix);
  const MatrixLayouts layouts = choose_layouts(comm, path, header.rows, header.cols, options);
  const auto file = mpi::collectively(*comm, [&] { return std::make_unique<InputFile>(path); });
  const FileRows<T> rows = read_rows<T>(*file, header, layouts.rows, path);
  auto A =
      matrix::matrix_from_rows<T>(layouts.rows, layouts.cols, [&](GlobalIndex row, auto&& emit) {
        const auto i = static_cast<std::size_t>(row - layouts.rows.begin());
        for (Offset k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k) {
          const auto p = static_cast<std::size_t>(k);
          emit(layouts.cols.first() + rows.cols[p], rows.vals[p]);
        }
      });
  if (summary) {
    *summary = {};
    summary->format = fmt::format("PETSc binary matrix, {}-bit integers",
                                  header.index == PetscIndex::bits64 ? 64 : 32);
    summary->rows = header.rows;
    summary->cols = header.cols;
    summary->entries = header.nonzeros;
    summary->nonzeros = A.nnz_global();
    summary->duplicates = header.nonzeros - A.nnz_global();
  }
  return A;
}

template <class T>
std::vector<T> read_petsc_vector(const Layout& layout, const std::string& path) {
  const PetscHeader header = read_petsc_header(layout.comm(), path, PetscObject::vector);
  if (header.rows != layout.n_global()) {
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("{}: the vector has {} elements, {} are needed", path, header.rows,
                            layout.n_global()));
  }
  const auto file =
      mpi::collectively(layout.comm(), [&] { return std::make_unique<InputFile>(path); });
  std::vector<T> x;
  in_file_order(layout.comm(), path, [&] {
    const GlobalIndex first = layout.begin() - layout.first();
    x.resize(static_cast<std::size_t>(layout.n_local()));
    read_values(*file, header.values_at(first), std::span(x));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isfinite(x[i])) continue;
      throw Error(ErrorCode::file_format, fmt::format("element {}: the value {} is not finite",
                                                      first + static_cast<GlobalIndex>(i), x[i]));
    }
  });
  return x;
}

#define NODEWISE_INSTANTIATE(T)                                                             \
  template matrix::DistMatrix<T> read_petsc_matrix(const std::shared_ptr<const mpi::Comm>&, \
                                                   const std::string&, const ReadOptions&,  \
                                                   ReadSummary*);                           \
  template std::vector<T> read_petsc_vector(const Layout&, const std::string&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::io
