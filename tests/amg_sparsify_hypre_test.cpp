// Lumping as hypre does it, against a plain version on dense matrices. tests/hypre compares with
// hypre itself.
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"

#include "cycle_support.hpp"
#include "sparsify_support.hpp"

namespace nodewise::amg {
namespace amg_sparsify_hypre_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::Dense;
using test::DenseMatrix;
using test::gathered;
using test::pattern_of;
using test::rules_of;
using test::test_comm;

constexpr double threshold = 0.333 * 0.25, row_sum = 0.9;

/// What is larger than the tolerance's share of its row's or its column's largest entry, and the
/// minimal pattern, both with their transposes.
Dense<int> kept_by_hypre(const DenseMatrix& A, const DenseMatrix& M, double gamma) {
  Dense<int> kept(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      if (A(i, j) == 0) continue;
      if (i == j || M(i, j) != 0 || std::abs(A(i, j)) > gamma * test::largest_of(A, i)) {
        kept(i, j) = kept(j, i) = 1;
      }
    }
  }
  return kept;
}

/// Whether (i, k) takes what row i drops: the diagonal where its rank has a kept column before it.
bool takes(const Dense<int>& kept, const Layout& rows, GlobalIndex i, GlobalIndex k) {
  if (k != i) return kept(i, k) != 0;
  for (GlobalIndex c = 0; c < i; ++c) {
    if (kept(i, c) != 0 && rows.owner(c) == rows.owner(i)) return true;
  }
  return false;
}

/// What hypre leaves, and how many entries it was to drop and could not.
struct LumpedByHypre {
  DenseMatrix left;
  int n_halved = 0;
};

LumpedByHypre lumped_by_hypre(const DenseMatrix& A, const Dense<int>& kept, const Layout& rows) {
  const DenseMatrix S = test::strong_entries(A, threshold, row_sum);
  const GlobalIndex n = A.rows();
  LumpedByHypre result{DenseMatrix(n, n)};
  DenseMatrix& left = result.left;
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (A(i, j) == 0) continue;
      if (kept(i, j) != 0) {
        left(i, j) += A(i, j);
        continue;
      }
      double sum = 0;
      for (GlobalIndex k = 0; k < n; ++k) sum += takes(kept, rows, i, k) ? S(j, k) : 0;
      if (sum == 0) {
        ++result.n_halved;
        left(i, j) += A(i, j) / 2;
        left(j, i) += A(i, j) / 2;
      }
      for (GlobalIndex k = 0; k < n; ++k) {
        if (S(j, k) == 0 || !takes(kept, rows, i, k)) continue;
        const double half = S(j, k) / sum * A(i, j) / 2;
        left(i, k) += half;
        left(i, i) += half;
        left(k, i) += half;
        left(k, k) -= half;
      }
    }
  }
  return result;
}

/// Values that are not symmetric in a pattern that is.
DenseMatrix skewed(DenseMatrix A, std::uint64_t seed) {
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      if (i != j) A(i, j) *= 0.5 + hash_uniform(static_cast<std::uint64_t>(i * A.cols() + j), seed);
    }
  }
  return A;
}

/// How often something was seen, so that a test says nothing about cases that it has not.
struct Seen {
  int sparser = 0, halved = 0;
};

template <class T>
void expect_as_hypre(const Layout& rows, DenseMatrix A, std::uint64_t seed, Seen& seen) {
  if (std::is_same_v<T, float>) {
    A = A.map<double>([](double value) { return static_cast<double>(static_cast<float>(value)); });
  }
  const DenseMatrix M = test::random_dominant(rows.n_global(), 0.1, seed + 9, false);
  const auto dist = test::shared(test::distribute<T>(A, rows));
  const auto alone =
      test::shared(test::distribute<T>(A, Layout::uniform(test::self_comm(), rows.n_global())));
  for (const double gamma : {0.05, 0.3, 1.0}) {
    SCOPED_TRACE(testing::Message() << "tolerance " << gamma << ", seed " << seed);
    const LumpedByHypre expected = lumped_by_hypre(A, kept_by_hypre(A, M, gamma), rows);
    auto rules = rules_of<T>("hypre", gamma);
    const auto sparse = test::sparsified(dist, M, rules);
    ASSERT_EQ(sparse.has_value(), pattern_of(expected.left) != pattern_of(A));
    if (!sparse) continue;
    ++seen.sparser;
    seen.halved += expected.n_halved;
    const double rounding = std::is_same_v<T, float> ? 1e-4 : 1e-12;
    EXPECT_LE(test::difference(gathered(*sparse->A), expected.left), rounding);
    EXPECT_EQ(pattern_of(gathered(*sparse->A)), pattern_of(expected.left));
    test::expect_promises(dist, *sparse, rules);
    rules.places = {
        .starts = rows.starts(), .topology = &test_comm()->topology(), .is_virtual = true};
    const auto of_virtual_ranks = test::sparsified(alone, M, rules);
    ASSERT_TRUE(of_virtual_ranks);
    EXPECT_LE(test::difference(gathered(*of_virtual_ranks->A), gathered(*sparse->A)), rounding);
  }
}

