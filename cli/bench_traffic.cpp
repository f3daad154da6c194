#include "cli/bench_traffic.hpp"

#include <algorithm>

#include "nodewise/base/error.hpp"
#include "nodewise/base/parallel.hpp"

namespace nodewise::cli {

namespace {

using kernels::Csr;
using matrix::DistMatrix;
using model::KernelTraffic;

constexpr double line_bytes = 64;  // of a cache line

template <class T>
model::StoredMatrix own_part(const DistMatrix<T>& A) {
  return {static_cast<double>(A.on().n_rows), static_cast<double>(A.on().n_cols),
          static_cast<double>(A.on().nnz()), sizeof(T)};
}

/// The rows that have ghosts: what a product adds to them by a list of their numbers.
template <class T>
model::StoredMatrix ghost_part(const DistMatrix<T>& A) {
  model::StoredMatrix part{static_cast<double>(A.boundary_rows().size()),
                           static_cast<double>(A.n_ghosts()), static_cast<double>(A.off().nnz()),
                           sizeof(T)};
  part.row_bytes += sizeof(LocalIndex);
  return part;
}

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

/// A Gauss-Seidel sweep from zero looks at entries below the diagonal in the rows of its own
/// thread; whole cache lines come.
KernelTraffic traffic_from_zero(const Csr<double>& on) {
  TouchedLines cols(sizeof(LocalIndex)), vals(sizeof(double));
  Offset entries = 0;
  const int parts = parallel::parts_of(on.cols.size() + on.row_ptr.size());
  for (int part = 0; part < parts; ++part) {
    const LocalIndex first = parallel::row_part(on.row_ptr, parts, part);
    const LocalIndex last = parallel::row_part(on.row_ptr, parts, part + 1);
    for (LocalIndex i = first; i < last; ++i) {
      Offset begin = on.begin(i);
      while (begin < on.end(i) && on.cols[static_cast<std::size_t>(begin)] < first) ++begin;
      Offset end = begin;
      while (end < on.end(i) && on.cols[static_cast<std::size_t>(end)] < i) ++end;
      cols.add(begin, end);
      vals.add(begin, end);
      entries += end - begin;
    }
  }
  const double rows = on.n_rows;
  // Read are b and the inverse diagonal, and how many entries are below the diagonal.
  KernelTraffic traffic = model::vector_traffic(rows, 2, 1, 2);
  traffic.matrix_bytes = cols.bytes() + vals.bytes() + rows * (sizeof(Offset) + sizeof(LocalIndex));
  traffic.flops += 2 * static_cast<double>(entries);
  return traffic;
}

/// All entries; x, which is corrected in place, takes the place of both vectors of a product.
KernelTraffic traffic_of_gauss_seidel(const DistMatrix<double>& A) {
  const double rows = A.n_local();
  const bool on_threads =
      parallel::parts_of(A.on().cols.size() + A.on().row_ptr.size()) > 1;  // x is copied first
  KernelTraffic traffic = model::vector_traffic(rows, 2, 1, 3);
  const auto add_matrix = [&](const Csr<double>& part) {
    const auto entries = static_cast<double>(part.nnz());
    traffic.matrix_bytes += entries * (sizeof(double) + sizeof(LocalIndex)) + rows * sizeof(Offset);
    traffic.flops += 2 * entries;
  };
  add_matrix(A.on());
  traffic.matrix_bytes += rows * sizeof(LocalIndex);  // how many entries are below the diagonal
  if (A.n_ghosts() > 0 || on_threads) add_matrix(A.off());
  traffic += model::vector_traffic(A.n_ghosts(), 1, 0, 0);
  if (on_threads) {
    traffic += model::vector_traffic(rows, 2, 1, 0);
    traffic.matrix_bytes += rows * 2 * sizeof(LocalIndex);  // where the thread's columns are
  }
  return traffic;
}

}  // namespace

template <class T>
KernelTraffic traffic_of_product(const DistMatrix<T>& A, int width) {
  return model::product_traffic(own_part(A), width) + model::product_traffic(ghost_part(A), width);
}

KernelTraffic traffic_of_own_product(const DistMatrix<double>& A) {
  return model::product_traffic(own_part(A));
}

KernelTraffic traffic_of_residual(const DistMatrix<double>& A) {
  return traffic_of_product(A) + model::vector_traffic(A.n_local(), 1, 0, 1);
}

KernelTraffic traffic_of_transposed(const DistMatrix<double>& A) {
  return model::transposed_traffic(own_part(A)) + model::transposed_traffic(ghost_part(A));
}

bool counts_sweeps(amg::SmootherKind kind) {
  using enum amg::SmootherKind;
  return kind == l1_gauss_seidel || kind == gauss_seidel || kind == l1_jacobi || kind == jacobi ||
         kind == chebyshev;
}

KernelTraffic traffic_of_sweep(const DistMatrix<double>& A, const amg::Options& options,
                               bool from_zero) {
  using enum amg::SmootherKind;
  const double rows = A.n_local();
  const KernelTraffic scaling = model::vector_traffic(rows, 2, 1, from_zero ? 1 : 2);
  switch (options.smoother) {
    case l1_gauss_seidel:
    case gauss_seidel:
      return from_zero ? traffic_from_zero(A.on()) : traffic_of_gauss_seidel(A);
    case l1_jacobi:
    case jacobi:
      return from_zero ? scaling : traffic_of_residual(A) + scaling;
    case chebyshev: {  // the step is kept beside x
      const int residuals = options.chebyshev_degree - (from_zero ? 1 : 0);
      return residuals * traffic_of_residual(A) +
             options.chebyshev_degree * model::vector_traffic(rows, 2, 2, 4);
    }
    default:
      throw Error(ErrorCode::internal, "the traffic of this smoother is not counted");
  }
}

template KernelTraffic traffic_of_product(const DistMatrix<double>&, int);
template KernelTraffic traffic_of_product(const DistMatrix<float>&, int);

}  // namespace nodewise::cli
