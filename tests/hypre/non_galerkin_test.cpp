// One step of hypre's setup beside ours: the same coarse matrix, without what either drops, entry
// by entry. So neither splittings nor interpolations have a say.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/products.hpp"

#include "bench/peer_hypre.hpp"
#include "sparsify_support.hpp"

namespace nodewise {
namespace non_galerkin_test {

using Matrix = matrix::DistMatrix<double>;
using test::DenseMatrix;
using test::test_comm;

/// Rows on all ranks as a dense matrix.
DenseMatrix gathered(const Matrix& like, const std::vector<matrix::Triplet<double>>& rows) {
  std::vector<double> entries;
  for (const matrix::Triplet<double>& entry : rows) {
    entries.insert(entries.end(),
                   {static_cast<double>(entry.row - like.rows().first()),
                    static_cast<double>(entry.col - like.cols().first()), entry.value});
  }
  const auto all = mpi::concatenate_all(like.comm(), std::span<const double>(entries));
  DenseMatrix whole(like.rows().n_global(), like.cols().n_global());
  for (std::size_t k = 0; k < all.size(); k += 3) {
    whole(static_cast<GlobalIndex>(all[k]), static_cast<GlobalIndex>(all[k + 1])) += all[k + 2];
  }
  return whole;
}

std::shared_ptr<const Matrix> shared(Matrix A) {
  return std::make_shared<const Matrix>(std::move(A));
}

/// A coarse matrix that is to lose entries, and how it is joined to the level above.
struct Step {
  std::shared_ptr<const Matrix> coarse;
  std::shared_ptr<const Matrix> A;
  const Matrix& P;
  std::vector<LocalIndex> coarse_rows;
};

/// Collective. Compares what both leave. Returns how many entries are gone.
GlobalIndex compare(const Step& step, double gamma) {
  amg::sparsify::DropRules<double> rules;
  rules.lumping = "hypre";
  rules.tolerance = gamma;
  const auto& options = rules.lumping.options<amg::sparsify::HypreLumpingOptions>();
  const auto sparse = amg::sparsify::sparsify<double>(
      step.coarse, {.A = *step.A, .P = step.P, .coarse_rows = step.coarse_rows}, rules);
  const Matrix AP = matrix::multiply(*step.A, step.P);
  const DenseMatrix theirs = gathered(
      *step.coarse,
      bench::left_by_hypre({*step.coarse, AP, step.coarse_rows, options.hypre_lumping_threshold,
                            options.hypre_lumping_row_sum, gamma}));
  const DenseMatrix ours = test::gathered(sparse ? *sparse->A : *step.coarse);
  EXPECT_TRUE(test::pattern_of(ours) == test::pattern_of(theirs));
  double largest = 0;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    largest = std::max(largest, std::abs(ours.data()[k]));
  }
  EXPECT_LE(test::difference(ours, theirs), 1e-13 * largest);
  return sparse ? step.coarse->nnz_global() - sparse->A->nnz_global() : 0;
}

TEST(NonGalerkinStepBesideHypre, LeavesTheSameOfRandomMatrices) {
  const bench::HypreLibrary library;
  constexpr GlobalIndex n = 40;
  GlobalIndex n_gone = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const matrix::Layout rows = matrix::Layout::uniform(test_comm(), n);
    DenseMatrix A = test::random_dominant(n, seed % 3 == 0 ? 0.15 : 0.4, seed, seed % 2 == 0);
    for (GlobalIndex i = 0; seed % 4 == 3 && i < n; ++i) {  // values that are not symmetric
      for (GlobalIndex j = 0; j < i; ++j) A(i, j) *= 0.5 + 0.01 * static_cast<double>(j);
    }
    // The pattern of A P is in that of P^T A P.
    DenseMatrix minimal = test::random_dominant(n, 0.2, seed + 20, false);
    for (GlobalIndex i = 0; i < n; ++i) {
      for (GlobalIndex j = 0; j < n; ++j) minimal(i, j) *= A(i, j) != 0 ? 1 : 0;
    }
    DenseMatrix one(n, n);
    for (GlobalIndex i = 0; i < n; ++i) one(i, i) = 1;
    const Matrix P = test::distribute(one, rows);
    Step step{shared(test::distribute(A, rows)), shared(test::distribute(minimal, rows)), P, {}};
    for (LocalIndex i = 0; i < rows.n_local(); ++i) step.coarse_rows.push_back(i);
    for (const double gamma : {0.05, 0.3, 1.0}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", tolerance " << gamma);
      n_gone += compare(step, gamma);
    }
  }
  EXPECT_GT(n_gone, 1000);
}

TEST(NonGalerkinStepBesideHypre, LeavesTheSameOfGalerkinProducts) {
  const bench::HypreLibrary library;
  for (const io::GalleryOptions& problem : {io::GalleryOptions{.problem = "rotated_fe", .n = 40},
                                            io::GalleryOptions{.problem = "laplace27", .n = 12}}) {
    const auto A = shared(io::generate<double>(test_comm(), problem));
    for (const char* coarsening : {"hmis", "pmis"}) {
      amg::Options options;
      options.set("coarsening", coarsening);
      options.set("max_coarse_rows", 8);
      const amg::Hierarchy<double> hierarchy(A, options);
      for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
        const auto rows = hierarchy.coarse_rows(l);
        const Step step{hierarchy.matrix(l + 1),
                        hierarchy.matrix(l),
                        *hierarchy.interpolation(l),
                        {rows.begin(), rows.end()}};
        for (const double gamma : {0.01, 0.1, 1.0}) {
          SCOPED_TRACE(testing::Message() << problem.problem.name() << ", " << coarsening
                                          << ", level " << l + 1 << ", tolerance " << gamma);
          const GlobalIndex n_gone = compare(step, gamma);
          if (l == 1 && gamma > 0.01) {
            EXPECT_GT(n_gone, 0);
          }
        }
      }
    }
  }
}

}  // namespace non_galerkin_test
}  // namespace nodewise
