#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "nodewise/io/gzip_writer.hpp"
#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/output_file.hpp"
#include "nodewise/io/row_visit.hpp"
#include "nodewise/io/text_writer.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

/// Collective. Where this rank begins to write in each of the sections of a file, which follow each
/// other and have the ranks' parts, of these lengths, in rank order.
std::vector<Offset> places_of(const mpi::Comm& comm, const std::vector<Offset>& lengths) {
  std::vector<Offset> totals = lengths;
  mpi::sum_in_place(comm, std::span<Offset>(totals));
  std::vector<Offset> places;
  Offset section_begin = 0;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    places.push_back(section_begin + mpi::exclusive_sum(comm, lengths[s]));
    section_begin += totals[s];
  }
  return places;
}

using Format = std::function<void(TextSink&, int)>;

/// Collective. Writes sections of these lengths, each rank its own parts by put(section, pass_on).
template <class Put>
void write_sections(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                    const std::vector<Offset>& lengths, Put&& put) {
  OutputFile file(comm, path);
  const std::vector<Offset> places = places_of(*comm, lengths);
  mpi::collectively(*comm, [&] {
    for (std::size_t section = 0; section < places.size(); ++section) {
      Offset at = places[section];
      put(section, [&](std::string_view bytes) {
        file.write_at(at, {bytes.data(), bytes.size()});
        at += static_cast<Offset>(bytes.size());
      });
    }
  });
  file.commit();
}

/// Every part is a gzip member of its own, kept until its place is known: one after the other they
/// are a gzip file.
void write_compressed(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                      int n_sections, const Format& format) {
  std::vector<std::string> parts;
  std::vector<Offset> lengths;
  mpi::collectively(*comm, [&] {
    for (int section = 0; section < n_sections; ++section) {
      GzipWriter gzip;
      TextSink sink([&](std::string_view text) { gzip.put(text); });
      format(sink, section);
      sink.flush();
      parts.push_back(gzip.finish());
      lengths.push_back(static_cast<Offset>(parts.back().size()));
    }
  });
  write_sections(comm, path, lengths,
                 [&](std::size_t section, auto&& pass_on) { pass_on(parts[section]); });
}

/// Collective. Writes what format(sink, section) puts into the sink on each rank, section after
/// section, in each of them in rank order. Of plain text it is called twice: the first time only
/// the length counts, for each rank must know where to begin.
void write_in_rank_order(const std::shared_ptr<const mpi::Comm>& comm, const std::string& path,
                         int n_sections, const Format& format) {
  if (path.ends_with(".gz")) return write_compressed(comm, path, n_sections, format);
  const std::vector<Offset> lengths = mpi::collectively(*comm, [&] {
    std::vector<Offset> bytes(static_cast<std::size_t>(n_sections), 0);
    std::size_t section = 0;
    TextSink count(
        [&](std::string_view text) { bytes[section] += static_cast<Offset>(text.size()); });
    for (; section < bytes.size(); ++section) {
      format(count, static_cast<int>(section));
      count.flush();
    }
    return bytes;
  });
  write_sections(comm, path, lengths, [&](std::size_t section, auto&& pass_on) {
    TextSink sink(pass_on);
    format(sink, static_cast<int>(section));
    sink.flush();
  });
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
