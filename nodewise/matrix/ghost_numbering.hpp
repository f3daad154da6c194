// Local numbers for columns: owned ones first, others as they are met.
#pragma once

#include <unordered_map>
#include <vector>

#include "nodewise/comm/layout.hpp"

namespace nodewise::matrix {

/// Numbers the global columns of a layout: an owned column keeps its local number, any other gets
/// n_local + position in ghosts().
class GhostNumbering {
 public:
  explicit GhostNumbering(const comm::Layout& layout) : layout_(layout) {}
  /// Starts with the given ghosts, numbered in their order.
  GhostNumbering(const comm::Layout& layout, std::span<const GlobalIndex> ghosts);

  /// The number of a column, new if need be.
  LocalIndex number(GlobalIndex column);
  /// The global index of a number.
  GlobalIndex global(LocalIndex number) const {
    const LocalIndex n = layout_.n_local();
    return number < n ? layout_.to_global(number) : ghosts_[static_cast<std::size_t>(number - n)];
  }
  /// The first of all global columns.
  GlobalIndex first() const { return layout_.first(); }
  LocalIndex size() const { return layout_.n_local() + static_cast<LocalIndex>(ghosts_.size()); }
  const std::vector<GlobalIndex>& ghosts() const { return ghosts_; }

 private:
  comm::Layout layout_;
  std::vector<GlobalIndex> ghosts_;
  std::unordered_map<GlobalIndex, LocalIndex> numbers_;
};

}  // namespace nodewise::matrix
