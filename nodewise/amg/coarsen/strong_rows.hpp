// What points depend on, also those of other ranks.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/kernels/csr.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::coarsen {

/// Rows of points: local ones and, behind them, ghosts.
struct StrongRows {
  std::vector<Offset> begin = {0};
  std::vector<LocalIndex> cols;

  std::span<const LocalIndex> of(std::size_t i) const {
    return {cols.data() + begin[i], static_cast<std::size_t>(begin[i + 1] - begin[i])};
  }
};

namespace detail {

/// Local. What the points that others ask for depend on, as global indices.
template <class T>
comm::Records<GlobalIndex> outgoing_strong_rows(const matrix::DistMatrix<T>& A,
                                                const Strength& strength) {
  comm::Records<GlobalIndex> rows;
  for (const LocalIndex i : A.exchange().exported_entries()) {
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (strength.on[p]) rows.data.push_back(A.cols().to_global(A.on().cols[p]));
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (strength.off[p]) {
        rows.data.push_back(A.ghosts()[static_cast<std::size_t>(A.off().cols[p])]);
      }
    }
    rows.end_record();
  }
  return rows;
}

/// Local. Leaves out points that this rank does not know.
template <class T>
StrongRows numbered(const matrix::DistMatrix<T>& A, const comm::Records<GlobalIndex>& received) {
  StrongRows rows;
  const auto ghosts = A.ghosts();
  for (std::size_t g = 0; g < received.size(); ++g) {
    for (const GlobalIndex column : received[g]) {
      if (A.cols().owns(column)) {
        rows.cols.push_back(A.cols().to_local(column));
        continue;
      }
      const auto at = std::lower_bound(ghosts.begin(), ghosts.end(), column);
      if (at == ghosts.end() || *at != column) continue;
      rows.cols.push_back(A.n_local() + static_cast<LocalIndex>(at - ghosts.begin()));
    }
    rows.begin.push_back(static_cast<Offset>(rows.cols.size()));
  }
  return rows;
}

}  // namespace detail

/// Collective. What the ghosts depend on, as far as this rank's rows may depend on it, too. One
/// exchange of A for records, and an agreement.
template <class T>
StrongRows ghost_dependences(const matrix::DistMatrix<T>& A, const Strength& strength) {
  std::optional<Error> failure;
  const auto received = A.exchange().forward_records(
      [&] { return detail::outgoing_strong_rows(A, strength); }, failure);
  return mpi::collectively(A.comm(), [&] {
    if (failure) throw Error(*failure);
    return detail::numbered(A, received);
  });
}

/// Local. Where the strong entries of every row begin, were they one after another: of a matrix on
/// one rank what ghost_dependences() sends.
std::vector<Offset> strong_offsets(const kernels::Csr<double>& A, const Strength& strength);

}  // namespace nodewise::amg::coarsen
