// Which entries of a matrix to bring to its diagonal.
#pragma once

#include <vector>

#include "nodewise/base/types.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::solver {

/// A column for each row, no column twice, so that the product of the moduli of the chosen entries
/// is the largest of all such choices, and a scaling that goes with it.
struct Matching {
  std::vector<LocalIndex> column_of_row;  ///< -1: none is left for it
  LocalIndex size = 0;                    ///< rows with a column: the structural rank
  /// Powers of two. Of the scaled matrix the chosen entries have a modulus about 1, and no other
  /// a larger one, but for the rounding to powers of two: between 1/2 and 2, and at most 2.
  std::vector<int> row_exponents, column_exponents;
};

/// Local. A is square, its values finite; stored zeros are no entries. Shortest augmenting paths
/// with Dijkstra's algorithm, one for each row that a first pass leaves without a column:
/// O(n (nnz + n) log n) at worst, far less as a rule. The same bits everywhere: ties go to the
/// lower column.
/// Source: Duff, Koster, "On algorithms for permuting large entries to the diagonal of a sparse
/// matrix", SIAM J. Matrix Anal. Appl. 22, 2001.
Matching match_rows(const kernels::Csr<double>& A);

}  // namespace nodewise::solver
