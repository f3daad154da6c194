// The bandwidth of the memory, drawn by all threads of a rank.
#pragma once

#include "nodewise/base/array.hpp"

namespace nodewise::roofline {

/// Three arrays, each part of them first touched by the thread that works on it.
class MemoryStreams {
 public:
  /// Local. Fills the arrays, of `length` numbers each.
  explicit MemoryStreams(std::size_t length);

  /// Local. a = b + s c: McCalpin's STREAM triad.
  void triad();
  /// Local. The sum of b c: reading alone.
  void read();

  /// The bytes they move, the allocation of a's cache lines included.
  double triad_bytes() const { return 4.0 * sizeof(double) * static_cast<double>(a_.size()); }
  double reading_bytes() const { return 2.0 * sizeof(double) * static_cast<double>(a_.size()); }

 private:
  Array<double> a_, b_, c_;
  double scale_ = 3;  // changes with every run, so that none can be left out
};

}  // namespace nodewise::roofline
