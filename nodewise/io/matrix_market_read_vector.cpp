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
using comm::Messages;

/// An element of a vector file in coordinate format.
struct Element {
  GlobalIndex index;  // global
  double value;
};

void check_shape(const MarketFile& file, const Layout& layout) {
  const MarketHeader& header = file.header();
  if (header.cols != 1) {
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("{}: a vector is a file of n x 1, this is {} x {}", file.path(),
                            header.rows, header.cols));
  }
  if (header.rows != layout.n_global()) {
    throw Error(ErrorCode::dimension_mismatch,
                fmt::format("{}: the vector has {} elements, {} are needed", file.path(),
                            header.rows, layout.n_global()));
  }
  if (header.symmetry != MarketSymmetry::general) {
    throw Error(ErrorCode::file_format,
                fmt::format("{}: a vector cannot be {}", file.path(), to_string(header.symmetry)));
  }
}

/// This rank has the elements from `first` on, in sequence; returns those it owns.
std::vector<double> redistribute(const Layout& layout, GlobalIndex first,
                                 std::span<const double> values) {
  const auto outgoing = mpi::collectively(layout.comm(), [&] {
    Messages<double> sends;
    const GlobalIndex end = first + static_cast<GlobalIndex>(values.size());
    for (GlobalIndex at = first; at < end;) {
      const int owner = layout.owner(at);
      const GlobalIndex stop = std::min(end, layout.end(owner));
      sends.ranks.push_back(owner);
      sends.offsets.push_back(sends.offsets.back() + (stop - at));
      at = stop;
    }
    sends.data.assign(values.begin(), values.end());
    return sends;
  });
  // Sources are ascending and hold the file in sequence: what arrives is in order.
  return comm::exchange_sparse(layout.comm(), outgoing).data;
}

std::vector<double> read_array(MarketFile& file, const Layout& layout) {
  std::vector<double> values;
  const GlobalIndex before = file.read_entries(
      [&](std::string_view line) { values.push_back(parse_market_value(file.header(), line)); });
  return redistribute(layout, layout.first() + before, values);
}

std::vector<double> read_coordinate(MarketFile& file, const Layout& layout) {
  std::vector<Element> elements;
  std::vector<int> owners;
  file.read_entries([&](std::string_view line) {
    const MarketEntry entry = parse_market_entry(file.header(), line);
    elements.push_back({layout.first() + entry.row, entry.value});
    owners.push_back(layout.owner(elements.back().index));
  });
  const auto outgoing = mpi::collectively(layout.comm(), [&] {
    return comm::group_by_rank(std::span<const int>(owners), std::span<const Element>(elements),
                               layout.comm().size());
  });
  const auto arrived = comm::exchange_sparse(layout.comm(), outgoing);
  return mpi::collectively(layout.comm(), [&] {
    std::vector<double> values(static_cast<std::size_t>(layout.n_local()), 0.0);
    for (const Element& element : arrived.data) {
      values[static_cast<std::size_t>(layout.to_local(element.index))] += element.value;
    }
    return values;
  });
}

}  // namespace

template <class T>
std::vector<T> read_vector_market(const Layout& layout, const std::string& path,
                                  const ReadOptions& options) {
  MarketFile file(layout.shared_comm(), path, options.piece_bytes);
  check_shape(file, layout);
  const std::vector<double> values = file.header().format == MarketFormat::array
                                         ? read_array(file, layout)
                                         : read_coordinate(file, layout);
  return mpi::collectively(layout.comm(), [&] {
    std::vector<T> result(values.begin(), values.end());
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (!std::isfinite(result[i])) {
        throw Error(ErrorCode::file_format,
                    fmt::format("{}: element {} is {}, which does not fit in {} precision", path,
                                layout.to_global(static_cast<LocalIndex>(i)) - layout.first() + 1,
                                values[i], sizeof(T) == 4 ? "single" : "double"));
      }
    }
    return result;
  });
}

template std::vector<float> read_vector_market(const Layout&, const std::string&,
                                               const ReadOptions&);
template std::vector<double> read_vector_market(const Layout&, const std::string&,
                                                const ReadOptions&);

}  // namespace nodewise::io
