// Rows of a product that belong to one point, summed up point by point.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nodewise/kernels/known_product.hpp"
#include "nodewise/kernels/row_marks.hpp"

namespace nodewise::kernels {

/// The value that a sum begins with: the first term added to it remains as it is, even if that is
/// -0.
template <class T>
inline constexpr T nothing = -T{0};

/// sum += factor * values. They lie apart, as the compiler is to know: it then takes several at
/// once.
template <int K, class T>
inline void add_multiple(T* __restrict sum, const T* __restrict values, T factor) {
  for (int c = 0; c < K; ++c) sum[c] += factor * values[c];
}

/// The R rows of one point after another, in blocks of K columns.
template <int R, int K, class T>
class GrowingSums {
 public:
  explicit GrowingSums(LocalIndex n_cols)
      : marks_(n_cols / K),
        points_(static_cast<std::size_t>(n_cols / K)),
        vals_(points_.size() * R * K) {}

  void open() { row_ = marks_.open(); }
  void close() { marks_.close(row_); }

  /// The R x K sums of column point J, row-major.
  T* block(LocalIndex J) {
    bool is_new = false;
    const LocalIndex place = row_.place(J, is_new);
    T* const sum = vals_.data() + static_cast<std::size_t>(place) * R * K;
    if (is_new) {
      points_[static_cast<std::size_t>(place)] = J;
      std::fill_n(sum, R * K, nothing<T>);
    }
    return sum;
  }

  /// Returns the number of column points.
  std::size_t length() const { return static_cast<std::size_t>(marks_.length()); }

  /// Writes R rows of K length() entries each, one behind the other, their columns ascending.
  void write(LocalIndex* cols, T* vals) {
    order_.resize(length());
    for (std::size_t p = 0; p < order_.size(); ++p) {
      order_[p] = static_cast<std::uint64_t>(points_[p]) << 32 | p;
    }
    std::sort(order_.begin(), order_.end());
    for (std::size_t r = 0; r < R; ++r) {
      for (const std::uint64_t key : order_) {
        const auto first = static_cast<LocalIndex>(key >> 32) * K;
        const std::size_t place = static_cast<std::uint32_t>(key);
        for (LocalIndex d = 0; d < K; ++d) *cols++ = first + d;
        vals = std::copy_n(vals_.data() + (place * R + r) * K, K, vals);
      }
    }
  }

 private:
  RowMarks marks_;
  RowMarks::Open row_{};
  Array<LocalIndex> points_;  // of the columns, in the order of their places
  Array<T> vals_;
  std::vector<std::uint64_t> order_;  // point and place
};

/// The same for the K rows of a point at known places.
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

/// The rows of the points from `begin` to `end`, R each. `make(point, sums)` adds those of one to
/// sums that are open and empty.
template <int R, int K, class T, class MakePoint>
class PointRows {
 public:
  PointRows(LocalIndex begin, LocalIndex end, LocalIndex n_cols, MakePoint make)
      : begin_(begin),
        end_(end),
        make_(std::move(make)),
        C_((end - begin) * R, n_cols),
        sums_(n_cols) {}

  Csr<T> run() {
    resize(estimate());
    Offset* const row_ptr = C_.row_ptr.data() + 1;
    Offset out = 0;
    for (LocalIndex point = begin_; point < end_; ++point) {
      sum_up(point);
      const auto length = static_cast<Offset>(sums_.length() * K);
      make_room(static_cast<std::size_t>(out + R * length));
      sums_.write(C_.cols.data() + out, C_.vals.data() + out);
      for (LocalIndex r = 0; r < R; ++r) row_ptr[(point - begin_) * R + r] = out += length;
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
      sum_up(point);
      found += static_cast<double>(sums_.length() * R * K);
    }
    return static_cast<std::size_t>(1.06 * found / std::max(sampled, 1) * (end_ - begin_)) + 1024;
  }

  void sum_up(LocalIndex point) {
    sums_.open();
    make_(point, sums_);
    sums_.close();
  }

  LocalIndex begin_, end_;
  MakePoint make_;
  Csr<T> C_;
  GrowingSums<R, K, T> sums_;
};

/// Where the entries of each point's first row begin, and where all end; threads share it.
template <class T>
std::vector<Offset> point_ptr(const Csr<T>& rows, LocalIndex unknowns) {
  std::vector<Offset> ptr;
  ptr.reserve(static_cast<std::size_t>(rows.n_rows / unknowns) + 1);
  for (LocalIndex i = 0; i < rows.n_rows; i += unknowns) ptr.push_back(rows.begin(i));
  ptr.push_back(rows.nnz());
  return ptr;
}

/// Whether the rows of every point have the same columns.
template <class T>
bool has_rows_in_points(LocalIndex unknowns, const Csr<T>& rows) {
  if (rows.n_rows % unknowns != 0) return false;
  for (LocalIndex i = 0; i < rows.n_rows; ++i) {
    const LocalIndex first = i - i % unknowns;
    if (!std::equal(rows.cols.begin() + rows.begin(i), rows.cols.begin() + rows.end(i),
                    rows.cols.begin() + rows.begin(first), rows.cols.begin() + rows.end(first))) {
      return false;
    }
  }
  return true;
}

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

/// Whether the columns of every row, or of every `step`-th, `shift` added, come in whole points. A
/// part that is null has none.
template <class T>
bool has_columns_in_points(LocalIndex unknowns, const Csr<T>* part, LocalIndex shift,
                           LocalIndex step = 1) {
  if (part == nullptr) return true;
  for (LocalIndex i = 0; i < part->n_rows; i += step) {
    const auto begin = static_cast<std::size_t>(part->begin(i));
    if (!are_points(unknowns, part->end(i) - part->begin(i), [&](Offset q) {
          return part->cols[begin + static_cast<std::size_t>(q)] + shift;
        })) {
      return false;
    }
  }
  return true;
}

}  // namespace nodewise::kernels
