// Whether a matrix is symmetric.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <vector>

#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/row_blocks.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::matrix {

namespace {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;

/// Looks at each pair of entries (i, j) and (j, i) of a square local matrix once, without its
/// transpose: as rows i ascend, those of them that have an entry in column j < i must come in the
/// order of the entries of row j behind its diagonal.
template <class T>
class MirrorWalk {
 public:
  /// Of rows begin to end with the rows before them.
  MirrorWalk(const Csr<T>& A, LocalIndex begin, LocalIndex end)
      : A_(A), begin_(begin), next_(static_cast<std::size_t>(A.n_rows), unknown) {
    kernels::RowBlocks<T>(A, begin, end)
        .upwards(begin, end, [&](LocalIndex first, LocalIndex last) {
          for (LocalIndex i = first; i < last && all_meet_; ++i) visit_row(i);
        });
  }

  /// Whether each entry before the diagonal has its equal behind it.
  bool all_meet() const { return all_meet_; }
  /// The entries behind the diagonal less those before it: if these add up to none over all rows,
  /// there is none behind it either that has no equal.
  Offset surplus() const { return surplus_; }

 private:
  static constexpr Offset unknown = -1;

  void visit_row(LocalIndex i) {
    Offset k = A_.begin(i);
    for (; k < A_.end(i) && column(k) < i; ++k) {
      if (!meets(i, k)) {
        all_meet_ = false;
        return;
      }
      --surplus_;
    }
    if (k < A_.end(i) && column(k) == i) {
      all_meet_ = std::isfinite(value(k));
      ++k;
    }
    next_[static_cast<std::size_t>(i)] = k;
    surplus_ += A_.end(i) - k;
  }

  /// Whether the entry at k, of row i, equals that of row j = column(k) which is the next there.
  bool meets(LocalIndex i, Offset k) {
    const LocalIndex j = column(k);
    Offset& next = next_[static_cast<std::size_t>(j)];
    if (next == unknown) next = first_behind(j, begin_);
    if (next == A_.end(j) || column(next) != i) return false;
    const double here = value(k), there = value(next);
    ++next;
    // Written so that NaN counts as unequal.
    return std::abs(here - there) <= tolerance<T> * (std::abs(here) + std::abs(there));
  }

  /// The first entry of row j in column `first` or behind it.
  Offset first_behind(LocalIndex j, LocalIndex first) const {
    const auto row = A_.cols.begin();
    return std::lower_bound(row + A_.begin(j), row + A_.end(j), first) - row;
  }

  LocalIndex column(Offset k) const { return A_.cols[static_cast<std::size_t>(k)]; }
  double value(Offset k) const { return static_cast<double>(A_.vals[static_cast<std::size_t>(k)]); }

