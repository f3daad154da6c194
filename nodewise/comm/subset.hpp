// Some of the indices of a layout, which keep their order and their ranks.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "nodewise/comm/layout.hpp"

namespace nodewise::comm {

/// Vectors over these indices alone are laid out by layout(), which begins with 0: a rank has as
/// many as it has chosen, in their order, and may have none.
class Subset {
 public:
  /// Collective: a gathering of their numbers. `chosen` are local indices of `whole`, ascending.
  Subset(const Layout& whole, std::vector<LocalIndex> chosen)
      : layout_(
            Layout::from_local_size(whole.shared_comm(), static_cast<GlobalIndex>(chosen.size()))),
        indices_(std::move(chosen)) {}

  const Layout& layout() const { return layout_; }
  std::span<const LocalIndex> indices() const { return indices_; }

  /// Local. The entries of a vector over all indices that are of the subset.
  template <class T>
  void take(std::span<const T> whole, std::span<T> part) const {
    for (std::size_t k = 0; k < indices_.size(); ++k) {
      part[k] = whole[static_cast<std::size_t>(indices_[k])];
    }
  }
  /// Local. Puts them into such a vector, whose other entries stay.
  template <class T>
  void put(std::span<const T> part, std::span<T> whole) const {
    for (std::size_t k = 0; k < indices_.size(); ++k) {
      whole[static_cast<std::size_t>(indices_[k])] = part[k];
    }
  }

 private:
  Layout layout_;
  std::vector<LocalIndex> indices_;
};

}  // namespace nodewise::comm
