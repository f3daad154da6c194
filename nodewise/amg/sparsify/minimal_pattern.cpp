#include "nodewise/amg/sparsify/minimal_pattern.hpp"

#include <algorithm>
#include <utility>

#include "nodewise/matrix/redistribute.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::sparsify {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// Of A's ghosts among those that rows were fetched for; empty where they are the same.
std::vector<LocalIndex> places_among(std::span<const GlobalIndex> ghosts,
                                     std::span<const GlobalIndex> fetched_for) {
  std::vector<LocalIndex> places;
  if (ghosts.size() == fetched_for.size()) return places;
  auto at = fetched_for.begin();
  for (const GlobalIndex ghost : ghosts) {
    at = std::lower_bound(at, fetched_for.end(), ghost);
    places.push_back(static_cast<LocalIndex>(at - fetched_for.begin()));
  }
  return places;
}

}  // namespace

template <class T>
MinimalPattern<T>::MinimalPattern(const Coarsening<T>& c, std::optional<Error>& failure)
    : A_(&c.A),
      P_(&c.P),
      coarse_rows_(c.coarse_rows),
      unknowns_(c.unknowns),
      coarse_unknowns_(c.coarse_unknowns),
      fetched_(c.fetched) {
  comm::Records<matrix::RowWord<T>> records;
  if (!fetched_) records = matrix::fetch_records(c.A.exchange(), c.P, failure);
  if (!failure) {
    failure = mpi::caught([&] {
      if (fetched_) {
        places_ = places_among(c.A.ghosts(), c.fetched_for);
      } else {
        fetched_ = std::make_shared<const matrix::FetchedRows<T>>(matrix::to_rows(c.P, records));
      }
      ghosts_ = fetched_->columns.ghosts();
      if (c.move != nullptr) moved_ = make_rows();
    });
  }
  if (c.move != nullptr) move_rows(c, failure);
}

/// The rows of this rank's coarse points, each in the place of the point's first row.
template <class T>
Csr<T> MinimalPattern<T>::make_rows() const {
  const auto n = static_cast<LocalIndex>(coarse_rows_.size());
  const auto n_columns = static_cast<std::size_t>(fetched_->columns.size());
  Csr<T> rows(n, fetched_->columns.size());
  std::vector<LocalIndex> last_row(n_columns, -1);  // that was found to have the column
  for (LocalIndex k = 0; k < n; ++k) {
    if (k % coarse_unknowns_ == 0) {
      for_each_column(k / coarse_unknowns_, [&](LocalIndex column) {
        if (std::exchange(last_row[static_cast<std::size_t>(column)], k) == k) return;
        rows.cols.push_back(column);
        rows.vals.push_back(T{1});
      });
    }
    rows.row_ptr[static_cast<std::size_t>(k) + 1] = static_cast<Offset>(rows.cols.size());
  }
  return rows;
}

/// Collective. Brings the rows to where the coarse rows went.
template <class T>
void MinimalPattern<T>::move_rows(const Coarsening<T>& c, const std::optional<Error>& failure) {
  const DistMatrix<T> before(c.move->from(), P_->cols(), [&] {
    if (failure) throw Error(*failure);
    return matrix::split_rows<T>(P_->cols(),
                                 {std::move(*moved_), P_->cols().n_local(), std::move(ghosts_)});
  });
  const DistMatrix<T> after = c.moves_columns ? matrix::redistribute(before, *c.move)
                                              : matrix::with_moved_rows(before, *c.move);
  mpi::collectively(after.comm(), [&] {
    moved_.emplace(after.n_local(), after.cols().n_local() + after.n_ghosts());
    ghosts_.assign(after.ghosts().begin(), after.ghosts().end());
    for (LocalIndex i = 0; i < after.n_local(); ++i) {
      for_each_entry(after, i, [&](LocalIndex column, T value) {
        moved_->cols.push_back(column);
        moved_->vals.push_back(value);
      });
      moved_->row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(moved_->cols.size());
    }
  });
}

template class MinimalPattern<float>;
template class MinimalPattern<double>;

}  // namespace nodewise::amg::sparsify
