#include "nodewise/kernels/point_product.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "nodewise/kernels/bsr.hpp"
#include "nodewise/kernels/row_marks.hpp"
#include "nodewise/kernels/row_parts.hpp"

namespace nodewise::kernels {

namespace {

/// Whether n columns come in whole points; column_of() numbers them.
template <class ColumnOf>
bool are_points(LocalIndex unknowns, Offset n, const ColumnOf& column_of) {
  if (n % unknowns != 0) return false;
  for (Offset q = 0; q < n; q += unknowns) {
    const LocalIndex first = column_of(q);
    if (first % unknowns != 0) return false;
    for (LocalIndex c = 1; c < unknowns; ++c) {
      if (column_of(q + c) != first + c) return false;
    }
  }
  return true;
}

/// Whether the rows of every point have the same columns.
template <class T>
bool has_rows_in_points(LocalIndex unknowns, const Csr<T>& L) {
  if (L.n_rows % unknowns != 0) return false;
  for (LocalIndex i = 0; i < L.n_rows; ++i) {
    const LocalIndex first = i - i % unknowns;
    if (!std::equal(L.cols.begin() + L.begin(i), L.cols.begin() + L.end(i),
                    L.cols.begin() + L.begin(first), L.cols.begin() + L.end(first))) {
      return false;
    }
  }
  return true;
}

template <class T>
bool has_columns_in_points(LocalIndex unknowns, const Csr<T>* part, LocalIndex shift) {
  if (part == nullptr) return true;
  for (LocalIndex i = 0; i < part->n_rows; ++i) {
    const auto begin = static_cast<std::size_t>(part->begin(i));
    if (!are_points(unknowns, part->end(i) - part->begin(i), [&](Offset q) {
          return part->cols[begin + static_cast<std::size_t>(q)] + shift;
        })) {
      return false;
    }
  }
  return true;
}

}  // namespace

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

/// What a sum begins with: the first term added to it remains as it is, even if that is -0.
template <class T>
constexpr T nothing = -T{0};

/// sum += factor * values. They lie apart, as the compiler is to know: it then takes several at
/// once.
template <int K, class T>
inline void add_multiple(T* __restrict sum, const T* __restrict values, T factor) {
  for (int c = 0; c < K; ++c) sum[c] += factor * values[c];
}

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
    for (Offset k = 0; k < L_.end(first) - L_.begin(first); ++k) {
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

/// The blocks of one point's rows of the result after another.
template <int K, class T>
class GrowingSums {
 public:
  explicit GrowingSums(LocalIndex n_cols)
      : marks_(n_cols / K),
        points_(static_cast<std::size_t>(n_cols / K)),
        vals_(points_.size() * K * K) {}

  void open() { row_ = marks_.open(); }
  void close() { marks_.close(row_); }

  T* block(LocalIndex J) {
    bool is_new = false;
    const LocalIndex place = row_.place(J, is_new);
    T* const sum = vals_.data() + static_cast<std::size_t>(place) * K * K;
    if (is_new) {
      points_[static_cast<std::size_t>(place)] = J;
      std::fill_n(sum, K * K, nothing<T>);
    }
    return sum;
  }

  std::size_t length() const { return static_cast<std::size_t>(marks_.length()); }

  /// Writes K rows of K length() entries each, one behind the other, their columns ascending.
  void write(LocalIndex* cols, T* vals) {
    order_.resize(length());
    for (std::size_t p = 0; p < order_.size(); ++p) {
      order_[p] = static_cast<std::uint64_t>(points_[p]) << 32 | p;
    }
    std::sort(order_.begin(), order_.end());
    for (std::size_t c = 0; c < K; ++c) {
      for (const std::uint64_t key : order_) {
        const auto first = static_cast<LocalIndex>(key >> 32) * K;
        const std::size_t place = static_cast<std::uint32_t>(key);
        for (LocalIndex d = 0; d < K; ++d) *cols++ = first + d;
        vals = std::copy_n(vals_.data() + (place * K + c) * K, K, vals);
      }
    }
  }

 private:
  RowMarks marks_;
  RowMarks::Open row_{};
  Array<LocalIndex> points_;  // of the result, in the order of their places
  Array<T> vals_;
  std::vector<std::uint64_t> order_;  // point and place
};

/// The rows of the points from `begin` to `end`.
template <int K, class T>
class PointProduct {
 public:
  PointProduct(const Csr<T>& L, const ExtendedRows<T>& A, const ExtendedRows<T>& B,
               LocalIndex begin, LocalIndex end)
      : left_(L, A),
        B_(B),
        begin_(begin),
        end_(end),
        C_((end - begin) * K, B.n_cols),
        sums_(B.n_cols) {}

  Csr<T> run() {
    resize(estimate());
    Offset* const row_ptr = C_.row_ptr.data() + 1;
    Offset out = 0;
    for (LocalIndex point = begin_; point < end_; ++point) {
      multiply(point);
      const auto length = static_cast<Offset>(sums_.length() * K);
      make_room(static_cast<std::size_t>(out + K * length));
      sums_.write(C_.cols.data() + out, C_.vals.data() + out);
      for (LocalIndex c = 0; c < K; ++c) row_ptr[(point - begin_) * K + c] = out += length;
    }
    resize(static_cast<std::size_t>(out));
    return std::move(C_);
  }

 private:
  void resize(std::size_t n) {
    C_.cols.resize(n);
    C_.vals.resize(n);
  }

  void make_room(std::size_t n) {
    if (C_.cols.size() < n) resize(std::max(n, C_.cols.size() + C_.cols.size() / 4));
  }

  /// The entries to expect, from every 64th point and with a margin.
  std::size_t estimate() {
    double found = 0;
    LocalIndex sampled = 0;
    for (LocalIndex point = begin_; point < end_; point += 64, ++sampled) {
      multiply(point);
      found += static_cast<double>(sums_.length() * K * K);
    }
    return static_cast<std::size_t>(1.06 * found / std::max(sampled, 1) * (end_ - begin_)) + 1024;
  }

  void multiply(LocalIndex point) {
    left_.load(point);
    sums_.open();
    multiply_rows(left_, B_, sums_);
    sums_.close();
  }

  LeftRows<K, T> left_;
  const ExtendedRows<T>& B_;
  LocalIndex begin_, end_;
  Csr<T> C_;
  GrowingSums<K, T> sums_;
};

/// The blocks of a point's rows at known places.
template <int K, class T>
class KnownSums {
 public:
  KnownSums(const KnownRows<T>& known, LocalIndex n_cols)
      : known_(known), places_(static_cast<std::size_t>(n_cols / K), 0) {}

  void open(LocalIndex point) {
    const LocalIndex row = point * K;
    std::size_t n = 0;
    const auto number = [&](LocalIndex column) {
      places_[static_cast<std::size_t>(column / K)] = n++;
    };
    for (Offset k = known_.on->begin(row); k < known_.on->end(row); k += K) {
      number(known_.on->cols[static_cast<std::size_t>(k)]);
    }
    if (known_.off != nullptr) {
      for (Offset k = known_.off->begin(row); k < known_.off->end(row); k += K) {
        const LocalIndex ghost = known_.off->cols[static_cast<std::size_t>(k)];
        number(known_.off_columns[static_cast<std::size_t>(ghost)]);
      }
    }
    vals_.assign(n * K * K, nothing<T>);
  }

  T* block(LocalIndex J) { return vals_.data() + places_[static_cast<std::size_t>(J)] * K * K; }

  void write(LocalIndex point, T* on_vals, T* off_vals) const {
    const T* const sums = vals_.data();
    const auto n_on = write_part(*known_.on, point, sums, on_vals);
    if (known_.off != nullptr) write_part(*known_.off, point, sums + n_on, off_vals);
  }

 private:
  /// Returns how many sums there were.
  static Offset write_part(const Csr<T>& part, LocalIndex point, const T* sums, T* vals) {
    const LocalIndex row = point * K;
    if (part.begin(row) == part.end(row)) return 0;
    for (LocalIndex c = 0; c < K; ++c) {
      const T* from = sums + c * K;
      for (Offset k = part.begin(row + c); k < part.end(row + c); k += K, from += K * K) {
        std::copy_n(from, K, vals + k);
      }
    }
    return part.end(row + K - 1) - part.begin(row);
  }

  const KnownRows<T>& known_;
  std::vector<std::size_t> places_;  // of every point in the current row
  std::vector<T> vals_;
};

/// Where the entries of the first row of each point begin, and where all end: what threads share.
template <class T>
std::vector<Offset> point_ptr(const Csr<T>& L, LocalIndex unknowns) {
  std::vector<Offset> ptr;
  ptr.reserve(static_cast<std::size_t>(L.n_rows / unknowns) + 1);
  for (LocalIndex i = 0; i < L.n_rows; i += unknowns) ptr.push_back(L.begin(i));
  ptr.push_back(L.nnz());
  return ptr;
}

}  // namespace

template <class T>
Csr<T> point_triple_product(int unknowns, const Csr<T>& L, const ExtendedRows<T>& A,
                            const ExtendedRows<T>& B) {
  const std::vector<Offset> ptr = point_ptr(L, unknowns);
  return with_block_size(unknowns, [&](auto size) {
    constexpr int K = decltype(size)::value;
    return rows_in_parts<T>(std::span<const Offset>(ptr), [&](LocalIndex begin, LocalIndex end) {
      return PointProduct<K, T>(L, A, B, begin, end).run();
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
