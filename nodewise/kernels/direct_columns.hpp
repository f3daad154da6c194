// Rows of a factor that are rows of the identity.
#pragma once

#include "nodewise/base/array.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::kernels {

/// Local. For each row of B the column j where it is the first that has a one there and nothing
/// else, as the rows of coarse points in an interpolation have; otherwise B.n_cols. What is to be
/// multiplied by such a row is an entry of the product already.
template <class T>
Array<LocalIndex> direct_columns(const ExtendedRows<T>& B);

}  // namespace nodewise::kernels
