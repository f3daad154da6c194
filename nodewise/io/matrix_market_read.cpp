#include <cmath>

#include <fmt/format.h>

#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/matrix_market_body.hpp"
#include "nodewise/io/row_visit.hpp"
#include "nodewise/matrix/assemble.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

/// Values are parsed in double; a float must not become infinite.
template <class T>
T to_value(double value) {
  const T result = static_cast<T>(value);
  if (!std::isfinite(result)) {
    throw Error(ErrorCode::file_format,
                fmt::format("the value {} does not fit in single precision", value));
  }
  return result;
}

/// Puts entries of the file into the assembler, and of one triangle also into the other.
template <class T>
class Filler {
 public:
  Filler(const MarketHeader& header, const MatrixLayouts& layouts, std::size_t expected)
      : symmetry_(header.symmetry),
        first_row_(layouts.rows.first()),
        first_col_(layouts.cols.first()),
        assembler_(layouts.rows, layouts.cols) {
    assembler_.reserve(symmetry_ == MarketSymmetry::general ? expected : 2 * expected);
  }

  void put(GlobalIndex row, GlobalIndex col, double number) {
    const T value = to_value<T>(number);
    assembler_.add(first_row_ + row, first_col_ + col, value);
    if (symmetry_ == MarketSymmetry::general || row == col) return;
    const T mirrored = symmetry_ == MarketSymmetry::skew_symmetric ? -value : value;
    assembler_.add(first_row_ + col, first_col_ + row, mirrored);
  }
  matrix::Assembler<T>& assembler() { return assembler_; }

 private:
  MarketSymmetry symmetry_;
  GlobalIndex first_row_, first_col_;
  matrix::Assembler<T> assembler_;
};

/// The numbers of an array file have no place of their own: they wait for the count before them.
template <class T>
void fill_from_array(MarketFile& file, Filler<T>& filler) {
  const MarketHeader& header = file.header();
  std::vector<T> values;
  const GlobalIndex first = file.read_entries([&](std::string_view line) {
    values.push_back(to_value<T>(parse_market_value(header, line)));
  });
  mpi::collectively(file.comm(), [&] {
    if (values.empty()) return;
    ArrayPosition position(header, first);
    for (const T value : values) {
      if (value != 0) filler.put(position.row(), position.col(), static_cast<double>(value));
      position.advance();
    }
  });
}

template <class T>
GlobalIndex count_diagonal(const matrix::DistMatrix<T>& A) {
  GlobalIndex count = 0;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const GlobalIndex diagonal = A.rows().to_global(i) - A.rows().first() + A.cols().first();
    visit_row(A, i, [&](GlobalIndex col, T) { count += col == diagonal ? 1 : 0; });
  }
  return mpi::sum(A.comm(), count);
}

template <class T>
ReadSummary summarise(const MarketFile& file, const matrix::DistMatrix<T>& A,
                      GlobalIndex duplicates) {
  const MarketHeader& header = file.header();
  ReadSummary summary;
  summary.format =
      fmt::format("Matrix Market, {} {} {}{}", to_string(header.format), to_string(header.field),
                  to_string(header.symmetry), file.compressed() ? ", gzip" : "");
  summary.rows = header.rows;
  summary.cols = header.cols;
  summary.entries = header.entries;
  summary.nonzeros = A.nnz_global();
  summary.symmetric = header.symmetry == MarketSymmetry::symmetric;
  summary.duplicates = duplicates;
  if (header.symmetry != MarketSymmetry::general && duplicates > 0) {
    // The assembler has seen the mirrored entries, too; places in the file are what is left once.
    const GlobalIndex diagonal = count_diagonal(A);
    summary.duplicates = header.entries - diagonal - (A.nnz_global() - diagonal) / 2;
  }
  return summary;
}

}  // namespace

template <class T>
matrix::DistMatrix<T> read_matrix_market(const std::shared_ptr<const mpi::Comm>& comm,
                                         const std::string& path, const ReadOptions& options,
                                         ReadSummary* summary) {
  MarketFile file(comm, path, options.piece_bytes);
  file.report_progress(options.progress);
  const MarketHeader& header = file.header();
  const MatrixLayouts layouts = choose_layouts(comm, path, header.rows, header.cols, options);
  Filler<T> filler =
      mpi::collectively(*comm, [&] { return Filler<T>(header, layouts, file.expected_entries()); });
  if (header.format == MarketFormat::array) {
    fill_from_array(file, filler);
  } else {
    file.read_entries([&](std::string_view line) {
      const MarketEntry entry = parse_market_entry(header, line);
      filler.put(entry.row, entry.col, entry.value);
    });
  }
  typename matrix::Assembler<T>::Statistics statistics;
  matrix::DistMatrix<T> A = filler.assembler().finish(&statistics);
  if (summary) *summary = summarise(file, A, statistics.duplicates);
  return A;
}

#define NODEWISE_INSTANTIATE(T)                                                              \
  template matrix::DistMatrix<T> read_matrix_market(const std::shared_ptr<const mpi::Comm>&, \
                                                    const std::string&, const ReadOptions&,  \
                                                    ReadSummary*);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::io
