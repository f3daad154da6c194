// The product of one row with a vector, in the form that suits the lengths of the rows.
#pragma once

#include <span>

#include "nodewise/base/types.hpp"

namespace nodewise::kernels {

/// Local. The product of entries from begin to end with x. Four partial sums, since one alone would
/// wait for its own last addition; the order of additions is fixed.
template <class T>
inline T row_product(const LocalIndex* cols, const T* vals, Offset begin, Offset end, const T* x) {
  T s0{}, s1{}, s2{}, s3{};
  Offset k = begin;
  for (; k + 4 <= end; k += 4) {
    s0 += vals[k] * x[cols[k]];
    s1 += vals[k + 1] * x[cols[k + 1]];
    s2 += vals[k + 2] * x[cols[k + 2]];
    s3 += vals[k + 3] * x[cols[k + 3]];
  }
  for (; k < end; ++k) s0 += vals[k] * x[cols[k]];
  return (s0 + s1) + (s2 + s3);
}

/// Local. The same, to the last bit, without a branch for the one to three entries that are left
/// after the fours: a wrong guess of where a row ends takes as long as ten entries. Always three
/// are read, in place of those that are not there others of the row, with a weight of zero.
template <class T>
inline T row_product_unguessed(const LocalIndex* cols, const T* vals, Offset begin, Offset end,
                               const T* x) {
  static constexpr T weights[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
  if (begin == end) return T{};
  T s0{}, s1{}, s2{}, s3{};
  const LocalIndex* c = cols + begin;
  const T* v = vals + begin;
  const LocalIndex* const last = cols + end;
  for (; last - c >= 4; c += 4, v += 4) {
    s0 += v[0] * x[c[0]];
    s1 += v[1] * x[c[1]];
    s2 += v[2] * x[c[2]];
    s3 += v[3] * x[c[3]];
  }
  const Offset left = last - c;
  const T* const weight = weights[left];
  c -= left == 0;
  v -= left == 0;
  const Offset second = left >> 1;
  const Offset third = (left + 1) >> 2 << 1;
  s0 += weight[0] * v[0] * x[c[0]];
  s0 += weight[1] * v[second] * x[c[second]];
  s0 += weight[2] * v[third] * x[c[third]];
  return (s0 + s1) + (s2 + s3);
}

/// Local. y[cols[k]] -= factor * vals[k] for the entries from begin to end, whose columns differ.
template <class T>
inline void subtract_multiple(const LocalIndex* cols, const T* vals, Offset begin, Offset end,
                              T factor, T* y) {
  Offset k = begin;
  for (; k + 4 <= end; k += 4) {  // none of the four waits for another to be stored
    T* const y0 = y + cols[k];
    T* const y1 = y + cols[k + 1];
    T* const y2 = y + cols[k + 2];
    T* const y3 = y + cols[k + 3];
    const T v0 = *y0 - factor * vals[k];
    const T v1 = *y1 - factor * vals[k + 1];
    const T v2 = *y2 - factor * vals[k + 2];
    const T v3 = *y3 - factor * vals[k + 3];
    *y0 = v0;
    *y1 = v1;
    *y2 = v2;
    *y3 = v3;
  }
  for (; k < end; ++k) y[cols[k]] -= factor * vals[k];
}

/// The two as types, for kernels that are made for either.
struct GuessedProduct {
  template <class T>
  static T of(const LocalIndex* cols, const T* vals, Offset begin, Offset end, const T* x) {
    return row_product(cols, vals, begin, end, x);
  }
};
struct UnguessedProduct {
  template <class T>
  static T of(const LocalIndex* cols, const T* vals, Offset begin, Offset end, const T* x) {
    return row_product_unguessed(cols, vals, begin, end, x);
  }
};

/// Local. Whether a processor is likely to guess wrongly where the rows from first to last end: if
/// in most of them the length is not what last came after the two lengths before. That is so for
/// unstructured meshes and on coarse levels, and not on grids, nor where rows are few enough to be
/// remembered. Looks at some rows in the middle.
bool ends_are_unpredictable(std::span<const Offset> row_ptr, LocalIndex first, LocalIndex last);

}  // namespace nodewise::kernels
