// The entries of a matrix row by row, whichever rank owns their columns.
#pragma once

#include <type_traits>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Sums of entries count as zero below this times the sum of the moduli.
template <class T>
constexpr double round_off() {
  return std::is_same_v<T, float> ? 1e-5 : 1e-10;
}

/// Local. Calls f(column, value) for the entries of row i: this rank's columns, then ghost g as
/// cols().n_local() + g.
template <class T, class F>
void for_each_entry(const DistMatrix<T>& A, LocalIndex i, F&& f) {
  const auto visit = [&](const Csr<T>& part, LocalIndex shift) {
    for (auto k = static_cast<std::size_t>(part.begin(i));
         k < static_cast<std::size_t>(part.end(i)); ++k) {
      f(part.cols[k] + shift, part.vals[k]);
    }
  };
  visit(A.on(), 0);
  visit(A.off(), A.cols().n_local());
}

/// Local. visit(global column, value) for every entry of row i that is not zero.
template <class T, class Visit>
void for_each_in_row(const DistMatrix<T>& A, LocalIndex i, Visit&& visit) {
  for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (A.on().vals[p] != T{}) {
      visit(A.cols().to_global(A.on().cols[p]), static_cast<double>(A.on().vals[p]));
    }
  }
  for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    if (A.off().vals[p] != T{}) {
      visit(A.ghosts()[static_cast<std::size_t>(A.off().cols[p])],
            static_cast<double>(A.off().vals[p]));
    }
  }
}

}  // namespace nodewise::matrix
