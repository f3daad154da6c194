#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "nodewise/io/big_endian.hpp"
#include "nodewise/io/output_file.hpp"
#include "nodewise/io/petsc_binary.hpp"
#include "nodewise/io/petsc_header.hpp"
#include "nodewise/io/row_visit.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

/// The same numbers on every rank, so that all throw or none.
void check_sizes(const std::string& path, const PetscHeader& header) {
  if (header.index == PetscIndex::bits64) return;
  for (const GlobalIndex size : {header.rows, header.cols, header.nonzeros}) {
    if (size > std::numeric_limits<std::int32_t>::max()) {
      throw Error(ErrorCode::index_overflow,
                  fmt::format("{}: not written: {} x {} with {} nonzeros needs 64-bit integers",
                              path, header.rows, header.cols, header.nonzeros));
    }
  }
}

/// Writes numbers of one kind in sequence from `offset` on: fill(put) calls put(number) for each.
template <class Stored, class Fill>
void write_numbers(OutputFile& file, Offset offset, Fill&& fill) {
  const auto pass_on = [&](std::span<const char> bytes) {
    file.write_at(offset, bytes);
    offset += static_cast<Offset>(bytes.size());
  };
  BigEndianSink<Stored, decltype(pass_on)> sink(pass_on);
  fill([&](auto number) { sink.put(static_cast<Stored>(number)); });
  sink.flush();
}

template <class Fill>
void write_integers(OutputFile& file, const PetscHeader& header, Offset offset, Fill&& fill) {
  if (header.index == PetscIndex::bits64) {
    write_numbers<std::int64_t>(file, offset, fill);
  } else {
    write_numbers<std::int32_t>(file, offset, fill);
  }
}

void write_header(OutputFile& file, const PetscHeader& header) {
  write_integers(file, header, 0, [&](auto&& put) {
    put(static_cast<std::int32_t>(header.object));
    put(header.rows);
    if (header.object == PetscObject::vector) return;
    put(header.cols);
    put(header.nonzeros);
  });
}

template <class T>
void write_rows(OutputFile& file, const PetscHeader& header, const matrix::DistMatrix<T>& A,
                Offset entries_before, const std::string& path) {
  if (A.comm().is_root()) write_header(file, header);
  const GlobalIndex first_row = A.rows().begin() - A.rows().first();
  write_integers(file, header, header.lengths_at(first_row), [&](auto&& put) {
    for (LocalIndex i = 0; i < A.n_local(); ++i) put(A.row_length(i));
  });
  write_integers(file, header, header.columns_at(entries_before), [&](auto&& put) {
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      visit_row(A, i, [&](GlobalIndex col, T) { put(col - A.cols().first()); });
    }
  });
  write_numbers<double>(file, header.values_at(entries_before), [&](auto&& put) {
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      visit_row(A, i, [&](GlobalIndex, T value) {
        if (!std::isfinite(value)) {
          throw Error(ErrorCode::unsuitable_matrix, fmt::format("{}: not written: row {} holds {}",
                                                                path, first_row + i + 1, value));
        }
        put(value);
      });
    }
  });
}

}  // namespace

template <class T>
void write_petsc_matrix(const std::string& path, const matrix::DistMatrix<T>& A, PetscIndex index) {
  const PetscHeader header = {PetscObject::matrix, index, A.rows().n_global(), A.cols().n_global(),
                              A.nnz_global()};
  check_sizes(path, header);
  const Offset before = mpi::exclusive_sum(A.comm(), A.nnz_local());
  OutputFile file(A.shared_comm(), path);
  mpi::collectively(A.comm(), [&] { write_rows(file, header, A, before, path); });
  file.commit();
}

template <class T>
void write_petsc_vector(const std::string& path, const Layout& layout, std::span<const T> x,
                        PetscIndex index) {
  const PetscHeader header = {PetscObject::vector, index, layout.n_global(), 1, 0};
  check_sizes(path, header);
  mpi::collectively(layout.comm(), [&] {
    if (std::cmp_not_equal(x.size(), layout.n_local())) {
      throw Error(ErrorCode::dimension_mismatch,
                  fmt::format("{}: not written: {} elements for a layout of {}", path, x.size(),
                              layout.n_local()));
    }
  });
  OutputFile file(layout.shared_comm(), path);
  mpi::collectively(layout.comm(), [&] {
    const GlobalIndex first = layout.begin() - layout.first();
    if (layout.comm().is_root()) write_header(file, header);
    write_numbers<double>(file, header.values_at(first), [&](auto&& put) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i])) {
          throw Error(ErrorCode::unsuitable_matrix,
                      fmt::format("{}: not written: row {} holds {}", path,
                                  first + static_cast<GlobalIndex>(i) + 1, x[i]));
        }
        put(x[i]);
      }
    });
  });
  file.commit();
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template void write_petsc_matrix(const std::string&, const matrix::DistMatrix<T>&, PetscIndex); \
  template void write_petsc_vector(const std::string&, const Layout&, std::span<const T>,         \
                                   PetscIndex);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::io
