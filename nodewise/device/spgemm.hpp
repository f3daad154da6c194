// Products of sparse matrices on a device.
#pragma once

#include "nodewise/device/csr_matrix.hpp"

namespace nodewise::device {

/// Local. C = A B, by hash tables (Nagasaka, Matsuoka, Azad, Buluc 2018): rows are dealt to kinds
/// of tables by a bound on their lengths, counted, filled with their columns, which are sorted, and
/// then with their values. Whatever cancels keeps its place. Every entry is a sum over the entries
/// of A's row in their order, so that the result is the same to the bit in every space. A.n_cols
/// must be the number of rows of B. Besides C there is room for its columns once more, and for
/// tables of 256 MiB at most, or one for the longest row. Throws Error{out_of_memory}.
template <class Space>
CsrMatrix<double, Space> multiply(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                                  const CsrMatrix<double, Space>& B);

/// Local. Its places alone; values are neither read nor set.
template <class Space>
CsrMatrix<double, Space> product_places(Primitives<Space>& primitives,
                                        const CsrMatrix<double, Space>& A,
                                        const CsrMatrix<double, Space>& B);

/// Local. The values alone, where C has places: to the bit what multiply() makes. What C has no
/// place for is left out.
template <class Space>
void multiply_again(Primitives<Space>& primitives, const CsrMatrix<double, Space>& A,
                    const CsrMatrix<double, Space>& B, CsrMatrix<double, Space>& C);

}  // namespace nodewise::device
