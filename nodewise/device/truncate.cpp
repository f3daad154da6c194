// Shortening the rows of an interpolation on a device.
#include <cmath>
#include <cstring>
#include <utility>

#include "nodewise/device/extended_i.hpp"
#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

/// As amg::interpolate::order_of(): the modulus to 20 bits, and the column.
NODEWISE_KERNEL std::uint64_t order_of(double value, LocalIndex column, bool lowest) {
  const double modulus = ::fabs(value);
  std::uint64_t bits = 0;
  memcpy(&bits, &modulus, sizeof(bits));
  bits = (bits + (std::uint64_t{1} << 31)) >> 32;
  const auto c = static_cast<std::uint32_t>(column);
  return bits << 32 | (lowest ? ~c : c);
}

NODEWISE_KERNEL void swap(LocalIndex* cols, double* vals, Offset a, Offset b) {
  const LocalIndex column = cols[a];
  const double value = vals[a];
  cols[a] = cols[b];
  vals[a] = vals[b];
  cols[b] = column;
  vals[b] = value;
}

/// Puts what remains of each row at its beginning, by ascending columns.
struct Truncate {
  const Offset* begins;
  const LocalIndex* numbers;
  const double* scales;
  InterpolationRules rules;
  LocalIndex* cols;
  double* vals;
  LocalIndex* lengths;

  /// The place of a column among all, by their numbers over all ranks.
  NODEWISE_KERNEL LocalIndex place(LocalIndex column) const {
    if (column < rules.n_owned) return rules.n_lower + column;
    const LocalIndex ghost = column - rules.n_owned;
    return ghost < rules.n_lower ? ghost : column;
  }
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const Offset first = load(begins + i);
    const Offset n = load(begins + i + 1) - first;
    lengths[i] = static_cast<LocalIndex>(
        load(numbers + i) >= 0 ? n : shorten(load(scales + i), cols + first, vals + first, n));
  }
  NODEWISE_KERNEL Offset shorten(double row_scale, LocalIndex* c, double* v, Offset n) const {
    double sum = 0, largest = 0;
    for (Offset k = 0; k < n; ++k) {
      v[k] = row_scale * v[k];
      sum += v[k];
      largest = ::fabs(v[k]) > largest ? ::fabs(v[k]) : largest;
    }
    Offset kept = 0;
    const double bound = rules.truncation * largest;
    for (Offset k = 0; k < n; ++k) {
      if (::fabs(v[k]) < bound) continue;
      c[kept] = c[k];
      v[kept++] = v[k];
    }
    const Offset limit =
        rules.max_entries > 0 && rules.max_entries < kept ? rules.max_entries : kept;
    if (limit < kept) choose(c, v, kept, limit);
    if (limit == n) return n;
    double remaining = 0;
    for (Offset k = 0; k < limit; ++k) remaining += v[k];
    const double scale = ::fabs(remaining) > 1e-3 * largest ? sum / remaining : 1;
    for (Offset k = 0; k < limit; ++k) v[k] *= scale;
    return limit;
  }
  /// The largest to the front, of equal ones the lowest and the highest columns in turn; then by
  /// columns.
  NODEWISE_KERNEL void choose(LocalIndex* c, double* v, Offset kept, Offset limit) const {
    for (Offset k = 0; k < limit; ++k) {
      const bool lowest = k % 2 == 0;
      Offset best = k;
      for (Offset m = k + 1; m < kept; ++m) {
        if (order_of(v[m], place(c[m]), lowest) > order_of(v[best], place(c[best]), lowest)) {
          best = m;
        }
      }
      swap(c, v, k, best);
    }
    for (Offset k = 1; k < limit; ++k) {
      for (Offset m = k; m > 0 && c[m - 1] > c[m]; --m) swap(c, v, m - 1, m);
    }
  }
};

struct TakeBeginnings {
  CsrView<double> from;
  const Offset* begins;
  LocalIndex* cols;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    Offset k = from.begin(i);
    for (Offset to = load(begins + i); to < load(begins + i + 1); ++to, ++k) {
      cols[to] = from.col(k);
      vals[to] = from.val(k);
    }
  }
};

}  // namespace

template <class Space>
CsrMatrix<double, Space> truncated(Primitives<Space>& primitives, CsrMatrix<double, Space> P,
                                   const LocalIndex* numbers, const double* scales,
                                   const InterpolationRules& rules) {
  Queue<Space>& queue = primitives.queue();
  const auto n = static_cast<std::size_t>(P.n_rows);
  Buffer<LocalIndex, Space> lengths(n);
  launch(queue, P.n_rows,
         Truncate{P.begins.data(), numbers, scales, rules, P.cols.data(), P.vals.data(),
                  lengths.data()});
  Buffer<Offset, Space> begins(n + 1);
  const Offset nnz = primitives.scan(P.n_rows, lengths.data(), begins.data());
  if (nnz == P.nnz) return P;
  CsrMatrix<double, Space> shorter(P.n_rows, P.n_cols, std::move(begins), nnz);
  launch(queue, P.n_rows,
         TakeBeginnings{P.view(), shorter.begins.data(), shorter.cols.data(), shorter.vals.data()});
  return shorter;
}

template CsrMatrix<double, Compiled> truncated(Primitives<Compiled>&, CsrMatrix<double, Compiled>,
                                               const LocalIndex*, const double*,
                                               const InterpolationRules&);

}  // namespace nodewise::device
