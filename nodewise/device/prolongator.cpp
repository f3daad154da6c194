#include "nodewise/device/prolongator.hpp"

#include <cmath>
#include <utility>

#include "nodewise/device/launch.hpp"

namespace nodewise::device {

namespace {

struct IsOfOthers {
  const GlobalIndex* of_point;
  GlobalIndex first;
  LocalIndex n_owned;
  std::uint8_t* marks;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const GlobalIndex a = load(of_point + i);
    marks[i] = a >= 0 && (a < first || a >= first + n_owned) ? 1 : 0;
  }
};

struct NamesOf {
  const LocalIndex* points;
  const GlobalIndex* of_point;
  GlobalIndex* names;
  NODEWISE_KERNEL void operator()(std::int64_t p) const {
    names[p] = load(of_point + load(points + p));
  }
};

struct HasColumn {
  const LocalIndex* columns;
  LocalIndex* lengths;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    lengths[i] = load(columns + i) < 0 ? 0 : 1;
  }
};

struct Place {
  const LocalIndex* columns;
  const Offset* begins;
  const double* vector;
  LocalIndex* cols;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t i) const {
    const LocalIndex a = load(columns + i);
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

/// The order of additions is that of the points.
struct LengthsOfRows {
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
  const LocalIndex* cols;
  const double* lengths;
  double* vals;
  NODEWISE_KERNEL void operator()(std::int64_t k) const {
    const double length = load(lengths + load(cols + k));
    vals[k] = length == 0 ? 0 : vals[k] / length;
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
Buffer<GlobalIndex, Space> aggregates_of_others(Primitives<Space>& primitives, LocalIndex n,
                                                const GlobalIndex* of_point, GlobalIndex first,
                                                LocalIndex n_owned) {
  Queue<Space>& queue = primitives.queue();
  Buffer<std::uint8_t, Space> marks(static_cast<std::size_t>(n));
  Buffer<LocalIndex, Space> points(static_cast<std::size_t>(n));
  launch(queue, n, IsOfOthers{of_point, first, n_owned, marks.data()});
  const LocalIndex n_found = primitives.select(n, marks.data(), points.data());
  Buffer<GlobalIndex, Space> names(static_cast<std::size_t>(n_found));
  launch(queue, n_found, NamesOf{points.data(), of_point, names.data()});
  return names;
}

template <class Space>
CsrMatrix<double, Space> members_matrix(Primitives<Space>& primitives,
                                        const Buffer<LocalIndex, Space>& columns,
                                        LocalIndex n_columns, const double* vector) {
  Queue<Space>& queue = primitives.queue();
  const auto n = static_cast<LocalIndex>(columns.size());
  Buffer<Offset, Space> begins(columns.size() + 1);
  Offset nnz = 0;
  {
    Buffer<LocalIndex, Space> lengths(columns.size());
    launch(queue, n, HasColumn{columns.data(), lengths.data()});
    nnz = primitives.scan(n, lengths.data(), begins.data());
  }
  CsrMatrix<double, Space> P(n, n_columns, std::move(begins), nnz);
  launch(queue, n, Place{columns.data(), P.begins.data(), vector, P.cols.data(), P.vals.data()});
  return P;
}

template <class Space>
void lengths_of_rows(Queue<Space>& queue, const CsrMatrix<double, Space>& members,
                     double* lengths) {
  launch(queue, members.n_rows, LengthsOfRows{members.view(), lengths});
}

template <class Space>
void divide_by_lengths(Queue<Space>& queue, const double* lengths, CsrMatrix<double, Space>& P) {
  launch(queue, P.nnz, DivideByLength{P.cols.data(), lengths, P.vals.data()});
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

template Buffer<GlobalIndex, Compiled> aggregates_of_others(Primitives<Compiled>&, LocalIndex,
                                                            const GlobalIndex*, GlobalIndex,
                                                            LocalIndex);
template CsrMatrix<double, Compiled> members_matrix(Primitives<Compiled>&,
                                                    const Buffer<LocalIndex, Compiled>&, LocalIndex,
                                                    const double*);
template void lengths_of_rows(Queue<Compiled>&, const CsrMatrix<double, Compiled>&, double*);
template void divide_by_lengths(Queue<Compiled>&, const double*, CsrMatrix<double, Compiled>&);
template CsrMatrix<double, Compiled> jacobi_matrix(Primitives<Compiled>&,
                                                   const CsrMatrix<double, Compiled>&, double);

}  // namespace nodewise::device
