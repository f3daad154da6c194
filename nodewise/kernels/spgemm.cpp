#include "nodewise/kernels/spgemm.hpp"

#include <algorithm>
#include <vector>

#include "nodewise/kernels/point_product.hpp"
#include "nodewise/kernels/row_marks.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/kernels/row_sorter.hpp"

namespace nodewise::kernels {

namespace {

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

  void load(LocalIndex i) {
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

/// The product of the rows from `begin` to `end`, which are loaded one by one, with B.
template <class T, class Rows>
class Product {
 public:
  Product(Rows rows, LocalIndex begin, LocalIndex end, const ExtendedRows<T>& B)
      : rows_(std::move(rows)), begin_(begin), B_(B), C_(end - begin, B.n_cols), sum_(B.n_cols) {}

  Csr<T> run() {
    resize(estimate());
    Offset* const row_ptr = C_.row_ptr.data();
    Offset out = 0;
    for (LocalIndex i = 0; i < C_.n_rows; ++i) {
      multiply_row(i);
      make_room(out + sum_.length());
      sorter_.sort(sum_.cols(), sum_.vals(), static_cast<std::size_t>(sum_.length()),
                   C_.cols.data() + out, C_.vals.data() + out);
      out += sum_.length();
      row_ptr[i + 1] = out;
    }
    resize(static_cast<std::size_t>(out));
    return std::move(C_);
  }

 private:
  void resize(std::size_t n) {
    C_.cols.resize(n);
    C_.vals.resize(n);
  }

  void make_room(Offset n) {
    const auto needed = static_cast<std::size_t>(n);
    if (C_.cols.size() < needed) resize(std::max(needed, C_.cols.size() + C_.cols.size() / 4));
  }

  /// The nonzeros to expect, from every 64th row and with a margin.
  std::size_t estimate() {
    constexpr LocalIndex stride = 64;
    double found = 0;
    LocalIndex sampled = 0;
    for (LocalIndex i = 0; i < C_.n_rows; i += stride, ++sampled) {
      multiply_row(i);
      found += sum_.length();
    }
    return static_cast<std::size_t>(1.06 * found / std::max(sampled, 1) * C_.n_rows) + 1024;
  }

  void multiply_row(LocalIndex i) {
    rows_.load(begin_ + i);
    auto row = sum_.open();
    rows_.for_each_piece([&](const LocalIndex* ks, const T* as, Offset n, LocalIndex shift) {
      for (Offset p = 0; p < n; ++p) {
        const T a = as[p];
        B_.for_each_piece(ks[p] + shift,
                          [&](const LocalIndex* js, const T* bs, Offset n_j, LocalIndex j_shift) {
                            row.add(a, js, bs, n_j, j_shift);
                          });
      }
    });
    sum_.close(row);
  }

  Rows rows_;
  LocalIndex begin_;
  const ExtendedRows<T>& B_;
  Csr<T> C_;
  RowSum<T> sum_;
  RowSorter<T> sorter_;
};

template <class T, class F>
void for_each_column(const KnownRows<T>& known, LocalIndex i, const F& f) {
  for (Offset k = known.on->begin(i); k < known.on->end(i); ++k) {
    f(known.on->cols[static_cast<std::size_t>(k)]);
  }
  if (known.off == nullptr) return;
  for (Offset k = known.off->begin(i); k < known.off->end(i); ++k) {
    const LocalIndex j = known.off->cols[static_cast<std::size_t>(k)];
    f(known.off_columns[static_cast<std::size_t>(j)]);
  }
}

/// Places of one known row after another.
template <class T>
class Places {
 public:
  Places(const KnownRows<T>& known, LocalIndex n_cols)
      : known_(known), places_(static_cast<std::size_t>(n_cols), 0) {}

  /// Numbers the columns of row i; returns how many it has. Others keep what an earlier row gave
  /// them, which is less than max_length().
  LocalIndex load(LocalIndex i) {
    LocalIndex n = 0;
    for_each_column(known_, i, [&](LocalIndex j) { places_[static_cast<std::size_t>(j)] = n++; });
    return n;
  }
  const LocalIndex* data() const { return places_.data(); }

  std::size_t max_length() const {
    Offset longest = 1;
    for (LocalIndex i = 0; i < known_.on->n_rows; ++i) {
      Offset n = known_.on->end(i) - known_.on->begin(i);
      if (known_.off != nullptr) n += known_.off->end(i) - known_.off->begin(i);
      longest = std::max(longest, n);
    }
    return static_cast<std::size_t>(longest);
  }

 private:
  const KnownRows<T>& known_;
  std::vector<LocalIndex> places_;  // of every column in the current row
};

/// The values of the product of the rows from `begin` to `end`, which are loaded one by one, with
/// B, every entry summed up in the same order as by Product.
template <class T, class Rows>
void known_product(Rows rows, LocalIndex begin, LocalIndex end, const ExtendedRows<T>& B,
                   const KnownRows<T>& known, T* on_vals, T* off_vals) {
  Places<T> places(known, B.n_cols);
  std::vector<T> row_sum(places.max_length());
  T* const sum = row_sum.data();
  const LocalIndex* const at = places.data();
  for (LocalIndex i = begin; i < end; ++i) {
    // -0, since the first term added to it remains as it is, even if it is -0.
    std::fill_n(sum, places.load(i), -T{0});
    rows.load(i);
    rows.for_each_piece([&](const LocalIndex* ks, const T* as, Offset n, LocalIndex shift) {
      for (Offset p = 0; p < n; ++p) {
        const T a = as[p];
        B.for_each_piece(ks[p] + shift,
                         [&](const LocalIndex* js, const T* bs, Offset n_j, LocalIndex j_shift) {
                           for (Offset q = 0; q < n_j; ++q) sum[at[js[q] + j_shift]] += a * bs[q];
                         });
      }
    });
    const Offset n_on = known.on->end(i) - known.on->begin(i);
    std::copy_n(sum, n_on, on_vals + known.on->begin(i));
    if (known.off == nullptr) continue;
    std::copy_n(sum + n_on, known.off->end(i) - known.off->begin(i),
                off_vals + known.off->begin(i));
  }
}

}  // namespace

template <class T>
Csr<T> spgemm(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B) {
  const auto row_ptr = std::span<const Offset>(A.on->row_ptr);
  return rows_in_parts<T>(row_ptr.first(static_cast<std::size_t>(n_rows) + 1),
                          [&](LocalIndex begin, LocalIndex end) {
                            return Product<T, PlainRows<T>>(PlainRows<T>(A), begin, end, B).run();
                          });
}

template <class T>
Csr<T> triple_product(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                      int unknowns) {
  if (comes_in_points(unknowns, L, B)) return point_triple_product(unknowns, L, A, B);
  return rows_in_parts<T>(L.row_ptr, [&](LocalIndex begin, LocalIndex end) {
    return Product<T, ProductRows<T>>(ProductRows<T>(L, A), begin, end, B).run();
  });
}

template <class T>
bool has_places_for(const KnownRows<T>& known, const Csr<T>& rows, LocalIndex n_cols) {
  std::vector<LocalIndex> row_of(static_cast<std::size_t>(n_cols), -1);  // the last that has it
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    for_each_column(known, i, [&](LocalIndex j) { row_of[static_cast<std::size_t>(j)] = i; });
    for (Offset k = rows.begin(i); k < rows.end(i); ++k) {
      const LocalIndex j = rows.cols[static_cast<std::size_t>(k)];
      if (row_of[static_cast<std::size_t>(j)] != i) return false;
    }
  }
  return true;
}

template <class T>
void spgemm_values(const ExtendedRows<T>& A, const ExtendedRows<T>& B, const KnownRows<T>& known,
                   T* on_vals, T* off_vals) {
  parallel::for_rows(known.on->row_ptr, [&](LocalIndex begin, LocalIndex end) {
    known_product(PlainRows<T>(A), begin, end, B, known, on_vals, off_vals);
  });
}

template <class T>
void triple_product_values(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                           const KnownRows<T>& known, T* on_vals, T* off_vals, int unknowns) {
  if (comes_in_points(unknowns, L, B) && comes_in_points(unknowns, known)) {
    return point_triple_product_values(unknowns, L, A, B, known, on_vals, off_vals);
  }
  parallel::for_rows(known.on->row_ptr, [&](LocalIndex begin, LocalIndex end) {
    known_product(ProductRows<T>(L, A), begin, end, B, known, on_vals, off_vals);
  });
}

#define NODEWISE_INSTANTIATE(T)                                                                    \
  template Csr<T> spgemm(const ExtendedRows<T>&, LocalIndex, const ExtendedRows<T>&);              \
  template Csr<T> triple_product(const Csr<T>&, const ExtendedRows<T>&, const ExtendedRows<T>&,    \
                                 int);                                                             \
  template bool has_places_for(const KnownRows<T>&, const Csr<T>&, LocalIndex);                    \
  template void spgemm_values(const ExtendedRows<T>&, const ExtendedRows<T>&, const KnownRows<T>&, \
                              T*, T*);                                                             \
  template void triple_product_values(const Csr<T>&, const ExtendedRows<T>&,                       \
                                      const ExtendedRows<T>&, const KnownRows<T>&, T*, T*, int);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
