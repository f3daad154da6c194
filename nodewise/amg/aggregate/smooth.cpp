#include "nodewise/amg/aggregate/smooth.hpp"

#include <cmath>

#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/kernels/row_parts.hpp"
#include "nodewise/matrix/fit.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/row_exchange.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::amg::aggregate {

namespace {

using kernels::Csr;
using matrix::DistMatrix;

/// Rows begin .. end - 1 of P - D^-1 A P, made one after another (Gustavson 1978).
template <class T>
class SmoothedRows {
 public:
  SmoothedRows(const DistMatrix<T>& A, const kernels::ExtendedRows<T>& P, LocalIndex begin,
               LocalIndex end)
      : A_(A),
        P_(P),
        begin_(begin),
        place_(static_cast<std::size_t>(P.n_cols), -1),
        result_(end - begin, P.n_cols) {
    const auto entries = static_cast<std::size_t>(P.on->row_ptr[static_cast<std::size_t>(end)] -
                                                  P.on->row_ptr[static_cast<std::size_t>(begin)]);
    result_.cols.reserve(3 * entries);
    result_.vals.reserve(3 * entries);
  }

  Csr<T> run(std::span<const T> diagonal, double damping) {
    const LocalIndex end = begin_ + result_.n_rows;
    kernels::RowBlocks<T>(A_.on(), begin_, end)
        .upwards(begin_, end, [&](LocalIndex b, LocalIndex e) {
          for (LocalIndex i = b; i < e; ++i)
            add_row(i, diagonal[static_cast<std::size_t>(i)], damping);
        });
    return std::move(result_);
  }

 private:
  void add_row(LocalIndex i, T d, double damping) {
    first_ = static_cast<Offset>(result_.cols.size());
    add(T{1}, i);
    if (d != T{}) {
      const T factor = static_cast<T>(-damping) / d;
      add_rows(A_.on(), i, 0, factor);
      add_rows(A_.off(), i, A_.n_local(), factor);
    }
    result_.row_ptr[static_cast<std::size_t>(i - begin_) + 1] =
        static_cast<Offset>(result_.cols.size());
  }

  void add_rows(const Csr<T>& part, LocalIndex i, LocalIndex shift, T factor) {
    for (auto p = static_cast<std::size_t>(part.begin(i));
         p < static_cast<std::size_t>(part.end(i)); ++p) {
      add(factor * part.vals[p], part.cols[p] + shift);
    }
  }

  /// Adds a multiple of row j of P to the current row.
  void add(T factor, LocalIndex j) {
    P_.for_each_piece(j, [&](const LocalIndex* cols, const T* vals, Offset n, LocalIndex shift) {
      for (Offset k = 0; k < n; ++k) {
        const LocalIndex column = cols[k] + shift;
        Offset& place = place_[static_cast<std::size_t>(column)];
        if (place < first_) {  // of an earlier row, or of none
          place = static_cast<Offset>(result_.cols.size());
          result_.cols.push_back(column);
          result_.vals.push_back(factor * vals[k]);
        } else {
          result_.vals[static_cast<std::size_t>(place)] += factor * vals[k];
        }
      }
    });
  }

  const DistMatrix<T>& A_;
  const kernels::ExtendedRows<T>& P_;
  LocalIndex begin_;
  std::vector<Offset> place_;  // of each column in the result
  Csr<T> result_;
  Offset first_ = 0;  // where the current row begins
};

template <class T>
DistMatrix<T> smooth_once(const DistMatrix<T>& A, const DistMatrix<T>& P, double damping) {
  matrix::require_fit(A, P, A.cols() == P.rows() && A.rows() == P.rows(),
                      "smoothing of a prolongator");
  auto records = matrix::fetch_records(A.exchange(), P);
  return {P.rows(), P.cols(), [&] {
            const matrix::FetchedRows<T> fetched = matrix::to_rows(P, records);
            const kernels::ExtendedRows<T> extended = matrix::extended_rows(P, &fetched);
            const std::vector<T> diagonal = matrix::diagonal(A);
            Csr<T> rows =
                kernels::rows_in_parts<T>(A.on().row_ptr, [&](LocalIndex begin, LocalIndex end) {
                  return SmoothedRows<T>(A, extended, begin, end).run(diagonal, damping);
                });
            return matrix::split_rows(
                P.cols(),
                matrix::RowBlock<T>{std::move(rows), P.cols().n_local(), fetched.columns.ghosts()});
          }};
}

}  // namespace

template <class T>
DistMatrix<T> smooth_prolongator(const DistMatrix<T>& A, const DistMatrix<T>& P, double damping,
                                 int sweeps) {
  DistMatrix<T> smoothed = P;
  for (int sweep = 0; sweep < sweeps; ++sweep) smoothed = smooth_once(A, smoothed, damping);
  return smoothed;
}

template DistMatrix<float> smooth_prolongator(const DistMatrix<float>&, const DistMatrix<float>&,
                                              double, int);
template DistMatrix<double> smooth_prolongator(const DistMatrix<double>&, const DistMatrix<double>&,
                                               double, int);

}  // namespace nodewise::amg::aggregate
