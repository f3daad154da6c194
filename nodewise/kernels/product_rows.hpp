// The rows of a factor of a product, which may be a product itself, one at a time.
#pragma once

#include <algorithm>
#include <cstddef>

#include "nodewise/base/array.hpp"
#include "nodewise/kernels/row_marks.hpp"
#include "nodewise/kernels/row_sorter.hpp"
#include "nodewise/kernels/spgemm.hpp"

namespace nodewise::kernels {

/// Sums up one sparse row after another.
template <class T>
class RowSum {
 public:
  /// The room for a row of full length costs nothing before it is written to.
  explicit RowSum(LocalIndex n_cols)
      : marks_(n_cols),
        cols_(std::max(static_cast<std::size_t>(n_cols), RowSorter<T>::readable)),
        vals_(static_cast<std::size_t>(n_cols)) {
    std::fill_n(cols_.begin(), RowSorter<T>::readable, LocalIndex{0});
  }

  /// The row while it grows.
  struct Open {
    RowMarks::Open row;
    LocalIndex* cols;
    T* vals;

    /// A first entry of column j; without `keeps` the next new one takes its place.
    void put(LocalIndex j, T value, bool keeps) {
      const LocalIndex place = row.put(j, keeps);
      cols[place] = j;
      vals[place] = value;
    }
    void add(T factor, const LocalIndex* js, const T* values, Offset n, LocalIndex shift) {
      for (Offset q = 0; q < n; ++q) {
        const LocalIndex j = js[q] + shift;
        bool is_new = false;
        const LocalIndex place = row.place(j, is_new);
        if (is_new) {
          cols[place] = j;
          vals[place] = factor * values[q];
        } else {
          vals[place] += factor * values[q];
        }
      }
    }
  };

  Open open() { return {marks_.open(), cols_.data(), vals_.data()}; }
  void close(const Open& row) { marks_.close(row.row); }

  LocalIndex length() const { return marks_.length(); }
  const LocalIndex* cols() const { return cols_.data(); }
  const T* vals() const { return vals_.data(); }

 private:
  RowMarks marks_;
  Array<LocalIndex> cols_;
  Array<T> vals_;
};

/// The rows of A, one at a time.
template <class T>
class PlainRows {
 public:
  explicit PlainRows(const ExtendedRows<T>& A) : A_(A) {}
  void load(LocalIndex i) { row_ = i; }
  template <class F>
  void for_each_piece(F&& f) const {
    A_.for_each_piece(row_, f);
  }

 private:
  const ExtendedRows<T>& A_;
  LocalIndex row_ = 0;
};

/// The rows of L A, one at a time.
template <class T>
class ProductRows {
 public:
  ProductRows(const Csr<T>& L, const ExtendedRows<T>& A) : L_(L), A_(A), sum_(A.n_cols) {}

  // Apart from what is done with the row, which would take registers from it.
  [[gnu::noinline]] void load(LocalIndex i) {
    auto row = sum_.open();
    for (Offset k = L_.begin(i); k < L_.end(i); ++k) {
      const T l = L_.vals[static_cast<std::size_t>(k)];
      A_.for_each_piece(L_.cols[static_cast<std::size_t>(k)],
                        [&](const LocalIndex* js, const T* as, Offset n, LocalIndex shift) {
                          row.add(l, js, as, n, shift);
                        });
    }
    sum_.close(row);
  }
  template <class F>
  void for_each_piece(F&& f) const {
    f(sum_.cols(), sum_.vals(), Offset{sum_.length()}, LocalIndex{0});
  }

 private:
  const Csr<T>& L_;
  const ExtendedRows<T>& A_;
  RowSum<T> sum_;
};

}  // namespace nodewise::kernels
