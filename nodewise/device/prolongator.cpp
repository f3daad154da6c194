#include "nodewise/device/prolongator.hpp"

#include <cmath>
#include <utility>

#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct HasAggregate {
  const LocalIndex* of_point;
  LocalIndex* lengths;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    lengths[i] = load(of_point + i) < 0 ? 0 : 1;
  }
};

struct Place {
  const LocalIndex* of_point;
  const Offset* begins;
  const double* vector;
  LocalIndex* cols;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const LocalIndex a = load(of_point + i);
    if (a < 0) return;
    cols[load(begins + i)] = a;
    vals[load(begins + i)] = load(vector + i);
  }
};

/// The power of two that brings a modulus into [1, 2), as scale_of() has it.
NODEWISE_KERNEL double unit_of(double largest) {
  if (!(largest > 0) || !(largest <= 1.7976931348623157e308)) return 1;
  const int exponent = ::ilogb(largest);
  const int least = -1000, most = 1000;
  return ::ldexp(1.0, -(exponent < least ? least : exponent > most ? most : exponent));
}

/// The lengths of the parts, by the rows of the transposed prolongator; the order of additions is
/// that of the points.
struct LengthsOfParts {
  CsrView<double> members;
  double* lengths;
  NODEWISE_KERNEL void operator()(std::int64_t a) const {
    double largest = 0;
    const Offset end = members.end(a);
    for (Offset k = members.begin(a); k < end; ++k) {
      const double size = ::fabs(members.val(k));
      largest = size > largest ? size : largest;
    }
    const double unit = unit_of(largest);  // a vector may come in any units
    double sum = 0;
    for (Offset k = members.begin(a); k < end; ++k) {
      const double x = unit * members.val(k);
      sum += x * x;
    }
    lengths[a] = ::sqrt(sum) / unit;
  }
};

struct DivideByLength {
  const LocalIndex* of_point;
  const Offset* begins;
  const double* lengths;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const LocalIndex a = load(of_point + i);
    if (a < 0) return;
    const double length = load(lengths + a);
    double& value = vals[load(begins + i)];
    value = length == 0 ? 0 : value / length;
  }
};

/// A row has the places of A's, or the diagonal one alone where there is nothing to divide by.
struct LengthsOfJacobi {
  CsrView<double> A;
  LocalIndex* lengths;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    lengths[i] = A.diagonal(i) == 0 ? 1 : A.length(i);
  }
};

struct FillJacobi {
  CsrView<double> A;
  double damping;
  const Offset* begins;
  LocalIndex* cols;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const double d = A.diagonal(i);
    Offset to = load(begins + i);
    if (d == 0) {
      cols[to] = static_cast<LocalIndex>(i);
      vals[to] = 1;
      return;
    }
    const double factor = -damping / d;
    const Offset end = A.end(i);
    for (Offset k = A.begin(i); k < end; ++k, ++to) {
      const LocalIndex j = A.col(k);
      cols[to] = j;
      vals[to] = (j == i ? 1.0 : 0.0) + factor * A.val(k);
    }
  }
};

}  // namespace

template <class Space>
Tentative<Space> tentative_prolongator(Primitives<Space>& primitives,
                                       const Aggregates<Space>& aggregates, const double* vector) {
  Queue<Space>& queue = primitives.queue();
  const auto n = static_cast<LocalIndex>(aggregates.of_point.size());
  const LocalIndex* const of_point = aggregates.of_point.data();
  Buffer<Offset, Space> begins(static_cast<std::size_t>(n) + 1);
  Offset nnz = 0;
  {
    Buffer<LocalIndex, Space> lengths(static_cast<std::size_t>(n));
    launch(queue, n, HasAggregate{of_point, lengths.data()});
    nnz = primitives.scan(n, lengths.data(), begins.data());
  }
  Tentative<Space> tentative;
  CsrMatrix<double, Space>& P = tentative.P;
  P = CsrMatrix<double, Space>(n, aggregates.count, std::move(begins), nnz);
  launch(queue, n, Place{of_point, P.begins.data(), vector, P.cols.data(), P.vals.data()});
  tentative.coarse_vector = Buffer<double, Space>(static_cast<std::size_t>(aggregates.count));
  const CsrMatrix<double, Space> members = transpose(primitives, P);
  launch(queue, aggregates.count, LengthsOfParts{members.view(), tentative.coarse_vector.data()});
  launch(queue, n,
         DivideByLength{of_point, P.begins.data(), tentative.coarse_vector.data(), P.vals.data()});
  return tentative;
}

template <class Space>
CsrMatrix<double, Space> jacobi_matrix(Primitives<Space>& primitives,
                                       const CsrMatrix<double, Space>& A, double damping) {
  Queue<Space>& queue = primitives.queue();
  const auto n = static_cast<std::size_t>(A.n_rows);
  Buffer<LocalIndex, Space> lengths(n);
  launch(queue, A.n_rows, LengthsOfJacobi{A.view(), lengths.data()});
  Buffer<Offset, Space> begins(n + 1);
  const Offset nnz = primitives.scan(A.n_rows, lengths.data(), begins.data());
  CsrMatrix<double, Space> M(A.n_rows, A.n_cols, std::move(begins), nnz);
  launch(queue, A.n_rows,
         FillJacobi{A.view(), damping, M.begins.data(), M.cols.data(), M.vals.data()});
  return M;
}

template Tentative<Compiled> tentative_prolongator(Primitives<Compiled>&,
                                                   const Aggregates<Compiled>&, const double*);
template CsrMatrix<double, Compiled> jacobi_matrix(Primitives<Compiled>&,
                                                   const CsrMatrix<double, Compiled>&, double);

}  // namespace nodewise::device
