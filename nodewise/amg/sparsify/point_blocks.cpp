#include "nodewise/amg/sparsify/point_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace nodewise::amg::sparsify {

using matrix::DistMatrix;

template <class T>
PointBlocks<T>::PointBlocks(const DistMatrix<T>& A, int unknowns)
    : unknowns_(unknowns),
      n_points_(A.n_local() / unknowns),
      first_point_((A.rows().begin(A.comm().rank()) - A.rows().first()) / unknowns) {
  number_ghosts(A);
  columns_.reserve(static_cast<std::size_t>(A.nnz_local() / (unknowns * unknowns)));
  worth_.reserve(columns_.capacity());
  if (are_entries()) {
    take_entries(A);
    return;
  }
  std::vector<Offset> place(static_cast<std::size_t>(n_all()), -1);
  for (LocalIndex point = 0; point < n_points_; ++point) append_row(A, point, place);
}

template <class T>
void PointBlocks<T>::take_entries(const DistMatrix<T>& A) {
  begins_.reserve(static_cast<std::size_t>(n_points_) + 1);
  for (LocalIndex i = 0; i < n_points_; ++i) {
    for_each_entry(A, i, [&](LocalIndex column, T value) {
      columns_.push_back(column);
      worth_.push_back(std::abs(value));
    });
    begins_.push_back(static_cast<Offset>(columns_.size()));
  }
}

template <class T>
void PointBlocks<T>::number_ghosts(const DistMatrix<T>& A) {
  const GlobalIndex first = A.cols().first();
  for (LocalIndex g = 0; g < A.n_ghosts(); ++g) {
    const GlobalIndex point = (A.ghosts()[static_cast<std::size_t>(g)] - first) / unknowns_;
    if (ghost_points_.empty() || ghost_points_.back() != point) {
      ghost_points_.push_back(point);
      first_ghost_.push_back(g);
    }
    point_of_ghost_.push_back(static_cast<LocalIndex>(ghost_points_.size()) - 1);
  }
}

/// `place` has for each point where this row has its block, if that is behind the row's begin.
template <class T>
void PointBlocks<T>::append_row(const DistMatrix<T>& A, LocalIndex point,
                                std::vector<Offset>& place) {
  const Offset begin = begins_.back();
  for (LocalIndex i = point * unknowns_; i < (point + 1) * unknowns_; ++i) {
    for_each_entry(A, i, [&](LocalIndex column, T value) {
      const LocalIndex to = point_of(column);
      Offset& at = place[static_cast<std::size_t>(to)];
      if (at < begin) {
        at = static_cast<Offset>(columns_.size());
        columns_.push_back(to);
        worth_.push_back(T{});
      }
      worth_[static_cast<std::size_t>(at)] += value * value;
    });
  }
  finish_norms(begin);
  begins_.push_back(static_cast<Offset>(columns_.size()));
}

/// Sorts the last row, which begins there, and takes the roots of its sums of squares.
template <class T>
void PointBlocks<T>::finish_norms(Offset begin) {
  std::vector<std::pair<LocalIndex, T>> row;
  for (auto k = static_cast<std::size_t>(begin); k < columns_.size(); ++k) {
    row.emplace_back(columns_[k], std::sqrt(worth_[k]));
  }
  std::sort(row.begin(), row.end());
  for (std::size_t k = 0; k < row.size(); ++k) {
    const std::size_t at = static_cast<std::size_t>(begin) + k;
    std::tie(columns_[at], worth_[at]) = row[k];
  }
}

template <class T>
LocalIndex PointBlocks<T>::local(GlobalIndex point) const {
  if (point >= first_point_ && point < first_point_ + n_points_) {
    return static_cast<LocalIndex>(point - first_point_);
  }
  const auto at = std::lower_bound(ghost_points_.begin(), ghost_points_.end(), point);
  if (at == ghost_points_.end() || *at != point) return -1;
  return n_points_ + static_cast<LocalIndex>(at - ghost_points_.begin());
}

template <class T>
Offset PointBlocks<T>::find(LocalIndex row, LocalIndex column) const {
  const auto from = columns_.begin() + begin(row), to = columns_.begin() + end(row);
  const auto at = std::lower_bound(from, to, column);
  return at != to && *at == column ? static_cast<Offset>(at - columns_.begin()) : -1;
}

template class PointBlocks<float>;
template class PointBlocks<double>;

}  // namespace nodewise::amg::sparsify
