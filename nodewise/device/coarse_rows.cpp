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
NODEWISE_KERNEL double summand_size(const CsrView<double>& R, const double* moduli,
                                    std::int64_t i) {
  double sum = 0;
  const Offset end = R.end(i);
  for (Offset q = R.begin(i); q < end; ++q) {
    const double r = R.val(q);
    sum += r * load(moduli + R.col(q)) * r;
  }
  return sum;
}

struct SummandSizes {
  CsrView<double> R;
  const double* moduli;
  double* sizes;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { sizes[i] = summand_size(R, moduli, i); }
};

struct DropRoundOff {
  CsrView<double> R, C;
  const double* moduli;
  double margin;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const Offset k = C.begin(i);
    if (C.length(i) != 1 || C.col(k) != i) return;
    const double root = ::sqrt(summand_size(R, moduli, i));
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

struct DiagonalModuli {
  CsrView<double> A;
  double* moduli;
  NODEWISE_KERNEL void operator()(std::int64_t i) const { moduli[i] = ::fabs(A.diagonal(i)); }
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
void diagonal_moduli(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* moduli) {
  launch(queue, A.n_rows, DiagonalModuli{A.view(), moduli});
}

template <class Space>
void diagonal_roots(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double* roots) {
  launch(queue, A.n_rows, DiagonalRoots{A.view(), roots});
}

template <class Space>
void summand_sizes(Queue<Space>& queue, const CsrMatrix<double, Space>& R, const double* moduli,
                   double* sizes) {
  launch(queue, R.n_rows, SummandSizes{R.view(), moduli, sizes});
}

template <class Space>
void drop_round_off(Queue<Space>& queue, const CsrMatrix<double, Space>& R, const double* moduli,
                    double margin, CsrMatrix<double, Space>& C) {
  launch(queue, C.n_rows, DropRoundOff{R.view(), C.view(), moduli, margin, C.vals.data()});
}

template <class T, class Space>
void invert_diagonal(Queue<Space>& queue, const CsrMatrix<double, Space>& A, double weight,
                     double factor, T* inverse) {
  launch(queue, A.n_rows, InvertDiagonal<T>{A.view(), static_cast<T>(weight), factor, inverse});
}

template <class T, class Space>
void invert_with_couplings(Queue<Space>& queue, const CsrMatrix<double, Space>& A,
                           const double* roots, double factor, double definite_margin, T* inverse) {
  launch(queue, A.n_rows,
         InvertWithCouplings<T>{A.view(), roots, factor, static_cast<T>(definite_margin), inverse});
}

template void set_unit_rows(Queue<Compiled>&, CsrMatrix<double, Compiled>&);
template void diagonal_moduli(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, double*);
template void diagonal_roots(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, double*);
template void summand_sizes(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, const double*,
                            double*);
template void drop_round_off(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, const double*,
                             double, CsrMatrix<double, Compiled>&);
#define NODEWISE_FOR_TYPE(T)                                                                  \
  template void invert_diagonal(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, double, \
                                double, T*);                                                  \
  template void invert_with_couplings(Queue<Compiled>&, const CsrMatrix<double, Compiled>&,   \
                                      const double*, double, double, T*);
NODEWISE_FOR_TYPE(float)
NODEWISE_FOR_TYPE(double)
#undef NODEWISE_FOR_TYPE

}  // namespace nodewise::device
