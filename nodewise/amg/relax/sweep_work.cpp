#include "nodewise/amg/relax/sweep_work.hpp"

#include <algorithm>

#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/matrix/product_traffic.hpp"

namespace nodewise::amg::relax {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
using matrix::ghost_part;
using matrix::own_part;
using matrix::traffic_of_residual;
using model::KernelTraffic;

constexpr double line_bytes = 64;  // of a cache line

/// Cache lines of an array that ranges of it, ascending, lie in.
class TouchedLines {
 public:
  explicit TouchedLines(std::size_t element_bytes) : bytes_(static_cast<Offset>(element_bytes)) {}
  void add(Offset begin, Offset end) {
    if (begin == end) return;
    const Offset first = std::max(next_, begin * bytes_ / 64);
    next_ = std::max(next_, (end - 1) * bytes_ / 64 + 1);
    lines_ += static_cast<double>(next_ - std::min(first, next_));
  }
  double bytes() const { return lines_ * line_bytes; }

 private:
  Offset bytes_;
  Offset next_ = 0;
  double lines_ = 0;
};

/// The rows, or points, that Gauss-Seidel sweeps go through.
struct SweptRows {
  std::span<const Offset> row_ptr;
  std::span<const LocalIndex> cols;
  std::size_t block;  ///< rows of a point

  int parts() const { return parallel::parts_of(cols.size() * block * block + row_ptr.size()); }
};

SweptRows swept_rows(const DistMatrix<double>& A) {
  if (const auto* blocks = A.blocks()) {
    const auto& on = blocks->on();
    return {on.row_ptr, on.cols, static_cast<std::size_t>(on.block)};
  }
  return {A.on().row_ptr, A.on().cols, 1};
}

/// The entries that a sweep from zero looks at: below the diagonal, in the columns of its thread.
struct LowerEntries {
  double count = 0;  ///< of rows, or of points
  double bytes = 0;  ///< of the cache lines that they are in
};

template <class V>
LowerEntries lower_entries(const SweptRows& rows) {
  TouchedLines cols(sizeof(LocalIndex)), vals(rows.block * rows.block * sizeof(V));
  LowerEntries lower;
  const int parts = rows.parts();
  for (int part = 0; part < parts; ++part) {
    const LocalIndex first = parallel::row_part(rows.row_ptr, parts, part);
    const LocalIndex last = parallel::row_part(rows.row_ptr, parts, part + 1);
    for (LocalIndex i = first; i < last; ++i) {
      const Offset row_end = rows.row_ptr[static_cast<std::size_t>(i) + 1];
      Offset begin = rows.row_ptr[static_cast<std::size_t>(i)];
      while (begin < row_end && rows.cols[static_cast<std::size_t>(begin)] < first) ++begin;
      Offset end = begin;
      while (end < row_end && rows.cols[static_cast<std::size_t>(end)] < i) ++end;
      cols.add(begin, end);
      vals.add(begin, end);
      lower.count += static_cast<double>(end - begin);
    }
  }
  lower.bytes = cols.bytes() + vals.bytes();
  return lower;
}

/// Returns the bytes that say where the diagonal is, for each row or point.
double diagonal_bytes(const SweptRows& rows, double n_rows) {
  return rows.block > 1 ? n_rows / static_cast<double>(rows.block) * sizeof(Offset)
                        : n_rows * sizeof(LocalIndex);
}

template <class V>
KernelTraffic vectors(double rows, int read, int written, double flops_a_row) {
  return model::vector_traffic(rows, read, written, flops_a_row, sizeof(V));
}

/// The traffic of the rows' own vectors in a sweep: b and the inverse of the diagonal, or of its
/// blocks, are read, x is written.
template <class V>
KernelTraffic vectors_of_sweep(double rows, std::size_t block, double flops_a_row) {
  return vectors<V>(rows, 1 + static_cast<int>(block), 1, flops_a_row);
}

template <class V>
KernelTraffic traffic_from_zero(const DistMatrix<double>& A) {
  const SweptRows swept = swept_rows(A);
  const LowerEntries lower = lower_entries<V>(swept);
  const double rows = A.n_local();
  const double block = static_cast<double>(swept.block);
  KernelTraffic traffic = vectors_of_sweep<V>(rows, swept.block, 2 * block);
  traffic.matrix_bytes = lower.bytes + rows / block * sizeof(Offset) + diagonal_bytes(swept, rows);
  traffic.flops += 2 * lower.count * block * block;
  return traffic;
}

/// Forth and back through the factors, whose upper half is long gone from the caches when its turn
/// comes: whole cache lines come in either pass. x is written in both.
template <class V>
KernelTraffic traffic_of_factors(const Csr<double>& on) {
  TouchedLines lower_cols(sizeof(LocalIndex)), lower_vals(sizeof(V));
  TouchedLines upper_cols(sizeof(LocalIndex)), upper_vals(sizeof(V));
  for (LocalIndex i = 0; i < on.n_rows; ++i) {
    Offset upper = on.begin(i);
    while (upper < on.end(i) && on.cols[static_cast<std::size_t>(upper)] <= i) ++upper;
    lower_cols.add(on.begin(i), upper);
    lower_vals.add(on.begin(i), upper);
    upper_cols.add(upper, on.end(i));
    upper_vals.add(upper, on.end(i));
  }
  const double rows = on.n_rows;
  KernelTraffic traffic = vectors<V>(rows, 1, 2, 2);  // read is the inverse diagonal
  traffic.matrix_bytes = lower_cols.bytes() + lower_vals.bytes() + upper_cols.bytes() +
                         upper_vals.bytes() + rows * 4 * sizeof(Offset);
  traffic.flops += 2 * static_cast<double>(on.nnz());
  return traffic;
}

/// All entries; x, which is corrected in place, takes the place of both vectors of a product.
template <class V>
KernelTraffic traffic_of_gauss_seidel(const DistMatrix<double>& A) {
  const SweptRows swept = swept_rows(A);
  const double rows = A.n_local();
  const double block = static_cast<double>(swept.block);
  const bool on_threads = swept.parts() > 1;  // x is copied first
  KernelTraffic traffic = vectors_of_sweep<V>(rows, swept.block, 2 * block + 1);
  const auto add_matrix = [&](const model::StoredMatrix& part) {
    traffic.matrix_bytes +=
        part.nonzeros * (part.value_bytes + part.column_bytes) + rows * sizeof(Offset) / block;
    traffic.flops += 2 * part.nonzeros;
  };
  add_matrix(own_part<V>(A));
  traffic.matrix_bytes += diagonal_bytes(swept, rows);
  if (A.n_ghosts() > 0 || on_threads) add_matrix(ghost_part<V>(A));
  traffic += vectors<V>(A.n_ghosts(), 1, 0, 0);
  if (on_threads) {
    traffic += vectors<V>(rows, 2, 1, 0);
    traffic.matrix_bytes +=
        rows / block * 2 * sizeof(LocalIndex);  // where the thread's columns are
  }
  return traffic;
}

/// x = M b or x += M r, with a number of M for each row, or a block for each point.
template <class V>
KernelTraffic traffic_of_scaling(const DistMatrix<double>& A, bool from_zero) {
  const std::size_t block =
      A.blocks() != nullptr ? static_cast<std::size_t>(A.blocks()->block()) : 1;
  return vectors_of_sweep<V>(A.n_local(), block,
                             2 * static_cast<double>(block) - (from_zero ? 1 : 0));
}

template <class V>
KernelTraffic traffic_of_residual_from_zero(const DistMatrix<double>& A) {
  const SweptRows swept = swept_rows(A);
  const double entries =
      lower_entries<V>(swept).count * static_cast<double>(swept.block * swept.block);
  model::StoredMatrix own = own_part<V>(A);
  own.nonzeros = std::max(0.0, own.nonzeros - entries);
  return model::product_traffic(own) + model::product_traffic(ghost_part<V>(A));
}

/// Calls f.operator()<V>() for the type of the query's values.
template <class F>
auto in_type(const SweepQuery& query, F&& f) {
  return query.value_bytes == sizeof(float) ? f.template operator()<float>()
                                            : f.template operator()<double>();
}

/// Of a sweep that makes a correction of so much traffic from a residual, or from b.
SweepWork corrected(const SweepQuery& query, const KernelTraffic& correction) {
  const int residuals = (query.from_zero ? 0 : 1) + (query.with_residual ? 1 : 0);
  return {static_cast<double>(residuals) * residual_traffic(query) + correction,
          static_cast<double>(residuals)};
}

}  // namespace

