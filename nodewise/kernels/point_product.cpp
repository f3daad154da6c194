#include "nodewise/kernels/point_product.hpp"

#include <array>

#include "nodewise/kernels/bsr.hpp"
#include "nodewise/kernels/point_sums.hpp"
#include "nodewise/kernels/row_parts.hpp"

namespace nodewise::kernels {

template <class T>
bool comes_in_points(int unknowns, const Csr<T>& L, const ExtendedRows<T>& B) {
  return unknowns >= min_block && unknowns <= max_block && B.n_cols % unknowns == 0 &&
         has_rows_in_points(unknowns, L) && has_columns_in_points(unknowns, B.on, 0) &&
         has_columns_in_points(unknowns, B.off, B.off_shift) &&
         has_columns_in_points(unknowns, B.ghost, 0);
}

template <class T>
bool comes_in_points(int unknowns, const KnownRows<T>& known) {
  if (!has_rows_in_points(unknowns, *known.on)) return false;
  if (!has_columns_in_points(unknowns, known.on, 0)) return false;
  if (known.off == nullptr) return true;
  return has_rows_in_points(unknowns, *known.off) &&
         has_columns_in_points(unknowns, known.off, 0) &&
         are_points(unknowns, std::ssize(known.off_columns),
                    [&](Offset q) { return known.off_columns[static_cast<std::size_t>(q)]; });
}

namespace {

/// The K rows of L A that belong to a point, one point at a time: K values for every column.
template <int K, class T>
class LeftRows {
 public:
  LeftRows(const Csr<T>& L, const ExtendedRows<T>& A)
      : L_(L),
        A_(A),
        marks_(A.n_cols),
        cols_(static_cast<std::size_t>(A.n_cols)),
        vals_(cols_.size() * K) {}

  void load(LocalIndex point) {
    auto row = marks_.open();
    const LocalIndex first = point * K;
    for (Offset k = 0; k < L_.length(first); ++k) {
      std::array<T, K> l;
      for (LocalIndex c = 0; c < K; ++c) {
        l[static_cast<std::size_t>(c)] = L_.vals[static_cast<std::size_t>(L_.begin(first + c) + k)];
      }
      A_.for_each_piece(L_.cols[static_cast<std::size_t>(L_.begin(first) + k)],
                        [&](const LocalIndex* js, const T* as, Offset n, LocalIndex shift) {
                          add(row, l, js, as, n, shift);
                        });
    }
    marks_.close(row);
  }

  /// Calls f(column, its K values) for every column of the point.
  template <class F>
  void for_each_column(F&& f) const {
    for (LocalIndex p = 0; p < marks_.length(); ++p) {
      std::array<T, K> values;
      std::copy_n(vals_.data() + static_cast<std::size_t>(p) * K, K, values.begin());
      f(cols_[static_cast<std::size_t>(p)], values);
    }
  }

 private:
  void add(RowMarks::Open& row, const std::array<T, K>& l, const LocalIndex* js, const T* as,
           Offset n, LocalIndex shift) {
    LocalIndex* const cols = cols_.data();
    T* const vals = vals_.data();
    for (Offset q = 0; q < n; ++q) {
      const LocalIndex j = js[q] + shift;
      bool is_new = false;
      const LocalIndex place = row.place(j, is_new);
      T* const sum = vals + static_cast<std::size_t>(place) * K;
      if (is_new) {
        cols[place] = j;
        std::fill_n(sum, K, nothing<T>);
      }
      add_multiple<K>(sum, l.data(), as[q]);
    }
  }

  const Csr<T>& L_;
  const ExtendedRows<T>& A_;
  RowMarks marks_;
  Array<LocalIndex> cols_;  // room for a full row, which costs nothing before it is written to
  Array<T> vals_;
};

/// Adds the rows of a point times B: sums.block(J) are the K x K values of point J of the result.
template <int K, class T, class Sums>
void multiply_rows(const LeftRows<K, T>& left, const ExtendedRows<T>& B, Sums& sums) {
  left.for_each_column([&](LocalIndex j, const std::array<T, K>& values) {
    B.for_each_piece(j, [&](const LocalIndex* cols, const T* vals, Offset n, LocalIndex shift) {
      for (Offset q = 0; q < n; q += K) {
        T* const sum = sums.block((cols[q] + shift) / K);
        for (std::size_t c = 0; c < K; ++c) {
          add_multiple<K>(sum + c * K, vals + q, values[c]);
        }
      }
    });
  });
}

}  // namespace

template <class T>
Csr<T> point_triple_product(int unknowns, const Csr<T>& L, const ExtendedRows<T>& A,
                            const ExtendedRows<T>& B) {
  const std::vector<Offset> ptr = point_ptr(L, unknowns);
  return with_block_size(unknowns, [&](auto size) {
    constexpr int K = decltype(size)::value;
    return rows_in_parts<T>(std::span<const Offset>(ptr), [&](LocalIndex begin, LocalIndex end) {
      LeftRows<K, T> left(L, A);
      const auto make = [&](LocalIndex point, GrowingSums<K, K, T>& sums) {
        left.load(point);
        multiply_rows(left, B, sums);
      };
      return PointRows<K, K, T, decltype(make)>(begin, end, B.n_cols, make).run();
    });
  });
}

template <class T>
void point_triple_product_values(int unknowns, const Csr<T>& L, const ExtendedRows<T>& A,
                                 const ExtendedRows<T>& B, const KnownRows<T>& known, T* on_vals,
                                 T* off_vals) {
  const std::vector<Offset> ptr = point_ptr(*known.on, unknowns);
  with_block_size(unknowns, [&](auto size) {
    constexpr int K = decltype(size)::value;
    parallel::for_rows(std::span<const Offset>(ptr), [&](LocalIndex begin, LocalIndex end) {
      LeftRows<K, T> left(L, A);
      KnownSums<K, T> sums(known, B.n_cols);
      for (LocalIndex point = begin; point < end; ++point) {
        left.load(point);
        sums.open(point);
        multiply_rows(left, B, sums);
        sums.write(point, on_vals, off_vals);
      }
    });
  });
}

#define NODEWISE_INSTANTIATE(T)                                                         \
  template bool comes_in_points(int, const Csr<T>&, const ExtendedRows<T>&);            \
  template bool comes_in_points(int, const KnownRows<T>&);                              \
  template Csr<T> point_triple_product(int, const Csr<T>&, const ExtendedRows<T>&,      \
                                       const ExtendedRows<T>&);                         \
  template void point_triple_product_values(int, const Csr<T>&, const ExtendedRows<T>&, \
                                            const ExtendedRows<T>&, const KnownRows<T>&, T*, T*);
NODEWISE_INSTANTIATE(float)
NODEWISE_INSTANTIATE(double)
#undef NODEWISE_INSTANTIATE

}  // namespace nodewise::kernels
