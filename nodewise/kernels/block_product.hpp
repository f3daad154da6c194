// Products of local sparse matrices block by block: dense blocks times rows that come in points.
#pragma once

#include <span>

#include "nodewise/kernels/bsr.hpp"
#include "nodewise/kernels/known_product.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::kernels {

/// Block rows of a matrix in two pieces, all in one numbering of block columns: block row i is
/// block row i of `on` followed by that of `off`, with off_shift added to its columns; `off` may be
/// null.
template <class T>
struct BlockRows {
  const Bsr<T>* on = nullptr;
  const Bsr<T>* off = nullptr;
  LocalIndex off_shift = 0;

  int block() const { return on->block; }
  LocalIndex n_cols() const { return on->n_cols + (off != nullptr ? off->n_cols : 0); }

  /// Calls f(cols, vals, length, shift) for each piece of block row i.
  template <class F>
  void for_each_piece(LocalIndex i, F&& f) const {
    const auto piece = [&f, i](const Bsr<T>& part, LocalIndex shift) {
      const Offset begin = part.begin(i);
      f(part.cols.data() + begin,
        part.vals.data() + begin * static_cast<Offset>(part.block_entries()), part.end(i) - begin,
        shift);
    };
    piece(*on, 0);
    if (off != nullptr) piece(*off, off_shift);
  }
};

/// Local. Returns whether P is itself in dense blocks, of A's block() rows and `unknowns` columns,
/// with such rows for all block columns of A. The rows of every point then have the same columns,
/// and these come in whole points, side by side and ascending from a multiple of `unknowns`. The
/// rows of an aggregation's prolongator come so; such a P is read as it is. There are products for
/// square blocks of 2 to 6 rows, and for the rigid body modes of the plane, 2 x 3, and of space, 3
/// x 6.
template <class T>
bool comes_in_blocks(int unknowns, const BlockRows<T>& A, const ExtendedRows<T>& P);
/// Local. The same of one part of P alone.
template <class T>
bool comes_in_blocks(int unknowns, int block, const Csr<T>& part);

/// Local. P + F A P (Gustavson 1978), F being diagonal: one factor for each of A's rows. P comes in
/// blocks, as does the result; its columns ascend in every row. Terms are added in the order in
/// which the rows by themselves add them.
template <class T>
Csr<T> block_smoothed_rows(int unknowns, const BlockRows<T>& A, std::span<const T> factors,
                           const ExtendedRows<T>& P);

/// Local. Returns part^T A P, where `part` and P come in blocks. Each point of it is made at once,
/// with one look-up for a block of A and one for a block of P. The places are those of the product
/// by rows. The values equal its values up to round-off, since rows may meet columns in another
/// order.
template <class T>
Csr<T> block_triple_product(int unknowns, const Csr<T>& part, const BlockRows<T>& A,
                            const ExtendedRows<T>& P);

/// Local. Its values, bit for bit, at known places that come in points (point_product.hpp): on_vals
/// and off_vals are arrays like known.on->vals and known.off->vals.
template <class T>
void block_triple_product_values(int unknowns, const Csr<T>& part, const BlockRows<T>& A,
                                 const ExtendedRows<T>& P, const KnownRows<T>& known, T* on_vals,
                                 T* off_vals);

}  // namespace nodewise::kernels
