// Rearranging a local matrix: sorting rows, transposing.
#pragma once

#include <algorithm>

#include "nodewise/kernels/csr.hpp"

namespace nodewise::kernels {

/// Local. Sorts the columns of every row and adds up repeated ones, in their order of occurrence.
/// Returns the number of entries that were added to another.
template <class T>
Offset sort_and_combine_rows(Csr<T>& A);

/// Local. A^T, its rows sorted. Linear in nonzeros and dimensions.
template <class T>
Csr<T> transpose(const Csr<T>& A);

/// Local. The place within row i, columns ascending, at which column i is or would be inserted.
/// `guess` is tried first: on a grid most rows have it in common.
template <class T>
LocalIndex diagonal_place(const Csr<T>& A, LocalIndex i, LocalIndex guess) {
  const LocalIndex* row = A.cols.data() + A.begin(i);
  const auto length = static_cast<LocalIndex>(A.length(i));
  if (guess < length && row[guess] == i) return guess;
  return static_cast<LocalIndex>(std::lower_bound(row, row + length, i) - row);
}

/// Local. The diagonal entry of row i, columns ascending; 0 where there is none. `guess` is the
/// place tried first, and becomes that which was found.
template <class T>
T diagonal_entry(const Csr<T>& A, LocalIndex i, LocalIndex& guess) {
  guess = diagonal_place(A, i, guess);
  const Offset k = A.begin(i) + guess;
  const bool there = k < A.end(i) && A.cols[static_cast<std::size_t>(k)] == i;
  return there ? A.vals[static_cast<std::size_t>(k)] : T{};
}

}  // namespace nodewise::kernels
