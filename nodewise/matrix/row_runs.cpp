#include "nodewise/matrix/row_runs.hpp"

#include <algorithm>
#include <new>

namespace nodewise::matrix {

namespace {

/// Sorts entries by columns and adds up those of the same.
template <class T>
void combine_columns(std::vector<RowEntry<T>>& entries) {
  // Stable, so that the order of the additions is fixed by the plan.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const RowEntry<T>& a, const RowEntry<T>& b) { return a.col < b.col; });
  std::size_t out = 0;
  for (const RowEntry<T>& entry : entries) {
    if (out > 0 && entries[out - 1].col == entry.col) {
      entries[out - 1].value += entry.value;
    } else {
      entries[out++] = entry;
    }
  }
  entries.resize(out);
}

}  // namespace

// The runs of a union of runs are no more than these: where they touch or overlap they become one,
// and only what is longer than longest_run, which none of them is, is cut again.
template <class T>
std::size_t RunCombiner<T>::operator()(std::span<RowWord<T>> row) noexcept {
  try {
    entries_.clear();
    words_.clear();
    for_each_entry_of_runs(std::span<const RowWord<T>>(row), [this](GlobalIndex col, T value) {
      entries_.push_back({col, value});
    });
    combine_columns(entries_);
    RunWriter<T> writer(words_);
    for (const RowEntry<T>& entry : entries_) writer.push(entry.col, entry.value);
  } catch (const std::bad_alloc&) {
    return row.size();
  }
  std::copy(words_.begin(), words_.end(), row.begin());
  return words_.size();
}

template class RunCombiner<float>;
template class RunCombiner<double>;

}  // namespace nodewise::matrix
