#include "nodewise/amg/coarsen/strength.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/csr_ops.hpp"
#include "nodewise/kernels/row_blocks.hpp"

namespace nodewise::amg {

namespace {

using kernels::Csr;

/// The entries of one row in one part of the matrix; its diagonal entry, if there, apart.
template <class T>
struct Row {
  const T* vals;
  Offset n;
  Offset diagonal_place;  // n where there is none

  Row(const Csr<T>& part, LocalIndex i) : Row(part, i, part.length(i)) {}
  Row(const Csr<T>& part, LocalIndex i, Offset place)
      : vals(part.vals.data() + part.begin(i)),
        n(part.length(i)),
        diagonal_place(std::min(place, n)) {}

  T diagonal() const { return diagonal_place < n ? vals[diagonal_place] : T{}; }

  /// The largest measure of the off-diagonal entries, and 0.
  template <class Measure>
  T largest(const Measure& measure) const {
    return std::max(largest(measure, 0, diagonal_place), largest(measure, diagonal_place + 1, n));
  }
  T sum() const { return std::accumulate(vals, vals + n, T{}); }

  template <class Measure>
  void mark(const Measure& measure, T bound, std::uint8_t* marks) const {
    for (Offset k = 0; k < n; ++k) marks[k] = measure(vals[k]) > bound ? 1 : 0;
    if (diagonal_place < n) marks[diagonal_place] = 0;
  }

 private:
  template <class Measure>
  T largest(const Measure& measure, Offset begin, Offset end) const {
    T even{};  // two maxima, since each step has to wait for the one before
    T odd{};
    for (; begin + 1 < end; begin += 2) {
      even = std::max(even, measure(vals[begin]));
      odd = std::max(odd, measure(vals[begin + 1]));
    }
    return begin < end ? std::max({even, odd, measure(vals[begin])}) : std::max(even, odd);
  }
};

template <class T>
Row<T> row_with_diagonal(const Csr<T>& on, LocalIndex i, LocalIndex& place) {
  place = kernels::diagonal_place(on, i, place);
  const Offset k = on.begin(i) + place;
  const bool there = k < on.end(i) && on.cols[static_cast<std::size_t>(k)] == i;
  return there ? Row<T>(on, i, place) : Row<T>(on, i);
}

/// measure_for(diagonal) gives the measure of a row.
template <class T, class MeasureFor>
Strength mark_strong(const matrix::DistMatrix<T>& A, double threshold, double max_row_sum,
                     const MeasureFor& measure_for) {
  Strength strength;
  strength.on.resize(A.on().cols.size());
  strength.off.resize(A.off().cols.size());
  std::uint8_t* const on_marks = strength.on.data();
  std::uint8_t* const off_marks = strength.off.data();
  const auto mark_row = [&](LocalIndex i, LocalIndex& place) {
    const Row<T> on = row_with_diagonal(A.on(), i, place);
    const Row<T> off(A.off(), i);
    const T diagonal = on.diagonal();
    const auto measure = measure_for(diagonal);
    const bool dominated =
        max_row_sum < 1.0 &&
        std::abs(on.sum() + off.sum()) > std::abs(diagonal) * static_cast<T>(max_row_sum);
    const T bound = dominated ? std::numeric_limits<T>::infinity()
                              : T(threshold) * std::max(on.largest(measure), off.largest(measure));
    on.mark(measure, bound, on_marks + A.on().begin(i));
    off.mark(measure, bound, off_marks + A.off().begin(i));
  };
  parallel::for_rows(A.on().row_ptr, [&](LocalIndex first, LocalIndex last) {
    LocalIndex place = 0;
    kernels::RowBlocks<T>(A.on(), first, last)
        .upwards(first, last, [&](LocalIndex b, LocalIndex e) {
          for (LocalIndex i = b; i < e; ++i) mark_row(i, place);
        });
  });
  return strength;
}

}  // namespace

template <class T>
Strength strength_of_connection(const matrix::DistMatrix<T>& A, double threshold,
                                double max_row_sum, StrengthMeasure measure) {
  if (measure == StrengthMeasure::absolute) {
    return mark_strong(A, threshold, max_row_sum,
                       [](T) { return [](T a) { return std::abs(a); }; });
  }
  return mark_strong(A, threshold, max_row_sum, [](T diagonal) {
    return [sign = diagonal < 0 ? T{1} : T{-1}](T a) { return sign * a; };
  });
}

template Strength strength_of_connection(const matrix::DistMatrix<float>&, double, double,
                                         StrengthMeasure);
template Strength strength_of_connection(const matrix::DistMatrix<double>&, double, double,
                                         StrengthMeasure);

}  // namespace nodewise::amg
