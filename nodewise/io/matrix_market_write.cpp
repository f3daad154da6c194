#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/row_visit.hpp"
#include "nodewise/io/text_writer.hpp"

namespace nodewise::io {

namespace {

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
  write_in_rank_order(A.shared_comm(), path, 1, [&](TextSink& sink, int) {
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
  write_vectors_market(path, layout, x, 1);
}

template <class T>
void write_vectors_market(const std::string& path, const comm::Layout& layout,
                          std::span<const T> values, int n_vectors) {
  write_in_rank_order(layout.shared_comm(), path, n_vectors, [&](TextSink& sink, int column) {
    if (std::cmp_not_equal(values.size(), std::int64_t{layout.n_local()} * n_vectors)) {
      throw Error(ErrorCode::dimension_mismatch,
                  fmt::format("{}: not written: {} elements for {} vectors of a layout of {}", path,
                              values.size(), n_vectors, layout.n_local()));
    }
    if (layout.comm().is_root() && column == 0) {
      sink.put(fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", layout.n_global(),
                           n_vectors));
    }
    GlobalIndex row = layout.begin() - layout.first();
    const auto step = static_cast<std::size_t>(n_vectors);
    for (auto k = static_cast<std::size_t>(column); k < values.size(); k += step) {
      put_value(sink, path, values[k], ++row);
    }
  });
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template void write_matrix_market(const std::string&, const matrix::DistMatrix<T>&);            \
  template void write_vector_market(const std::string&, const comm::Layout&, std::span<const T>); \
  template void write_vectors_market(const std::string&, const comm::Layout&, std::span<const T>, \
                                     int);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::io