  const Csr<T>& A_;
  LocalIndex begin_;
  std::vector<Offset> next_;  // of each row, the place of its entry that is to be met next
  Offset surplus_ = 0;
  bool all_meet_ = true;
};

/// Whether each entry has its equal but for round-off, stored zeros included. Less than that can be
/// symmetric, too.
template <class T>
bool is_mirrored(const Csr<T>& A) {
  const int parts = parallel::parts_of(A.cols.size());
  std::vector<Offset> surplus(static_cast<std::size_t>(parts));
  std::vector<char> all_meet(surplus.size());
  parallel::run(parts, [&](int part) {
    const MirrorWalk<T> walk(A, parallel::row_part(A.row_ptr, parts, part),
                             parallel::row_part(A.row_ptr, parts, part + 1));
    surplus[static_cast<std::size_t>(part)] = walk.surplus();
    all_meet[static_cast<std::size_t>(part)] = walk.all_meet() ? 1 : 0;
  });
  return std::count(all_meet.begin(), all_meet.end(), 0) == 0 &&
         std::accumulate(surplus.begin(), surplus.end(), Offset{0}) == 0;
}

/// For one part of the matrix: adds A x and |A| |x| (interleaved) to `products`, and A^T x and
/// |A|^T |x| to `transposed`; x_row belongs to the rows, x_col to the columns.
template <class T>
void accumulate_both(const Csr<T>& A, LocalIndex begin, LocalIndex end,
                     std::span<const double> x_row, std::span<const double> x_col,
                     std::span<double> products, std::span<double> transposed) {
  for (LocalIndex i = begin; i < end; ++i) {
    const auto u = static_cast<std::size_t>(i);
    for (Offset k = A.begin(i); k < A.end(i); ++k) {
      const auto j = static_cast<std::size_t>(A.cols[static_cast<std::size_t>(k)]);
      const auto a = static_cast<double>(A.vals[static_cast<std::size_t>(k)]);
      products[2 * u] += a * x_col[j];
      products[2 * u + 1] += std::abs(a * x_col[j]);
      transposed[2 * j] += a * x_row[u];
      transposed[2 * j + 1] += std::abs(a * x_row[u]);
    }
  }
}

/// The same for all rows, on threads. They have sums for the columns of their own, so that these
/// are the same on any number of threads but for round-off.
template <class T>
void accumulate_both(const Csr<T>& A, std::span<const double> x_row, std::span<const double> x_col,
                     std::span<double> products, std::span<double> transposed) {
  const int parts = parallel::parts_of(A.cols.size() + transposed.size());
  std::vector<std::vector<double>> others(static_cast<std::size_t>(parts));
  parallel::run(parts, [&](int part) {
    std::span<double> mine = transposed;
    if (part > 0) {
      std::vector<double>& own = others[static_cast<std::size_t>(part)];
      own.assign(transposed.size(), 0.0);
      mine = own;
    }
    accumulate_both(A, parallel::row_part(A.row_ptr, parts, part),
                    parallel::row_part(A.row_ptr, parts, part + 1), x_row, x_col, products, mine);
  });
  if (parts == 1) return;
  parallel::for_range(transposed.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t part = 1; part < others.size(); ++part) {
      for (std::size_t k = begin; k < end; ++k) transposed[k] += others[part][k];
    }
  });
}

/// Whether the products with the matrix and its transpose are the same in every row but for
/// round-off.
template <class T>
bool agree(std::span<const double> products, std::span<const double> transposed) {
  return parallel::sum(products.size() / 2, [&](std::size_t begin, std::size_t end) {
           double unequal = 0;
           for (std::size_t i = begin; i < end; ++i) {
             const double difference = std::abs(products[2 * i] - transposed[2 * i]);
             const double scale = products[2 * i + 1] + transposed[2 * i + 1];
             // Written so that NaN counts as unequal.
             if (!(difference <= tolerance<T> * scale)) unequal += 1;
           }
           return unequal;
         }) == 0;
}

std::vector<double> random_vector(const Layout& layout) {
  std::vector<double> x(static_cast<std::size_t>(layout.n_local()));
  parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      // Away from zero, so that no column is overlooked.
      x[i] = 0.5 + hash_uniform(static_cast<std::uint64_t>(layout.begin()) + i, 17);
    }
  });
  return x;
}

}  // namespace

// Equal entries of the rank's own block cancel in A x - A^T x: where all of them are equal, what
// is left to compare is the products with the entries that pairs of ranks share, and with fewer
// terms on the right-hand side the criterion is met all the more. Where one of the two fails, the
// products with the own block are added, and the criterion is the whole one.
template <class T>
bool is_symmetric(const DistMatrix<T>& A) {
  if (!(A.rows() == A.cols())) return false;
  const std::vector<double> x = random_vector(A.rows());
  std::vector<double> x_ghosts(static_cast<std::size_t>(A.n_ghosts()));
  A.exchange().forward(std::span<const double>(x), std::span<double>(x_ghosts));
  std::vector<double> products(2 * x.size(), 0.0);
  std::vector<double> transposed(2 * x.size(), 0.0);
  std::vector<double> ghosts(2 * x_ghosts.size(), 0.0);
  accumulate_both<T>(A.off(), x, x_ghosts, products, ghosts);
  A.exchange().reverse_add(std::span<const double>(ghosts), std::span<double>(transposed), 2);
  bool symmetric = is_mirrored(A.on()) && agree<T>(products, transposed);
  if (!symmetric) {
    accumulate_both<T>(A.on(), x, x, products, transposed);
    symmetric = agree<T>(products, transposed);
  }
  return mpi::min(A.comm(), symmetric ? 1 : 0) == 1;
}

template bool is_symmetric(const DistMatrix<float>&);
template bool is_symmetric(const DistMatrix<double>&);

}  // namespace nodewise::matrix
