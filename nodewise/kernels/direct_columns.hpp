// Rows of a factor that are rows of the identity.
#pragma once

#include "nodewise/base/array.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::kernels {

/// Local. Returns for each row of B the column j where the row is a single one and nothing else, as
/// the rows of coarse points in an interpolation are, and only for the first such row of a column;
/// otherwise B.n_cols. A factor multiplied by such a row is an entry of the product already.
template <class T>
Array<LocalIndex> direct_columns(const ExtendedRows<T>& B);

}  // namespace nodewise::kernels
