// Extended+i interpolation against its formula written down for dense matrices.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/amg/interpolate/truncate.hpp"

#include "amg_support.hpp"

namespace nodewise::amg::interpolate {
namespace amg_interpolate_test {

using coarsen::coarse;
using coarsen::fine;
using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered;
using test::layouts_of;
using test::test_comm;

constexpr double threshold = 0.25;
constexpr double tolerance = 1e-12;

using States = std::vector<int>;

/// De Sterck, Falgout, Nolting, Yang 2008, eq. 4.10 and 4.11, entry by entry.
class Reference {
 public:
  Reference(const DenseMatrix& A, const States& states)
      : A_(A), states_(states), strong_(test::reference_strength(A, threshold, 1.0)) {}

  DenseMatrix build() const {
    const GlobalIndex n = A_.rows();
    DenseMatrix P(n, std::count(states_.begin(), states_.end(), coarse));
    for (GlobalIndex i = 0; i < n; ++i) {
      GlobalIndex c = 0;
      for (GlobalIndex j = 0; j < n; ++j) {
        if (!is_coarse(j)) continue;
        P(i, c++) = is_coarse(i) ? (i == j ? 1.0 : 0.0) : weight(i, j);
      }
    }
    return P;
  }

 private:
  bool is_coarse(GlobalIndex i) const { return states_[static_cast<std::size_t>(i)] == coarse; }
  bool strong(GlobalIndex i, GlobalIndex j) const { return strong_(i, j) == 1; }

  /// Whether k is a fine point that depends on none: couplings to it are dropped.
  bool isolated(GlobalIndex k) const {
    bool any = is_coarse(k);
    for (GlobalIndex l = 0; l < A_.cols(); ++l) any = any || strong(k, l);
    return !any;
  }

  /// Whether j is in the interpolatory set of i.
  bool interpolates(GlobalIndex i, GlobalIndex j) const {
    if (!is_coarse(j)) return false;
    if (strong(i, j)) return true;
    for (GlobalIndex k = 0; k < A_.rows(); ++k) {
      if (strong(i, k) && !is_coarse(k) && strong(k, j)) return true;
    }
    return false;
  }
  /// a_kl where its sign is opposite to that of a_kk.
  double bar(GlobalIndex k, GlobalIndex l) const {
    return (A_(k, k) < 0) == (A_(k, l) < 0) ? 0.0 : A_(k, l);
  }
  double share(GlobalIndex i, GlobalIndex k) const {
    double sum = bar(k, i);
    for (GlobalIndex l = 0; l < A_.cols(); ++l) {
      if (interpolates(i, l)) sum += bar(k, l);
    }
    return sum;
  }
  double diagonal(GlobalIndex i) const {
    double d = A_(i, i);
    for (GlobalIndex k = 0; k < A_.cols(); ++k) {
      if (k == i || A_(i, k) == 0 || isolated(k)) continue;
      if (strong(i, k) && !is_coarse(k)) {
        // With nothing to share it out to, the coupling goes to the diagonal as a weak one does.
        d += share(i, k) == 0 ? A_(i, k) : A_(i, k) * bar(k, i) / share(i, k);
      } else if (!interpolates(i, k)) {
        d += A_(i, k);
      }
    }
    return d;
  }
  double weight(GlobalIndex i, GlobalIndex j) const {
    if (!interpolates(i, j)) return 0;
    double w = A_(i, j);
    for (GlobalIndex k = 0; k < A_.cols(); ++k) {
      if (k == i || !strong(i, k) || is_coarse(k) || isolated(k)) continue;
      if (share(i, k) == 0) continue;
      w += A_(i, k) * bar(k, j) / share(i, k);
    }
    return -w / diagonal(i);
  }

