// The rows of a product of three matrices, one at a time.
#pragma once

#include <span>

#include "nodewise/base/array.hpp"
#include "nodewise/kernels/product_rows.hpp"

namespace nodewise::kernels {

/// Makes the rows of L A B one at a time, by way of a row of L A. Its entries that `direct`, which
/// is empty or B's direct_columns(), leads to the product come first, then the others times their
/// rows of B.
template <class T>
class TripleRows {
 public:
  TripleRows(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
             std::span<const LocalIndex> direct)
      : rows_(L, A), B_(B), direct_(direct), others_(direct.size()), sum_(B.n_cols + 1) {}

  void make(LocalIndex i) {
    rows_.load(i);
    multiply();
  }
  LocalIndex length() const { return sum_.length(); }
  const LocalIndex* cols() const { return sum_.cols(); }
  const T* vals() const { return sum_.vals(); }

 private:
  // Apart from the loop over rows, which would take registers from it.
  [[gnu::noinline]] void multiply() {
    auto row = sum_.open();
    rows_.for_each_piece([&](const LocalIndex* ks, const T* as, Offset n, LocalIndex) {
      const auto multiply_by = [&](LocalIndex k, T factor) {
        B_.for_each_piece(k, [&](const LocalIndex* js, const T* bs, Offset n_j, LocalIndex shift) {
          row.add(factor, js, bs, n_j, shift);
        });
      };
      if (direct_.empty()) {
        for (Offset p = 0; p < n; ++p) multiply_by(ks[p], as[p]);
        return;
      }
      const LocalIndex n_others = take_direct(row, ks, as, n);
      const LocalIndex* const others = others_.data();
      for (LocalIndex q = 0; q < n_others; ++q) multiply_by(ks[others[q]], as[others[q]]);
    });
    sum_.close(row);
  }

  /// Returns how many others there are. Without a jump on what nobody can guess: those that are not
  /// direct are written to a column behind all others, and written over.
  LocalIndex take_direct(typename RowSum<T>::Open& row, const LocalIndex* ks, const T* as,
                         Offset n) {
    const LocalIndex* const direct = direct_.data();
    LocalIndex* const others = others_.data();
    const LocalIndex none = B_.n_cols;
    LocalIndex n_others = 0;
    for (Offset p = 0; p < n; ++p) {
      const LocalIndex column = direct[ks[p]];
      row.put(column, as[p], column != none);
      others[n_others] = static_cast<LocalIndex>(p);
      n_others += column == none ? 1 : 0;
    }
    return n_others;
  }

  ProductRows<T> rows_;
  const ExtendedRows<T>& B_;
  std::span<const LocalIndex> direct_;
  Array<LocalIndex> others_;  // places of the row of L A
  RowSum<T> sum_;
};

}  // namespace nodewise::kernels
