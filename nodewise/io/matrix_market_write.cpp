#include <cmath>

#include <fmt/format.h>

#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/output_file.hpp"
#include "nodewise/io/row_visit.hpp"
#include "nodewise/io/text_writer.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

/// Collective. Writes what `format` puts into the sink on each rank, in rank order. It is called
/// twice: the first time only the length counts, for each rank must know where to begin.
void write_in_rank_order(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                         const std::function<void(TextSink&)>& format) {
  const std::int64_t length = mpi::collectively(*comm, [&] {
    std::int64_t bytes = 0;
    TextSink count([&](std::string_view text) { bytes += static_cast<std::int64_t>(text.size()); });
    format(count);
    count.flush();
    return bytes;
  });
  OutputFile file(comm, path);
  Offset at = mpi::exclusive_sum(*comm, length);
  mpi::collectively(*comm, [&] {
    TextSink write([&](std::string_view text) {
      file.write_at(at, {text.data(), text.size()});
      at += static_cast<Offset>(text.size());
    });
    format(write);
    write.flush();
  });
  file.commit();
}

template <class T>
void put_value(TextSink& sink, const std::string& path, T value, GlobalIndex row) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::unsuitable_matrix,
                fmt::format("{}: not written: row {} holds {}", path, row, value));
  }
  sink.put_number(value);
  sink.put('\n');
}

template <class T>
void put_rows(TextSink& sink, const std::string& path, const matrix::DistMatrix<T>& A) {
  const GlobalIndex first_row = A.rows().first() - 1;
  const GlobalIndex first_col = A.cols().first() - 1;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const GlobalIndex row = A.rows().to_global(i) - first_row;
    visit_row(A, i, [&](GlobalIndex col, T value) {
      sink.put_number(row);
      sink.put(' ');
      sink.put_number(col - first_col);
      sink.put(' ');
      put_value(sink, path, value, row);
    });
  }
}

}  // namespace

template <class T>
void write_matrix_market(const std::string& path, const matrix::DistMatrix<T>& A) {
  write_in_rank_order(A.shared_comm(), path, [&](TextSink& sink) {
    if (A.comm().is_root()) {
      sink.put(fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                           A.rows().n_global(), A.cols().n_global(), A.nnz_global()));
    }
    put_rows(sink, path, A);
  });
}

template <class T>
void write_vector_market(const std::string& path, const comm::Layout& layout,
                         std::span<const T> x) {
  write_in_rank_order(layout.shared_comm(), path, [&](TextSink& sink) {
    if (std::cmp_not_equal(x.size(), layout.n_local())) {
      throw Error(ErrorCode::dimension_mismatch,
                  fmt::format("{}: not written: {} elements for a layout of {}", path, x.size(),
                              layout.n_local()));
    }
    if (layout.comm().is_root()) {
      sink.put(fmt::format("%%MatrixMarket matrix array real general\n{} 1\n", layout.n_global()));
    }
    GlobalIndex row = layout.begin() - layout.first();
    for (const T value : x) put_value(sink, path, value, ++row);
  });
}

#define NODEWISE_INSTANTIATE(T)                                                        \
  template void write_matrix_market(const std::string&, const matrix::DistMatrix<T>&); \
  template void write_vector_market(const std::string&, const comm::Layout&, std::span<const T>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::io