  const DenseMatrix& A_;
  const States& states_;
  Dense<int> strong_;
};

States pmis_of(const DenseMatrix& values) {
  const auto A = test::serial(values);
  return test::gathered_splitting(A.comm(),
                                  coarsen::pmis(A, strength_of_connection(A, threshold, 1.0), 0));
}

States random_states(GlobalIndex n, std::uint64_t seed) {
  States states;
  for (GlobalIndex i = 0; i < n; ++i) {
    states.push_back(hash_uniform(static_cast<std::uint64_t>(i), seed) < 0.3 ? coarse : fine);
  }
  return states;
}

States all_of(GlobalIndex n, int state) {
  return States(static_cast<std::size_t>(n), state);
}

template <class T = double>
matrix::DistMatrix<T> run(const DenseMatrix& values, const matrix::Layout& layout,
                          const States& states, int max_entries = 0, double truncation = 0) {
  const auto A = distribute<T>(values, layout);
  const coarsen::Splitting splitting = test::splitting_part(layout, states);
  return extended_i(A, strength_of_connection(A, threshold, 1.0), splitting,
                    coarsen::coarse_layout(layout, splitting), {max_entries, truncation});
}

/// Collective. Expects the weights of the reference on all layouts.
void expect_reference(const DenseMatrix& values, const States& states, const std::string& what) {
  const DenseMatrix expected = Reference(values, states).build();
  for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), first)) {
      const auto P = run(values, layout, states);
      test::expect_invariants(P);
      EXPECT_EQ(P.cols().first(), 0);
      EXPECT_EQ(P.cols().n_global(), expected.cols()) << what;
      test::expect_near(gathered(P), expected, tolerance, what);
    }
  }
}

TEST(ExtendedI, EqualsTheFormulaWithPmisPoints) {
  for (const auto& [name, values] : test::level_matrices()) {
    expect_reference(values, pmis_of(values), name);
  }
}

TEST(ExtendedI, EqualsTheFormulaWithAnyPoints) {
  for (const auto& [name, values] : test::level_matrices()) {
    for (const std::uint64_t seed : {1, 2}) {
      expect_reference(values, random_states(values.rows(), seed), name);
    }
  }
}

TEST(ExtendedI, OfAllCoarsePointsIsTheIdentity) {
  for (const auto& [name, values] : test::level_matrices()) {
    const DenseMatrix P = Reference(values, all_of(values.rows(), coarse)).build();
    for (GlobalIndex i = 0; i < P.rows(); ++i) EXPECT_EQ(P(i, i), 1.0);
    EXPECT_EQ(P.sum(), static_cast<double>(P.rows()));
    expect_reference(values, all_of(values.rows(), coarse), name);
  }
}

TEST(ExtendedI, OfNoCoarsePointsHasNoColumns) {
  const DenseMatrix values = test::model("laplace5", 5);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto P = run(values, layout, all_of(values.rows(), fine), 4);
    test::expect_invariants(P);
    EXPECT_EQ(P.cols().n_global(), 0);
    EXPECT_EQ(P.nnz_global(), 0);
    EXPECT_EQ(P.rows().n_global(), values.rows());
  }
}

TEST(ExtendedI, RowsWithoutStrongNeighboursAreEmpty) {
  const auto third = [](GlobalIndex i) { return i % 3 == 1; };
  const DenseMatrix values = test::with_isolated(test::model("laplace5", 6), third);
  const States states = pmis_of(values);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto P = run(values, layout, states, 4);
    for (LocalIndex i = 0; i < P.n_local(); ++i) {
      const GlobalIndex row = layout.to_global(i);
      if (!third(row)) continue;
      EXPECT_EQ(states[static_cast<std::size_t>(row)], fine);
      EXPECT_EQ(P.on().begin(i), P.on().end(i)) << row;
      EXPECT_EQ(P.off().begin(i), P.off().end(i)) << row;
    }
  }
}

// One row a rank: all neighbours are on other ranks.
TEST(ExtendedI, NeighboursMayAllBeOnOtherRanks) {
  const GlobalIndex n = test_comm()->size();
  const DenseMatrix values = test::random_symmetric(n, 1.0, 0.0, 5);
  expect_reference(values, random_states(n, 4), "one row a rank");
  DenseMatrix chain(n, n);
  States every_third;
  for (GlobalIndex i = 0; i < n; ++i) {
    chain(i, i) = 2;
    if (i > 0) chain(i, i - 1) = chain(i - 1, i) = -1;
    every_third.push_back(i % 3 == 0 ? coarse : fine);
  }
  expect_reference(chain, every_third, "chain");
}

