#include "nodewise/device/coarse_rows.hpp"

#include <cmath>

#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct SetUnitRows {
  CsrView<double> C;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const Offset end = C.end(i);
    for (Offset k = C.begin(i); k < end; ++k) {
      if (vals[k] != 0) return;
    }
    const Offset place = C.diagonal_place(i);
    if (place < end) vals[place] = 1;
  }
};

/// sum_k r_ik^2 |a_kk|.
NODEWISE_KERNEL double summand_size(const CsrView<double>& A, const CsrView<double>& R,
                                    std::int64_t i) {
  double sum = 0;
  const Offset end = R.end(i);
  for (Offset q = R.begin(i); q < end; ++q) {
    const double r = R.val(q);
    sum += r * ::fabs(A.diagonal(R.col(q))) * r;
  }
  return sum;
}

struct SummandSizes {
  CsrView<double> A, R;
  double* sizes;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { sizes[i] = summand_size(A, R, i); }
};

struct DropRoundOff {
  CsrView<double> A, R, C;
  double margin;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const Offset k = C.begin(i);
    if (C.length(i) != 1 || C.col(k) != i) return;
    const double root = ::sqrt(summand_size(A, R, i));
    const double size = root * root;
    if (size <= 1.7976931348623157e308 && ::fabs(vals[k]) <= margin * size) vals[k] = 0;
  }
};

template <class T>
struct InvertDiagonal {
  CsrView<double> A;
  T weight;
  double factor;
  T* inverse;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const T d = static_cast<T>(factor * A.diagonal(i));
    inverse[i] = d == T{0} ? T{0} : weight / d;
  }
};

struct DiagonalRoots {
  CsrView<double> A;
  double* roots;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    roots[i] = ::sqrt(::fabs(A.diagonal(i)));
  }
};

template <class T>
struct InvertWithCouplings {
  CsrView<double> A;
  const double* roots;
  double factor;
  T definite_margin;
  T* inverse;
  NODEWISE_KERNEL T value(double a) const { return static_cast<T>(factor * a); }
  NODEWISE_KERNEL static T modulus(T x) { return x < T{0} ? -x : x; }
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const T d = value(A.diagonal(i));
    if (d == T{0}) {
      inverse[i] = T{0};
      return;
    }
    T sum = 0;
    const Offset end = A.end(i);
    for (Offset k = A.begin(i); k < end; ++k) {
      const T size = modulus(value(A.val(k)));
      const T weighed = size * static_cast<T>(load(roots + i) / load(roots + A.col(k)));
      sum += weighed < definite_margin * modulus(d) ? weighed : size;
    }
    inverse[i] = T{1} / (d < T{0} ? -sum : sum);
  }
};

}  // namespace

template <class Space>
void set_unit_rows(Queue<Space>& queue, CsrMatrix<double, Space>& C) {
  launch(queue, C.n_rows, SetUnitRows{C.view(), C.vals.data()});
}

template <class Space>
void summand_sizes(Queue<Space>& queue, const CsrMatrix<double, Space>& A,
                   const CsrMatrix<double, Space>& R, double* sizes) {
  launch(queue, R.n_rows, SummandSizes{A.view(), R.view(), sizes});
}

template <class Space>
void drop_round_off(Queue<Space>& queue, const CsrMatrix<double, Space>& A,
                    const CsrMatrix<double, Space>& R, double margin, CsrMatrix<double, Space>& C) {
  launch(queue, C.n_rows, DropRoundOff{A.view(), R.view(), C.view(), margin, C.vals.data()});
}

template <class T, class Space>
void invert_diagonal(Queue<Space>& queue, const CsrMatrix<double, Space>& A, DividedBy by,
                     double weight, double factor, double definite_margin, T* inverse) {
  if (by == DividedBy::diagonal) {
    launch(queue, A.n_rows, InvertDiagonal<T>{A.view(), static_cast<T>(weight), factor, inverse});
    return;
  }
  Buffer<double, Space> roots(static_cast<std::size_t>(A.n_rows));
  launch(queue, A.n_rows, DiagonalRoots{A.view(), roots.data()});
  launch(queue, A.n_rows,
         InvertWithCouplings<T>{A.view(), roots.data(), factor, static_cast<T>(definite_margin),
                                inverse});
}

template void set_unit_rows(Queue<Compiled>&, CsrMatrix<double, Compiled>&);
template void summand_sizes(Queue<Compiled>&, const CsrMatrix<double, Compiled>&,
                            const CsrMatrix<double, Compiled>&, double*);
template void drop_round_off(Queue<Compiled>&, const CsrMatrix<double, Compiled>&,
                             const CsrMatrix<double, Compiled>&, double,
                             CsrMatrix<double, Compiled>&);
template void invert_diagonal(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, DividedBy,
                              double, double, double, float*);
template void invert_diagonal(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, DividedBy,
                              double, double, double, double*);

}  // namespace nodewise::device
