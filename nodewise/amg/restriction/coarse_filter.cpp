#include "nodewise/amg/restriction/coarse_filter.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::restriction {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// Whether a diagonal entry stays of use when what is dropped is added to it.
template <class T>
bool can_take(T diagonal, T dropped) {
  constexpr double least_diagonal = 0.1;
  return diagonal != T{} &&
         (diagonal + dropped) * diagonal >= static_cast<T>(least_diagonal) * diagonal * diagonal;
}

/// The rows that are left, with the ghosts of A behind its own columns. Each thread has its own.
template <class T>
class Filter {
 public:
  Filter(const DistMatrix<T>& A, double threshold) : A_(A), threshold_(static_cast<T>(threshold)) {}

  Csr<T> run(LocalIndex begin, LocalIndex end) {
    rows_.n_cols = A_.n_local() + A_.n_ghosts();
    for (LocalIndex i = begin; i < end; ++i) append_row(i);
    rows_.n_rows = end - begin;
    return std::move(rows_);
  }

 private:
  void append_row(LocalIndex i) {
    T largest{}, diagonal{}, dropped{};
    matrix::for_each_entry(A_, i, [&](LocalIndex j, T value) {
      largest = std::max(largest, std::abs(value));
      if (j == i) diagonal = value;
    });
    const auto is_small = [&](LocalIndex j, T value) {
      return j != i && std::abs(value) < threshold_ * largest;
    };
    matrix::for_each_entry(A_, i, [&](LocalIndex j, T value) {
      if (is_small(j, value)) dropped += value;
    });
    const bool whole = !can_take(diagonal, dropped);
    matrix::for_each_entry(A_, i, [&](LocalIndex j, T value) {
      if (!whole && is_small(j, value)) return;
      rows_.cols.push_back(j);
      rows_.vals.push_back(j == i && !whole ? value + dropped : value);
    });
    rows_.row_ptr.push_back(static_cast<Offset>(rows_.cols.size()));
  }

  const DistMatrix<T>& A_;
  T threshold_;
  Csr<T> rows_;
};

/// The values of A at the places of a matrix with fewer.
template <class T>
class Places {
 public:
  Places(const DistMatrix<T>& A, const DistMatrix<T>& filtered)
      : A_(A), filtered_(filtered), on(filtered.on().cols.size()), off(filtered.off().cols.size()) {
    auto there = filtered.ghosts().begin();  // both ascend
    for (const GlobalIndex ghost : A.ghosts()) {
      there = std::lower_bound(there, filtered.ghosts().end(), ghost);
      const bool found = there != filtered.ghosts().end() && *there == ghost;
      ghosts_.push_back(found ? static_cast<LocalIndex>(there - filtered.ghosts().begin())
                              : nowhere);
    }
    for (LocalIndex i = 0; i < A.n_local(); ++i) take_row(i);
  }

 private:
  static constexpr LocalIndex nowhere = -1;

  /// Adds what has no place to `dropped`.
  template <class ColumnOf>
  static void take(const Csr<T>& from, const Csr<T>& to, LocalIndex i, const ColumnOf& column_of,
                   Array<T>& values, T& dropped) {
    auto at = static_cast<std::size_t>(to.begin(i));
    const auto end = static_cast<std::size_t>(to.end(i));
    for (auto k = static_cast<std::size_t>(from.begin(i));
         k < static_cast<std::size_t>(from.end(i)); ++k) {
      const LocalIndex column = column_of(from.cols[k]);
      if (at < end && to.cols[at] == column) {
        values[at++] = from.vals[k];
      } else {
        dropped += from.vals[k];
      }
    }
  }

  void take_row(LocalIndex i) {
    T dropped{};
    take(
        A_.on(), filtered_.on(), i, [](LocalIndex j) { return j; }, on, dropped);
    take(
        A_.off(), filtered_.off(), i,
        [&](LocalIndex g) { return ghosts_[static_cast<std::size_t>(g)]; }, off, dropped);
    const auto& cols = filtered_.on().cols;
    const auto begin = cols.begin() + filtered_.on().begin(i);
    const auto end = cols.begin() + filtered_.on().end(i);
    const auto diagonal = std::lower_bound(begin, end, i);
    if (diagonal == end || *diagonal != i) return;
    T& value = on[static_cast<std::size_t>(diagonal - cols.begin())];
    if (can_take(value, dropped)) value += dropped;
  }

  const DistMatrix<T>& A_;
  const DistMatrix<T>& filtered_;
  std::vector<LocalIndex> ghosts_;  // of A, as numbered in the other

 public:
  Array<T> on, off;
};

}  // namespace

template <class T>
DistMatrix<T> without_small_entries(const DistMatrix<T>& A, double threshold) {
  return {A.rows(), A.cols(), [&] {
            return matrix::split_rows<T>(
                A.cols(),
                {kernels::rows_in_parts<T>(A.on().row_ptr,
                                           [&](LocalIndex begin, LocalIndex end) {
                                             return Filter<T>(A, threshold).run(begin, end);
                                           }),
                 A.n_local(),
                 {A.ghosts().begin(), A.ghosts().end()}});
          }};
}

template <class T>
DistMatrix<T> filtered_alike(const DistMatrix<T>& A, const DistMatrix<T>& filtered) {
  auto values = mpi::collectively(A.comm(), [&] { return Places<T>(A, filtered); });
  return filtered.with_values(std::move(values.on), std::move(values.off));
}

#define NODEWISE_INSTANTIATE(T)                                               \
  template DistMatrix<T> without_small_entries(const DistMatrix<T>&, double); \
  template DistMatrix<T> filtered_alike(const DistMatrix<T>&, const DistMatrix<T>&);
NODEWISE_INSTANTIATE(double)
NODEWISE_INSTANTIATE(float)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::amg::restriction