TEST(ExtendedI, ReproducesConstantsWhereRowsSumToZero) {
  DenseMatrix values = test::random_matrix(50, 0.15, 0.0, 8);
  for (GlobalIndex i = 0; i < values.rows(); ++i) values(i, i) -= 0.01;  // now the sums are zero
  const States states = pmis_of(values);
  for (const int max_entries : {0, 4, 2, 1}) {
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const DenseMatrix P = gathered(run(values, layout, states, max_entries));
      const DenseMatrix reference = Reference(values, states).build();
      for (GlobalIndex i = 0; i < P.rows(); ++i) {
        double sum = 0;
        double expected = 0;
        for (GlobalIndex c = 0; c < P.cols(); ++c) {
          sum += P(i, c);
          expected += reference(i, c) != 0 ? 1 : 0;
        }
        if (expected == 0) continue;  // nothing to interpolate from
        EXPECT_NEAR(sum, 1.0, 1e-12) << "row " << i << ", at most " << max_entries;
      }
    }
  }
}

/// Expects row i of `truncated` to hold the largest of the full row's weights, scaled to its sum.
void expect_truncated_row(const DenseMatrix& truncated, const DenseMatrix& full, GlobalIndex i,
                          std::int64_t expected_entries) {
  double sum = 0, full_sum = 0, kept_sum = 0;
  double smallest_kept = 1e300, largest_dropped = 0;
  std::int64_t entries = 0;
  for (GlobalIndex c = 0; c < full.cols(); ++c) {
    const double size = std::abs(full(i, c));
    sum += truncated(i, c);
    full_sum += full(i, c);
    if (truncated(i, c) == 0) {
      largest_dropped = std::max(largest_dropped, size);
      continue;
    }
    ++entries;
    kept_sum += full(i, c);
    smallest_kept = std::min(smallest_kept, size);
  }
  EXPECT_EQ(entries, expected_entries) << "row " << i;
  EXPECT_NEAR(sum, full_sum, 1e-12) << "row " << i;
  EXPECT_GE(smallest_kept, largest_dropped * (1 - 2e-6)) << "row " << i;  // or as good as tied
  for (GlobalIndex c = 0; c < full.cols(); ++c) {
    if (truncated(i, c) == 0) continue;
    EXPECT_NEAR(truncated(i, c), full(i, c) * full_sum / kept_sum, 1e-12) << "row " << i;
  }
}

// Of every row, so that one which follows a truncated row is seen to be as if alone.
TEST(ExtendedI, TruncationKeepsTheLargestWeightsAndTheRowSum) {
  for (const auto& [name, values] : test::level_matrices()) {
    if (name.find("positive") != std::string::npos || name == "negated rows") continue;
    SCOPED_TRACE(name);
    const States states = pmis_of(values);
    const DenseMatrix full = Reference(values, states).build();
    for (const std::int64_t most : {1, 2, 4}) {
      for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
        const auto P = run(values, layout, states, static_cast<int>(most));
        test::expect_invariants(P);
        const DenseMatrix got = gathered(P);
        for (GlobalIndex i = 0; i < full.rows(); ++i) {
          std::int64_t entries = 0;
          for (GlobalIndex c = 0; c < full.cols(); ++c) entries += full(i, c) != 0 ? 1 : 0;
          expect_truncated_row(got, full, i, std::min(entries, most));
        }
      }
    }
  }
}

TEST(ExtendedI, SmallWeightsAreDropped) {
  constexpr double truncation = 0.3;
  const DenseMatrix values = test::random_matrix(40, 0.15, 0.0, 6);
  const States states = pmis_of(values);
  const DenseMatrix full = Reference(values, states).build();
  std::int64_t dropped = 0;
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const DenseMatrix got = gathered(run(values, layout, states, 0, truncation));
    for (GlobalIndex i = 0; i < full.rows(); ++i) {
      double largest = 0;
      for (GlobalIndex c = 0; c < full.cols(); ++c) {
        largest = std::max(largest, std::abs(full(i, c)));
      }
      std::int64_t expected = 0;
      for (GlobalIndex c = 0; c < full.cols(); ++c) {
        const bool keep = full(i, c) != 0 && std::abs(full(i, c)) >= truncation * largest;
        expected += keep ? 1 : 0;
        dropped += full(i, c) != 0 && !keep ? 1 : 0;
      }
      expect_truncated_row(got, full, i, expected);
    }
  }
  EXPECT_GT(dropped, 0);
}

