#include "virtual_cycle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nodewise/amg/relax/hybrid_diagonal.hpp"
#include "nodewise/kernels/dense.hpp"
#include "nodewise/matrix/operations.hpp"

namespace nodewise::bench {

namespace {

using kernels::Csr;

struct Rows {
  LocalIndex begin, end;
  bool contains(LocalIndex row) const { return row >= begin && row < end; }
};

/// What a virtual rank's sweep changes, and reads.
struct Sweep {
  const Csr<double>& A;
  bool l1;
  std::span<const double> before;  ///< what the other ranks had
  std::span<const double> b;
  std::span<double> x;

  void relax(Rows rows, LocalIndex i) const;
};

void Sweep::relax(Rows rows, LocalIndex i) const {
  const auto u = static_cast<std::size_t>(i);
  double rest = b[u], diagonal = 0, outside = 0;
  for (Offset k = A.begin(i); k < A.end(i); ++k) {
    const auto p = static_cast<std::size_t>(k);
    const LocalIndex j = A.cols[p];
    if (j == i) {
      diagonal = A.vals[p];
    } else if (rows.contains(j)) {
      rest -= A.vals[p] * x[static_cast<std::size_t>(j)];
    } else {
      rest -= A.vals[p] * before[static_cast<std::size_t>(j)];
      outside += std::abs(A.vals[p]);
    }
  }
  if (diagonal == 0) return;
  if (!l1) {
    x[u] = rest / diagonal;
  } else {
    const double term = amg::relax::l1_term(outside, diagonal, 1.0);
    x[u] = (rest + term * x[u]) / (diagonal + term);
  }
}

/// One sweep, where rank r has the rows [starts[r], starts[r + 1]).
void relax_all(const Csr<double>& A, std::span<const GlobalIndex> starts, bool l1,
               std::span<const double> b, std::span<double> x) {
  const std::vector<double> before(x.begin(), x.end());
  const Sweep sweep{A, l1, before, b, x};
  for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
    const Rows rows{static_cast<LocalIndex>(starts[r]), static_cast<LocalIndex>(starts[r + 1])};
    for (LocalIndex i = rows.begin; i < rows.end; ++i) sweep.relax(rows, i);
    for (LocalIndex i = rows.end; i-- > rows.begin;) sweep.relax(rows, i);
  }
}

}  // namespace

StudiedLevels sparser_levels(const amg::Hierarchy<double>& hierarchy,
                             const amg::Sparsification& sparsification) {
  StudiedLevels levels{hierarchy};
  levels.sparser.resize(levels.size());
  const auto& own = sparsification.options<amg::SparsificationOptions>();
  // The last level is solved directly, with all its entries.
  for (std::size_t l = 1; l + 1 < levels.size(); ++l) {
    const double tolerance = amg::drop_tolerance_of(sparsification, static_cast<int>(l));
    if (tolerance == 0) continue;
    const auto above =
        sparsification->pattern_of_rest ? levels.matrix(l - 1) : hierarchy.matrix(l - 1);
    auto sparse = amg::sparsify::sparsify<double>(
        hierarchy.matrix(l),
        {*above, *hierarchy.interpolation(l - 1), hierarchy.coarse_rows(l - 1)},
        {.drop = own.drop, .lumping = own.lumping, .tolerance = tolerance, .places = {}});
    if (sparse) levels.sparser[l] = std::move(sparse->A);
  }
  return levels;
}

VirtualCycle::VirtualCycle(const StudiedLevels& levels, bool l1) : levels_(levels), l1_(l1) {
  const auto A = levels.matrix(levels.size() - 1);
  const auto n = static_cast<std::size_t>(A->n_local());
  if (n > 2000) throw Error(ErrorCode::unsupported, "the coarsest level is too large to invert");
  inverse_.resize(n * n);
  for (LocalIndex i = 0; i < A->n_local(); ++i) {
    for (Offset k = A->on().begin(i); k < A->on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      inverse_[static_cast<std::size_t>(A->on().cols[p]) * n + static_cast<std::size_t>(i)] =
          A->on().vals[p];
    }
  }
  kernels::invert_generalised(inverse_, 1e-14);
}

void VirtualCycle::solve_coarsest(std::span<const double> b, std::span<double> x) const {
  std::fill(x.begin(), x.end(), 0.0);
  for (std::size_t j = 0; j < b.size(); ++j) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += inverse_[j * x.size() + i] * b[j];
  }
}

void VirtualCycle::visit(std::size_t level, std::span<const double> b, std::span<double> x) const {
  if (level + 1 == levels_.size()) return solve_coarsest(b, x);
  const auto A = levels_.matrix(level);
  const Matrix& P = *levels_.hierarchy.interpolation(level);
  const auto starts = levels_.hierarchy.virtual_starts(level);
  std::fill(x.begin(), x.end(), 0.0);
  relax_all(A->on(), starts, l1_, b, x);
  std::vector<double> r(b.size());
  matrix::residual(*A, std::span<const double>(x), b, std::span<double>(r));
  const auto n_coarse = static_cast<std::size_t>(P.on().n_cols);
  std::vector<double> coarse_b(n_coarse), coarse_x(n_coarse);
  matrix::multiply_transposed(P, std::span<const double>(r), std::span<double>(coarse_b));
  visit(level + 1, coarse_b, coarse_x);
  matrix::multiply_add(P, std::span<const double>(coarse_x), x);
  relax_all(A->on(), starts, l1_, b, x);
}

void VirtualCycle::apply(std::span<const double> b, std::span<double> x) const {
  visit(0, b, x);
}

}  // namespace nodewise::bench
