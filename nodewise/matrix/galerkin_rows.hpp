// A rank's own work in a Galerkin product, in the form that suits the matrices.
#pragma once

#include <optional>
#include <span>

#include "nodewise/kernels/block_product.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Local. A's rows in its blocks, their columns numbered as extended_rows() numbers rows, but by
/// points; nothing where A has no blocks, or some unknown of a ghost point is no ghost.
template <class T>
std::optional<kernels::BlockRows<T>> block_rows(const DistMatrix<T>& A);

/// Local. The same where `part`, rows or columns of P that this rank has, and P come in blocks, so
/// that part^T A P is made block by block (kernels/block_product.hpp).
template <class T>
std::optional<kernels::BlockRows<T>> block_rows_for(const Csr<T>& part, const DistMatrix<T>& A,
                                                    const kernels::ExtendedRows<T>& P,
                                                    int coarse_unknowns);

/// Local. Returns which entries of P^T A are entries of P^T A P: kernels::direct_columns() of P's
/// rows, as this rank has them. Empty, on all ranks, where P comes in points, and where fewer than
/// a third of P's rows can be so: telling them apart takes as long as it saves.
template <class T>
Array<LocalIndex> direct_columns(const DistMatrix<T>& P, const kernels::ExtendedRows<T>& rows,
                                 int coarse_unknowns);

/// Local. part^T A P, block by block, by points or by rows; `direct` as direct_columns() has it.
template <class T>
Csr<T> galerkin_rows(const Csr<T>& part, const DistMatrix<T>& A, const kernels::ExtendedRows<T>& P,
                     int coarse_unknowns, std::span<const LocalIndex> direct);

/// Local. The values of part^T A P that are made block by block, bit for bit, at known places.
template <class T>
void galerkin_values(const Csr<T>& part, const kernels::BlockRows<T>& A,
                     const kernels::ExtendedRows<T>& P, int coarse_unknowns,
                     const kernels::KnownRows<T>& known, T* on_vals, T* off_vals);

}  // namespace nodewise::matrix
