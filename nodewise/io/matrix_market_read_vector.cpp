#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nodewise/comm/discovery.hpp"
#include "nodewise/io/matrix_market.hpp"
#include "nodewise/io/matrix_market_body.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::io {

namespace {

using comm::Layout;

/// More would be a matrix that no rank should hold by whole rows.
constexpr GlobalIndex max_vectors = 1000;

/// An element of a file in coordinate format.
struct Element {
  GlobalIndex row;  // global
  int col;
  double value;
};

void check_shape(const MarketFile& file, const Layout& layout) {
  const MarketHeader& header = file.header();
  if (header.rows != layout.n_global()) {
    const bool transposed = header.rows == 1 && header.cols == layout.n_global();
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("{} is {} x {}, but needs {} rows{}", file.path(), header.rows,
                            header.cols, layout.n_global(), transposed ? ": transposed?" : ""));
  }
  if (header.cols < 1 || header.cols > max_vectors) {
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("{} is {} x {}, but 1 to {} columns can be read", file.path(),
                            header.rows, header.cols, max_vectors));
  }
  if (header.symmetry != MarketSymmetry::general) {
    throw Error(ErrorCode::file_format,
                fmt::format("{}: a vector cannot be {}", file.path(), to_string(header.symmetry)));
  }
}

/// Values by columns, one column of this rank's rows after another.
using ByColumns = std::vector<double>;

/// Each rank has a piece of the file, which holds one column after another.
ByColumns read_array(MarketFile& file, const Layout& layout) {
  std::vector<double> values;
  const GlobalIndex before = file.read_entries(
      [&](std::string_view line) { values.push_back(parse_market_value(file.header(), line)); });
  const auto outgoing = [&] {
    std::vector<int> owners;
    owners.reserve(values.size());
    const GlobalIndex n = layout.n_global();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const GlobalIndex row = layout.first() + (before + static_cast<GlobalIndex>(k)) % n;
      const bool same =
          !owners.empty() && row >= layout.begin(owners.back()) && row < layout.end(owners.back());
      owners.push_back(same ? owners.back() : layout.owner(row));
    }
    return comm::group_by_rank(std::span<const int>(owners), std::span<const double>(values),
                               layout.comm().size());
  };
  // Sources are ascending and hold the file in sequence: what arrives is in order.
  return comm::exchange_sparse(layout.comm(), outgoing).data;
}

ByColumns read_coordinate(MarketFile& file, const Layout& layout) {
  std::vector<Element> elements;
  std::vector<int> owners;
  file.read_entries([&](std::string_view line) {
    const MarketEntry entry = parse_market_entry(file.header(), line);
    elements.push_back({layout.first() + entry.row, static_cast<int>(entry.col), entry.value});
    owners.push_back(layout.owner(elements.back().row));
  });
  const auto arrived = comm::exchange_sparse(layout.comm(), [&] {
    return comm::group_by_rank(std::span<const int>(owners), std::span<const Element>(elements),
                               layout.comm().size());
  });
  return mpi::collectively(layout.comm(), [&] {
    const auto n = static_cast<std::size_t>(layout.n_local());
    ByColumns values(n * static_cast<std::size_t>(file.header().cols), 0.0);
    for (const Element& element : arrived.data) {
      values[static_cast<std::size_t>(element.col) * n +
             static_cast<std::size_t>(layout.to_local(element.row))] += element.value;
    }
    return values;
  });
}

/// Collective. The file's vectors in type T and by rows, if there are as many as wanted; 0: any.
template <class T>
Vectors<T> read(const Layout& layout, const std::string& path, int wanted,
                const ReadOptions& options) {
  MarketFile file(layout.shared_comm(), path, options.piece_bytes);
  const MarketHeader& header = file.header();
  check_shape(file, layout);
  if (wanted == 1 && header.cols != 1) {
    throw Error(
        ErrorCode::dimension_mismatch,
        fmt::format("{} is {} x {}, but one column is needed", path, header.rows, header.cols));
  }
  const ByColumns values = header.format == MarketFormat::array ? read_array(file, layout)
                                                                : read_coordinate(file, layout);
  return mpi::collectively(layout.comm(), [&] {
    const auto k = static_cast<std::size_t>(header.cols);
    const auto n = static_cast<std::size_t>(layout.n_local());
    Vectors<T> result{static_cast<int>(k), std::vector<T>(n * k)};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < k; ++c) {
        const double value = values[c * n + i];
        const T rounded = result.values[i * k + c] = static_cast<T>(value);
        if (std::isfinite(rounded)) continue;
        throw Error(ErrorCode::file_format,
                    fmt::format("{}: element {} is {}, which does not fit in {} precision", path,
                                layout.to_global(static_cast<LocalIndex>(i)) - layout.first() + 1,
                                value, sizeof(T) == 4 ? "single" : "double"));
      }
    }
    return result;
  });
}

}  // namespace

template <class T>
std::vector<T> read_vector_market(const Layout& layout, const std::string& path,
                                  const ReadOptions& options) {
  return read<T>(layout, path, 1, options).values;
}

template <class T>
Vectors<T> read_vectors_market(const Layout& layout, const std::string& path,
                               const ReadOptions& options) {
  return read<T>(layout, path, 0, options);
}

#define NODEWISE_INSTANTIATE(T)                                                 \
  template std::vector<T> read_vector_market(const Layout&, const std::string&, \
                                             const ReadOptions&);               \
  template Vectors<T> read_vectors_market(const Layout&, const std::string&, const ReadOptions&);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::io
