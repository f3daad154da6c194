// The product of three local sparse matrices whose coarse rows and columns come in points.
#pragma once

#include "nodewise/kernels/known_product.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::kernels {

/// Local. Returns whether rows and columns of a product come in points of `unknowns`, min_block ..
/// max_block (bsr.hpp). This holds where the rows of every point, `unknowns` consecutive ones, have
/// the same columns in L, and the columns of every row of B come in whole points, side by side and
/// ascending from a multiple of `unknowns`. It holds for L = P^T and B = P with the prolongator P
/// of an aggregation, since every aggregate has a column for each near null space vector.
template <class T>
bool comes_in_points(int unknowns, const Csr<T>& L, const ExtendedRows<T>& B);
/// Local. Whether the rows and columns of places do.
template <class T>
bool comes_in_points(int unknowns, const KnownRows<T>& known);

/// Local. Returns triple_product(L, A, B), bit for bit, where rows and columns come in points. The
/// rows of a point are made together: a column of L A is looked up once for all of them, and once
/// for a whole point of the result. The order of A's rows and columns does not matter.
template <class T>
Csr<T> point_triple_product(int unknowns, const Csr<T>& L, const ExtendedRows<T>& A,
                            const ExtendedRows<T>& B);

/// Local. triple_product_values(L, A, B, known, on_vals, off_vals), likewise, where the places come
/// in points, too.
template <class T>
void point_triple_product_values(int unknowns, const Csr<T>& L, const ExtendedRows<T>& A,
                                 const ExtendedRows<T>& B, const KnownRows<T>& known, T* on_vals,
                                 T* off_vals);

}  // namespace nodewise::kernels