KernelTraffic residual_traffic(const SweepQuery& query) {
  return in_type(query, [&]<class V>() { return traffic_of_residual<V>(query.A); });
}

KernelTraffic vector_traffic(const SweepQuery& query, int read, int written, double flops_a_row) {
  return model::vector_traffic(query.A.n_local(), read, written, flops_a_row,
                               static_cast<double>(query.value_bytes));
}

Answer<SweepWork> gauss_seidel_work(const SweepQuery& query) {
  if (goes_by_points(order_of(query.smoother))) {
    return Unanswered{"sweeps through coarse or fine points are not counted"};
  }
  return in_type(query, [&]<class V>() -> Answer<SweepWork> {
    SweepWork work = query.from_zero ? SweepWork{traffic_from_zero<V>(query.A), 0.5}
                                     : SweepWork{traffic_of_gauss_seidel<V>(query.A), 1.0};
    if (!query.with_residual) return work;
    work.traffic += query.from_zero ? traffic_of_residual_from_zero<V>(query.A)
                                    : traffic_of_residual<V>(query.A);
    *work.passes += query.from_zero ? 0.5 : 1.0;
    return work;
  });
}

Answer<SweepWork> jacobi_work(const SweepQuery& query) {
  return corrected(query, vector_traffic(query, 2, 1, query.from_zero ? 1 : 2));
}

Answer<SweepWork> block_jacobi_work(const SweepQuery& query) {
  return corrected(query, in_type(query, [&]<class V>() {
                     return traffic_of_scaling<V>(query.A, query.from_zero);
                   }));
}

Answer<SweepWork> ilu0_work(const SweepQuery& query) {
  const KernelTraffic solves =
      in_type(query, [&]<class V>() { return traffic_of_factors<V>(query.A.on()); });
  SweepWork work = corrected(query, solves + (query.from_zero ? vector_traffic(query, 1, 0, 0)
                                                              : vector_traffic(query, 1, 1, 1)));
  work.passes.reset();
  return work;
}

}  // namespace nodewise::amg::relax