TEST(ExtendedI, FloatAgreesToItsPrecision) {
  const DenseMatrix values = test::model("rotated_fe", 7);
  const States states = pmis_of(values);
  const auto P = run<float>(values, matrix::Layout::uniform(test_comm(), values.rows()), states);
  test::expect_near(gathered(P), Reference(values, states).build(), 1e-5, "float");
}

struct Row {
  std::vector<LocalIndex> cols;
  std::vector<double> vals;
};

Row truncated(std::vector<double> vals, int max_entries, double truncation) {
  Row row{std::vector<LocalIndex>(vals.size()), std::move(vals)};
  std::iota(row.cols.begin(), row.cols.end(), 10);
  const auto kept = static_cast<std::size_t>(truncate_row(row.cols.data(), row.vals.data(),
                                                          static_cast<Offset>(row.vals.size()),
                                                          max_entries, truncation));
  row.cols.resize(kept);
  row.vals.resize(kept);
  return row;
}

TEST(TruncateRow, KeepsTheLargestByModulus) {
  const Row row = truncated({0.25, -0.5, 0.125, 1.0}, 2, 0.0);
  EXPECT_EQ(row.cols, (std::vector<LocalIndex>{13, 11}));
  // The row's sum is 0.875, that of the two largest 0.5.
  EXPECT_EQ(row.vals, (std::vector<double>{1.75, -0.875}));
}

TEST(TruncateRow, KeepsTiesFromBothEndsInTurn) {
  EXPECT_EQ(truncated({0.25, 0.5, 0.5, 0.25, 0.5}, 2, 0.0).cols, (std::vector<LocalIndex>{11, 14}));
  EXPECT_EQ(truncated(std::vector<double>(8, 0.125), 4, 0.0).cols,
            (std::vector<LocalIndex>{10, 17, 11, 16}));
}

TEST(TruncateRow, TakesWhatDiffersByRoundingForTied) {
  const double less = 0.25 * (1 - 1e-15), more = 0.25 * (1 + 1e-15);
  EXPECT_EQ(truncated({less, -0.25, more, -less, 0.25, -more}, 4, 0.0).cols,
            (std::vector<LocalIndex>{10, 15, 11, 14}));
  EXPECT_EQ(truncated({0.25, 0.25, 0.25 * (1 + 1e-5)}, 2, 0.0).cols,
            (std::vector<LocalIndex>{12, 11}));
}

TEST(TruncateRow, LeavesAShortRowAlone) {
  const Row row = truncated({0.1, 0.7, 0.3}, 3, 0.0);
  EXPECT_EQ(row.cols, (std::vector<LocalIndex>{10, 11, 12}));
  EXPECT_EQ(row.vals, (std::vector<double>{0.1, 0.7, 0.3}));
  EXPECT_EQ(truncated({0.1, 0.7, 0.3}, 0, 0.0).vals.size(), 3U);
  EXPECT_TRUE(truncated({}, 4, 0.5).vals.empty());
}

TEST(TruncateRow, DropsBelowTheFractionAndKeepsWhatEqualsIt) {
  const Row row = truncated({0.25, 1.0, 0.5, -0.375}, 0, 0.375);
  EXPECT_EQ(row.cols, (std::vector<LocalIndex>{11, 12, 13}));
}

// 1 - 1 cannot be scaled to the sum 0.5 that the row had.
TEST(TruncateRow, DoesNotScaleWhatCancelsOut) {
  const Row row = truncated({1.0, -1.0, 0.5}, 2, 0.0);
  EXPECT_EQ(row.vals, (std::vector<double>{1.0, -1.0}));
}

}  // namespace amg_interpolate_test
}  // namespace nodewise::amg::interpolate
