// Places of columns in sparse rows that grow one after another.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "nodewise/base/types.hpp"

namespace nodewise::kernels {

/// marks[j] - first is the place of column j in the current row, if it is not negative: marks of
/// earlier rows lie below, so that none is ever erased. They are 32 bits wide to stay in the cache,
/// and are set back before they overflow.
class RowMarks {
 public:
  explicit RowMarks(LocalIndex n_cols) : marks_(static_cast<std::size_t>(n_cols), -1) {}

  /// The current row in a form that the compiler keeps in registers.
  struct Open {
    LocalIndex* marks;
    LocalIndex first;
    LocalIndex length = 0;

    /// The place of column j; `is_new` tells whether the row did not have it yet.
    LocalIndex place(LocalIndex j, bool& is_new) {
      const LocalIndex found = marks[j] - first;
      is_new = found < 0;
      if (!is_new) return found;
      marks[j] = first + length;
      return length++;
    }
    /// A new place for column j, which nobody looks for without `keeps`: it is the next one's, too.
    LocalIndex put(LocalIndex j, bool keeps) {
      marks[j] = first + length;
      const LocalIndex place = length;
      length += keeps ? 1 : 0;
      return place;
    }
  };

  Open open() {
    first_ += length_;
    if (first_ > std::numeric_limits<LocalIndex>::max() - static_cast<LocalIndex>(marks_.size())) {
      std::fill(marks_.begin(), marks_.end(), LocalIndex{-1});
      first_ = 0;
    }
    return {marks_.data(), first_};
  }
  void close(const Open& row) { length_ = row.length; }

  LocalIndex length() const { return length_; }

 private:
  std::vector<LocalIndex> marks_;
  LocalIndex first_ = 0;
  LocalIndex length_ = 0;
};

}  // namespace nodewise::kernels
