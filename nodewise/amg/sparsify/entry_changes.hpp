// What is added to entries of a coarse matrix on both sides of the diagonal.
#pragma once

#include <algorithm>
#include <vector>

#include "nodewise/amg/sparsify/point_blocks.hpp"
#include "nodewise/comm/exchange.hpp"
#include "nodewise/matrix/row_runs.hpp"

namespace nodewise::amg::sparsify {

/// Changes of single entries, of rows of this rank and of the ghosts. They are added up in an order
/// that both sides of an entry have, so that what was symmetric is so to the bit.
template <class T>
class EntryChanges {
 public:
  using RowEntry = matrix::RowEntry<T>;

  /// Local. The blocks, which are entries, must outlive it.
  explicit EntryChanges(const PointBlocks<T>& blocks)
      : blocks_(blocks),
        changes_(static_cast<std::size_t>(blocks.n_points())),
        of_ghosts_(static_cast<std::size_t>(blocks.n_all() - blocks.n_points())) {}

  /// In a row of this rank.
  void add(LocalIndex i, LocalIndex column, T part) {
    changes_[static_cast<std::size_t>(i)].push_back({column, part});
  }
  /// The symmetric part of a change of entry (i, k), on the side of row k, this rank's or a
  /// ghost's; where `keeps_sum` its diagonal loses as much.
  void add_across(LocalIndex i, LocalIndex k, T part, bool keeps_sum) {
    if (k < blocks_.n_points()) return take(k, i, part, keeps_sum);
    const GlobalIndex from = blocks_.global(i);
    of_ghosts_[static_cast<std::size_t>(k - blocks_.n_points())].push_back(
        {keeps_sum ? from : marked(from), part});
  }

  /// The changes of the ghosts' rows, as records that take_all() understands where they arrive.
  comm::Records<RowEntry> for_owners() const {
    comm::Records<RowEntry> records;
    for (const auto& changes : of_ghosts_) {
      records.data.insert(records.data.end(), changes.begin(), changes.end());
      records.end_record();
    }
    return records;
  }
  void take_all(const comm::Records<RowEntry>& arrived) {
    for (std::size_t k = 0; k < arrived.size(); ++k) {
      for (const RowEntry& entry : arrived[k]) {
        const bool keeps_sum = entry.col >= 0;
        const GlobalIndex from = keeps_sum ? entry.col : marked(entry.col);
        take(static_cast<LocalIndex>(k), blocks_.local(from), entry.value, keeps_sum);
      }
    }
  }

  /// The row's changes are sorted when the first is asked for; none may be added then.
  T sum(LocalIndex i, LocalIndex column) {
    auto& changes = changes_[static_cast<std::size_t>(i)];
    if (sorted_ != i) {
      std::sort(changes.begin(), changes.end(), [](const RowEntry& a, const RowEntry& b) {
        return a.col != b.col ? a.col < b.col : a.value < b.value;
      });
      sorted_ = i;
    }
    auto at = std::lower_bound(
        changes.begin(), changes.end(), static_cast<GlobalIndex>(column),
        [](const RowEntry& change, GlobalIndex wanted) { return change.col < wanted; });
    T sum{};
    for (; at != changes.end() && at->col == column; ++at) sum += at->value;
    return sum;
  }

 private:
  /// A number that says that the diagonal is left alone; and the way back.
  static GlobalIndex marked(GlobalIndex row) { return -1 - row; }

  /// Row k has no entry (k, i) where the pattern is not symmetric.
  void take(LocalIndex k, LocalIndex i, T part, bool keeps_sum) {
    if (i < 0 || blocks_.find(k, i) < 0) return;
    add(k, i, part);
    if (keeps_sum) add(k, k, -part);
  }

  const PointBlocks<T>& blocks_;
  std::vector<std::vector<RowEntry>> changes_;  // by columns as numbered here
  std::vector<std::vector<RowEntry>> of_ghosts_;
  LocalIndex sorted_ = -1;
};

}  // namespace nodewise::amg::sparsify