TEST(HypreLumping, LeavesWhatAPlainVersionDoes) {
  Seen seen;
  for (const Layout& rows : test::layouts_of(test_comm(), 26)) {
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      const DenseMatrix A = test::random_dominant(26, seed == 3 ? 0.2 : 0.4, seed, seed % 2 == 0);
      expect_as_hypre<double>(rows, A, seed, seen);
      if (seed < 3) expect_as_hypre<double>(rows, skewed(A, seed), seed, seen);
      if (seed == 4) expect_as_hypre<float>(rows, A, seed, seen);
    }
  }
  EXPECT_GT(seen.sparser, 10);
  EXPECT_GT(seen.halved, 10);
}

TEST(HypreLumping, DependsOnRanksByTheDiagonalsThatTake) {
  const GlobalIndex n = 26;
  const DenseMatrix A = test::random_dominant(n, 0.4, 1, false);
  const DenseMatrix M = test::random_dominant(n, 0.1, 10, false);
  const Layout one = Layout::uniform(test::self_comm(), n);
  const Dense<int> kept = kept_by_hypre(A, M, 0.3);
  const auto of = [&](std::vector<GlobalIndex> starts) {
    auto rules = rules_of<double>("hypre", 0.3);
    const mpi::Topology topology(std::vector<int>(starts.size() - 1, 0));
    rules.places = {.starts = starts, .topology = &topology, .is_virtual = true};
    return gathered(*test::sparsified(test::shared(test::distribute(A, one)), M, rules)->A);
  };
  const DenseMatrix whole = of({0, n}), halves = of({0, n / 2, n});
  EXPECT_LE(test::difference(whole, lumped_by_hypre(A, kept, one).left), 1e-12);
  EXPECT_GT(test::difference(whole, halves), 1e-3);
}

/// Two values of one pattern.
template <class F>
void with_new_values(const F& f) {
  for (const Layout& rows : test::layouts_of(test_comm(), 26)) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const DenseMatrix A = test::random_dominant(26, 0.3, seed, true);
      DenseMatrix B = A;
      for (GlobalIndex i = 0; i < 26; ++i) {
        for (GlobalIndex j = 0; j < i; ++j) {
          const auto draw = static_cast<std::uint64_t>(i * 26 + j);
          B(i, j) = B(j, i) = A(i, j) * (0.1 + 3 * hash_uniform(draw, seed));
        }
      }
      f(rows, A, B, seed);
    }
  }
}

// Strong neighbours change with the values, and with them what has nowhere to go.
TEST(HypreLumping, TheSameEntriesGoOfNewValues) {
  with_new_values([](const Layout& rows, const DenseMatrix& A, const DenseMatrix& B, auto seed) {
    const DenseMatrix M = test::random_dominant(26, 0.1, seed + 9, false);
    const auto first = test::shared(test::distribute(A, rows));
    const auto second = test::shared(test::distribute(B, rows));
    for (const char* lumping : {"strong", "hypre"}) {
      SCOPED_TRACE(testing::Message() << lumping << ", seed " << seed);
      const auto rules = rules_of<double>(lumping, 0.4);
      const auto before = test::sparsified(first, M, rules);
      if (!before) continue;
      const auto after = sparsify::sparsify_alike(second, *before, rules);
      EXPECT_EQ(after.A->nnz_global(), before->A->nnz_global());
      const DenseMatrix left = gathered(*after.A);
      EXPECT_EQ(left, left.transpose());
      for (GlobalIndex i = 0; i < 26; ++i) {
        double sum = 0, expected = 0;
        for (GlobalIndex j = 0; j < 26; ++j) {
          sum += left(i, j);
          expected += B(i, j);
        }
        if (lumping == std::string("strong")) {
          EXPECT_NEAR(sum, expected, 1e-12);
        }
      }
      const auto again = sparsify::sparsify_alike(first, after, rules);
      test::expect_same_bits(*again.A, *before->A);
    }
  });
}

TEST(HypreLumping, HierarchiesOfVirtualRanksHaveTheEntriesOfRealOnes) {
  Options options;
  options.max_coarse_rows = 4;
  options.set("coarsening", "pmis");
  options.set("smoother", "l1_jacobi");
  options.set("sparsification", "non_galerkin");
  options.set("lumping", "hypre");
  options.set("drop_tolerance", "0.3");
  const auto make = [](auto comm) {
    return test::shared(io::generate<double>(comm, {.problem = "rotated_fe", .n = 30}));
  };
  const auto A = make(test_comm());
  const Hierarchy<double> real(A, options);
  ProblemInfo<double> ranks;
  ranks.virtual_starts.assign(A->rows().starts().begin(), A->rows().starts().end());
  ranks.virtual_topology = std::make_shared<const mpi::Topology>(A->comm().topology());
  const Hierarchy<double> virtually(make(test::self_comm()), options, ranks);
  ASSERT_EQ(real.levels().size(), virtually.levels().size());
  int n_sparser = 0;
  for (std::size_t l = 0; l < real.levels().size(); ++l) {
    EXPECT_EQ(real.levels()[l].nonzeros, virtually.levels()[l].nonzeros);
    EXPECT_LE(test::difference(gathered(*real.matrix(l)), gathered(*virtually.matrix(l))), 1e-8);
    n_sparser += real.levels()[l].sparsity ? 1 : 0;
  }
  EXPECT_GE(n_sparser, 2);
}

}  // namespace amg_sparsify_hypre_test
}  // namespace nodewise::amg
