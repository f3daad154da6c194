#include "nodewise/matrix/galerkin_rows.hpp"

#include <algorithm>
#include <vector>

#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/direct_columns.hpp"
#include "nodewise/kernels/point_product.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/row_exchange.hpp"

namespace nodewise::matrix {

using kernels::BlockRows;
using kernels::ExtendedRows;
using kernels::KnownRows;

template <class T>
std::optional<BlockRows<T>> block_rows(const DistMatrix<T>& A) {
  const BlockMatrix<T>* const blocks = A.blocks();
  if (blocks == nullptr) return {};
  if (blocks->off().n_cols * blocks->block() != A.n_ghosts()) return {};
  return BlockRows<T>{.on = &blocks->on(),
                      .off = A.n_ghosts() > 0 ? &blocks->off() : nullptr,
                      .off_shift = blocks->on().n_cols};
}

template <class T>
std::optional<BlockRows<T>> block_rows_for(const Csr<T>& part, const DistMatrix<T>& A,
                                           const ExtendedRows<T>& P, int coarse_unknowns) {
  const std::optional<BlockRows<T>> rows = block_rows(A);
  if (!rows || !kernels::comes_in_blocks(coarse_unknowns, rows->block(), part)) return {};
  if (!kernels::comes_in_blocks(coarse_unknowns, *rows, P)) return {};
  return rows;
}

template <class T>
Array<LocalIndex> direct_columns(const DistMatrix<T>& P, const ExtendedRows<T>& rows,
                                 int coarse_unknowns) {
  const bool are_many = P.cols().n_global() >= P.rows().n_global() / 3;
  return are_many && coarse_unknowns <= 1 ? kernels::direct_columns(rows) : Array<LocalIndex>();
}

template <class T>
Csr<T> galerkin_rows(const Csr<T>& part, const DistMatrix<T>& A, const ExtendedRows<T>& P,
                     int coarse_unknowns, std::span<const LocalIndex> direct) {
  if (const auto blocks = block_rows_for(part, A, P, coarse_unknowns)) {
    return kernels::block_triple_product(coarse_unknowns, part, *blocks, P);
  }
  return kernels::triple_product(kernels::transpose(part), extended_rows(A), P, coarse_unknowns,
                                 direct);
}

namespace {

/// Writes the entries of rows to their places.
template <class T>
void write_to_places(const Csr<T>& rows, const KnownRows<T>& known, T* on_vals, T* off_vals) {
  std::vector<T*> place(static_cast<std::size_t>(rows.n_cols));
  const auto open = [&](const Csr<T>& part, LocalIndex i, T* vals, const auto& column_of) {
    std::fill(vals + part.begin(i), vals + part.end(i), T{});
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const LocalIndex column = column_of(part.cols[static_cast<std::size_t>(k)]);
      place[static_cast<std::size_t>(column)] = vals + k;
    }
  };
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    open(*known.on, i, on_vals, [](LocalIndex j) { return j; });
    if (known.off != nullptr) {
      open(*known.off, i, off_vals,
           [&](LocalIndex g) { return known.off_columns[static_cast<std::size_t>(g)]; });
    }
    for (Offset k = rows.begin(i); k < rows.end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      *place[static_cast<std::size_t>(rows.cols[p])] = rows.vals[p];
    }
  }
}

}  // namespace

template <class T>
void galerkin_values(const Csr<T>& part, const BlockRows<T>& A, const ExtendedRows<T>& P,
                     int coarse_unknowns, const KnownRows<T>& known, T* on_vals, T* off_vals) {
  if (kernels::comes_in_points(coarse_unknowns, known)) {
    return kernels::block_triple_product_values(coarse_unknowns, part, A, P, known, on_vals,
                                                off_vals);
  }
  // To rows that come in points here another rank may add entries that do not.
  write_to_places(kernels::block_triple_product(coarse_unknowns, part, A, P), known, on_vals,
                  off_vals);
}

#define NODEWISE_INSTANTIATE(T)                                                                   \
  template std::optional<BlockRows<T>> block_rows(const DistMatrix<T>&);                          \
  template std::optional<BlockRows<T>> block_rows_for(const Csr<T>&, const DistMatrix<T>&,        \
                                                      const ExtendedRows<T>&, int);               \
  template Array<LocalIndex> direct_columns(const DistMatrix<T>&, const ExtendedRows<T>&, int);   \
  template Csr<T> galerkin_rows(const Csr<T>&, const DistMatrix<T>&, const ExtendedRows<T>&, int, \
                                std::span<const LocalIndex>);                                     \
  template void galerkin_values(const Csr<T>&, const BlockRows<T>&, const ExtendedRows<T>&, int,  \
                                const KnownRows<T>&, T*, T*);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::matrix
