// Whether a matrix is symmetric.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::matrix {

namespace {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 2e-12;

/// The entry of x that belongs to a row: away from zero, so that no column is overlooked.
double entry_of_x(GlobalIndex row) {
  return 0.5 + hash_uniform(static_cast<std::uint64_t>(row), 17);
}

/// Sums of each row: of the difference between the two sides, and of the moduli of its entries.
struct RowSums {
  Array<double> difference, size;

  explicit RowSums(std::size_t n) : difference(n), size(n) {}
};

/// Makes the sums (L^T - U) x and |A| 1 for the rows from begin to end of the rank's own block, L
/// and U being its triangles, but leaves what these rows add to those before them in `before`.
template <class T>
void compare_triangles(const Csr<T>& A, LocalIndex begin, LocalIndex end, const double* x,
                       RowSums& sums, double* before) {
  const Offset* const row_ptr = A.row_ptr.data();
  const LocalIndex* const cols = A.cols.data();
  const T* const vals = A.vals.data();
  double* const difference = sums.difference.data();
  double* const size = sums.size.data();
  const auto visit = [=](LocalIndex first, LocalIndex last) {
    for (LocalIndex i = first; i < last; ++i) {
      const Offset row_end = row_ptr[i + 1];
      double above = 0, all = 0;
      Offset k = row_ptr[i];
      for (; k < row_end && cols[k] < i; ++k) {
        const LocalIndex j = cols[k];
        (j < begin ? before : difference)[j] += static_cast<double>(vals[k]) * x[i];
        all += std::abs(static_cast<double>(vals[k]));
      }
      if (k < row_end && cols[k] == i) all += std::abs(static_cast<double>(vals[k++]));
      for (; k < row_end; ++k) {
        above += static_cast<double>(vals[k]) * x[cols[k]];
        all += std::abs(static_cast<double>(vals[k]));
      }
      difference[i] = -above;
      size[i] = all;
    }
  };
  kernels::RowBlocks<T>(A, begin, end).upwards(begin, end, visit);
}

/// The same for all rows, on threads.
template <class T>
void compare_triangles(const Csr<T>& A, const double* x, RowSums& sums) {
  const int parts = parallel::parts_of(A.cols.size() + sums.size.size());
  std::vector<std::vector<double>> before(static_cast<std::size_t>(parts));
  parallel::run(parts, [&](int part) {
    const LocalIndex begin = parallel::row_part(A.row_ptr, parts, part);
    const LocalIndex end = parallel::row_part(A.row_ptr, parts, part + 1);
    std::vector<double>& others = before[static_cast<std::size_t>(part)];
    others.assign(static_cast<std::size_t>(begin), 0.0);
    compare_triangles(A, begin, end, x, sums, others.data());
  });
  if (parts == 1) return;
  parallel::for_range(sums.difference.size(), [&](std::size_t begin, std::size_t end) {
    for (const std::vector<double>& of_part : before) {
      for (std::size_t i = begin; i < std::min(end, of_part.size()); ++i) {
        sums.difference[i] += of_part[i];
      }
    }
  });
}

/// Adds to the sums what entries at rows of other ranks do, and to `ghosts` what the transposed
/// ones do to the rows there.
template <class T>
void add_others(const DistMatrix<T>& A, const double* x, RowSums& sums, std::span<double> ghosts) {
  const Csr<T>& off = A.off();
  std::vector<double> x_of_ghost;
  for (const GlobalIndex ghost : A.ghosts()) x_of_ghost.push_back(entry_of_x(ghost));
  for (LocalIndex i = 0; i < off.n_rows; ++i) {
    const auto u = static_cast<std::size_t>(i);
    for (Offset k = off.begin(i); k < off.end(i); ++k) {
      const auto g = static_cast<std::size_t>(off.cols[static_cast<std::size_t>(k)]);
      const auto a = static_cast<double>(off.vals[static_cast<std::size_t>(k)]);
      sums.difference[u] -= a * x_of_ghost[g];
      sums.size[u] += std::abs(a);
      ghosts[g] += a * x[i];
    }
  }
}

/// Whether there is no difference in any row but for round-off.
template <class T>
bool agree(const RowSums& sums) {
  return parallel::sum(sums.size.size(), [&](std::size_t begin, std::size_t end) {
           double unequal = 0;
           for (std::size_t i = begin; i < end; ++i) {
             // Written so that NaN counts as unequal.
             const bool equal = std::isfinite(sums.size[i]) &&
                                std::abs(sums.difference[i]) <= tolerance<T> * sums.size[i];
             if (!equal) unequal += 1;
           }
           return unequal;
         }) == 0;
}

}  // namespace

// Within the rank's own block the two triangles are compared, for which each entry is read once.
// For entries that pairs of ranks share the products with A and A^T are compared.
template <class T>
bool is_symmetric(const DistMatrix<T>& A) {
  if (!(A.rows() == A.cols())) return false;
  const auto n = static_cast<std::size_t>(A.n_local());
  Array<double> x(n);
  parallel::for_range(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      x[i] = entry_of_x(A.rows().to_global(static_cast<LocalIndex>(i)));
    }
  });
  RowSums sums(n);
  compare_triangles(A.on(), x.data(), sums);
  std::vector<double> ghosts(static_cast<std::size_t>(A.n_ghosts()), 0.0);
  add_others(A, x.data(), sums, ghosts);
  A.exchange().reverse_add(std::span<const double>(ghosts), std::span<double>(sums.difference));
  return mpi::min(A.comm(), agree<T>(sums) ? 1 : 0) == 1;
}

template bool is_symmetric(const DistMatrix<float>&);
template bool is_symmetric(const DistMatrix<double>&);

}  // namespace nodewise::matrix
