// Walks over the entries of one row of a distributed matrix in global columns.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::io {

/// Local. Calls visit(global column, value) for the entries of local row i, columns ascending: the
/// ghosts below the owned columns, the owned ones, the ghosts above them.
template <class T, class Visit>
void visit_row(const matrix::DistMatrix<T>& A, LocalIndex i, Visit&& visit) {
  Offset ghost = A.off().begin(i);
  const auto ghosts_below = [&](GlobalIndex limit) {
    for (; ghost < A.off().end(i); ++ghost) {
      const auto p = static_cast<std::size_t>(ghost);
      const GlobalIndex col = A.ghosts()[static_cast<std::size_t>(A.off().cols[p])];
      if (col >= limit) return;
      visit(col, A.off().vals[p]);
    }
  };
  ghosts_below(A.cols().begin());
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    visit(A.cols().to_global(A.on().cols[p]), A.on().vals[p]);
  }
  ghosts_below(A.cols().last());
}

}  // namespace nodewise::io
