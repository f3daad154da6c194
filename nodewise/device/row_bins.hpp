// Rows of a matrix by the kind of table that they take.
#pragma once

#include <algorithm>

#include "nodewise/device/launch.hpp"
#include "nodewise/device/primitives.hpp"

namespace nodewise::device {

namespace detail {

struct MarkBetween {
  const LocalIndex* lengths;
  LocalIndex above;
  LocalIndex most;
  std::uint8_t* marks;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const LocalIndex length = load(lengths + i);
    marks[i] = length > above && length <= most ? 1 : 0;
  }
};

}  // namespace detail

/// The rows whose lengths are in a range, one range after another.
template <class Space>
class RowBins {
 public:
  /// `lengths` of n rows must outlive this.
  RowBins(Primitives<Space>& primitives, LocalIndex n, const LocalIndex* lengths)
      : primitives_(primitives),
        n_(n),
        lengths_(lengths),
        marks_(static_cast<std::size_t>(n)),
        rows_(static_cast<std::size_t>(n)) {}

  /// Local. Finds the rows with above < length <= most; returns how many.
  LocalIndex choose(LocalIndex above, LocalIndex most) {
    launch(primitives_.queue(), n_, detail::MarkBetween{lengths_, above, most, marks_.data()});
    return primitives_.select(n_, marks_.data(), rows_.data());
  }
  /// Those of the last choose(), ascending.
  const LocalIndex* rows() const { return rows_.data(); }

 private:
  Primitives<Space>& primitives_;
  LocalIndex n_;
  const LocalIndex* lengths_;
  Buffer<std::uint8_t, Space> marks_;
  Buffer<LocalIndex, Space> rows_;
};

}  // namespace nodewise::device
