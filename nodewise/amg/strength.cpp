#include "nodewise/amg/strength.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nodewise::amg {

namespace {

using kernels::Csr;

/// What decides about the entries of one row.
template <class T>
struct RowScale {
  T diagonal{};
  T sum{};
  T lowest{};  // of the off-diagonal entries, and 0
  T highest{};

  void add(const Csr<T>& part, LocalIndex i, LocalIndex diagonal_col) {
    for (Offset k = part.begin(i); k < part.end(i); ++k) {
      const T a = part.vals[static_cast<std::size_t>(k)];
      sum += a;
      if (part.cols[static_cast<std::size_t>(k)] == diagonal_col) {
        diagonal = a;
      } else {
        lowest = std::min(lowest, a);
        highest = std::max(highest, a);
      }
    }
  }
};

template <class T>
void mark_row(const Csr<T>& part, LocalIndex i, LocalIndex diagonal_col, T sign, T bound,
              Array<std::uint8_t>& marks) {
  for (Offset k = part.begin(i); k < part.end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    marks[p] = sign * part.vals[p] > bound && part.cols[p] != diagonal_col ? 1 : 0;
  }
}

}  // namespace

template <class T>
Strength strength_of_connection(const matrix::DistMatrix<T>& A, double threshold,
                                double max_row_sum) {
  Strength strength;
  strength.on.resize(A.on().cols.size());
  strength.off.resize(A.off().cols.size());
  constexpr LocalIndex no_diagonal = -1;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    RowScale<T> scale;
    scale.add(A.on(), i, i);
    scale.add(A.off(), i, no_diagonal);
    const T sign =
        scale.diagonal < 0 ? T{1} : T{-1};  // sign * a_ij > 0 for the couplings that count
    const T largest = scale.diagonal < 0 ? scale.highest : -scale.lowest;
    const bool dominated =
        max_row_sum < 1.0 && std::abs(scale.sum) > std::abs(scale.diagonal) * T(max_row_sum);
    const T bound = dominated ? std::numeric_limits<T>::infinity() : T(threshold) * largest;
    mark_row(A.on(), i, i, sign, bound, strength.on);
    mark_row(A.off(), i, no_diagonal, sign, bound, strength.off);
  }
  return strength;
}

template Strength strength_of_connection(const matrix::DistMatrix<float>&, double, double);
template Strength strength_of_connection(const matrix::DistMatrix<double>&, double, double);

}  // namespace nodewise::amg
