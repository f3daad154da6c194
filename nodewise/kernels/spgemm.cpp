#include "nodewise/kernels/spgemm.hpp"

#include <algorithm>

#include "nodewise/kernels/point_product.hpp"
#include "nodewise/kernels/product_rows.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/kernels/row_sorter.hpp"
#include "nodewise/kernels/triple_rows.hpp"

namespace nodewise::kernels {

namespace {

/// The rows of A B, one at a time.
template <class T>
class PairRows {
 public:
  PairRows(const ExtendedRows<T>& A, const ExtendedRows<T>& B) : A_(A), B_(B), sum_(B.n_cols) {}

  // Apart from the loop over rows, which would take registers from it.
  [[gnu::noinline]] void make(LocalIndex i) {
    auto row = sum_.open();
    A_.for_each_piece(i, [&](const LocalIndex* ks, const T* as, Offset n, LocalIndex shift) {
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
  LocalIndex length() const { return sum_.length(); }
  const LocalIndex* cols() const { return sum_.cols(); }
  const T* vals() const { return sum_.vals(); }

 private:
  const ExtendedRows<T>& A_;
  const ExtendedRows<T>& B_;
  RowSum<T> sum_;
};

/// The rows from `begin` to `end` of a product with so many columns, which are made one by one.
template <class T, class Rows>
class Product {
 public:
  Product(Rows rows, LocalIndex begin, LocalIndex end, LocalIndex n_cols)
      : rows_(std::move(rows)), begin_(begin), C_(end - begin, n_cols) {}

  Csr<T> run() {
    resize(estimate());
    Offset* const row_ptr = C_.row_ptr.data();
    Offset out = 0;
    for (LocalIndex i = 0; i < C_.n_rows; ++i) {
      rows_.make(begin_ + i);
      reserve_workspace(out + rows_.length());
      sorter_.sort(rows_.cols(), rows_.vals(), static_cast<std::size_t>(rows_.length()),
                   C_.cols.data() + out, C_.vals.data() + out);
      out += rows_.length();
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

  void reserve_workspace(Offset n) {
    const auto needed = static_cast<std::size_t>(n);
    if (C_.cols.size() < needed) resize(std::max(needed, C_.cols.size() + C_.cols.size() / 4));
  }

  /// The nonzeros to expect, from every 64th row and with a margin.
  std::size_t estimate() {
    constexpr LocalIndex stride = 64;
    double found = 0;
    LocalIndex sampled = 0;
    for (LocalIndex i = 0; i < C_.n_rows; i += stride, ++sampled) {
      rows_.make(begin_ + i);
      found += rows_.length();
    }
    return static_cast<std::size_t>(1.06 * found / std::max(sampled, 1) * C_.n_rows) + 1024;
  }

  Rows rows_;
  LocalIndex begin_;
  Csr<T> C_;
  RowSorter<T> sorter_;
};

}  // namespace

template <class T>
Csr<T> spgemm(const ExtendedRows<T>& A, LocalIndex n_rows, const ExtendedRows<T>& B) {
  const auto row_ptr = std::span<const Offset>(A.on->row_ptr);
  return rows_in_parts<T>(row_ptr.first(static_cast<std::size_t>(n_rows) + 1),
                          [&](LocalIndex begin, LocalIndex end) {
                            return Product<T, PairRows<T>>({A, B}, begin, end, B.n_cols).run();
                          });
}

template <class T>
Csr<T> triple_product(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
                      int unknowns, std::span<const LocalIndex> direct) {
  if (comes_in_points(unknowns, L, B)) return point_triple_product(unknowns, L, A, B);
  return rows_in_parts<T>(L.row_ptr, [&](LocalIndex begin, LocalIndex end) {
    return Product<T, TripleRows<T>>({L, A, B, direct}, begin, end, B.n_cols).run();
  });
}

#define NODEWISE_INSTANTIATE(T)                                                                 \
  template Csr<T> spgemm(const ExtendedRows<T>&, LocalIndex, const ExtendedRows<T>&);           \
  template Csr<T> triple_product(const Csr<T>&, const ExtendedRows<T>&, const ExtendedRows<T>&, \
                                 int, std::span<const LocalIndex>);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
