// Systems whose rows are permuted or scaled for the preconditioner: the matching, the factors, and
// solves of the system as given.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solver/matching.hpp"
#include "nodewise/solver/rearrangement.hpp"
#include "nodewise/solver/solver.hpp"

#include "collective_error.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solver_rearrangement_test {

using matrix::DistMatrix;
using solver::Matching;
using solver::Rearrangement;
using testing::HasSubstr;
using MatrixPointer = std::shared_ptr<const DistMatrix<double>>;

MatrixPointer matrix_of(const comm::Layout& layout, const Entry& entry) {
  return std::make_shared<const DistMatrix<double>>(make_operator<double>(layout, entry).matrix());
}

/// An entry of a random sparse matrix whose moduli go over many powers of ten.
double wild(GlobalIndex i, GlobalIndex j, std::uint64_t seed, double density) {
  const auto key = static_cast<std::uint64_t>(i * 1000 + j);
  if (hash_uniform(key, seed) > density) return 0;
  const double size = std::pow(10.0, 12 * hash_uniform(key, seed + 1) - 6);
  return hash_uniform(key, seed + 2) < 0.5 ? -size : size;
}

kernels::Csr<double> dense_rows(int n, const Entry& entry) {
  kernels::Csr<double> A;
  A.n_rows = A.n_cols = n;
  A.row_ptr.resize(static_cast<std::size_t>(n) + 1);
  for (LocalIndex i = 0; i < n; ++i) {
    for (LocalIndex j = 0; j < n; ++j) {
      if (entry(i, j) == 0) continue;
      A.cols.push_back(j);
      A.vals.push_back(entry(i, j));
    }
    A.row_ptr[static_cast<std::size_t>(i) + 1] = static_cast<Offset>(A.cols.size());
  }
  return A;
}

/// The largest number of entries on a diagonal and, of those choices, the largest sum of their
/// logarithms: all orders tried.
std::pair<int, double> best_diagonal(int n, const Entry& entry) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::pair<int, double> best = {-1, 0};
  do {
    std::pair<int, double> found = {0, 0};
    for (int i = 0; i < n; ++i) {
      const double a = entry(i, order[static_cast<std::size_t>(i)]);
      if (a == 0) continue;
      found.first += 1;
      found.second += std::log2(std::abs(a));
    }
    best = std::max(best, found);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Matching, HasTheLargestProductOfAllOrders) {
  int whole = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const int n = 3 + static_cast<int>(seed % 5);
    const Entry entry = [&](GlobalIndex i, GlobalIndex j) { return wild(i, j, 10 * seed, 0.5); };
    const kernels::Csr<double> A = dense_rows(n, entry);
    const Matching matching = solver::match_rows(A);
    const auto best = best_diagonal(n, entry);
    EXPECT_EQ(matching.size, best.first) << "seed " << seed;
    std::vector<int> taken(static_cast<std::size_t>(n), 0);
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      const LocalIndex j = matching.column_of_row[static_cast<std::size_t>(i)];
      if (j < 0) continue;
      EXPECT_EQ(++taken[static_cast<std::size_t>(j)], 1);
      ASSERT_NE(entry(i, j), 0);
      sum += std::log2(std::abs(entry(i, j)));
    }
    if (best.first < n) continue;  // where it is singular any largest matching will do
    ++whole;
    EXPECT_NEAR(sum, best.second, 1e-9) << "seed " << seed;
    for (int i = 0; i < n; ++i) {
      for (Offset e = A.begin(i); e < A.end(i); ++e) {
        const auto k = static_cast<std::size_t>(e);
        const auto j = static_cast<std::size_t>(A.cols[k]);
        const double scaled =
            std::abs(std::ldexp(A.vals[k], matching.row_exponents[static_cast<std::size_t>(i)] +
                                               matching.column_exponents[j]));
        EXPECT_LE(scaled, 2 * (1 + 1e-9));
        if (matching.column_of_row[static_cast<std::size_t>(i)] == A.cols[k]) {
          EXPECT_GE(scaled, 0.5 * (1 - 1e-9));
        }
      }
    }
  }
  EXPECT_GT(whole, 20);
}

TEST(Matching, TakesStoredZerosForNoEntries) {
  kernels::Csr<double> A = dense_rows(2, [](GlobalIndex, GlobalIndex) { return 1.0; });
  A.vals[0] = 0;
  EXPECT_EQ(solver::match_rows(A).column_of_row, (std::vector<LocalIndex>{1, 0}));
  A.vals[1] = 0;
  EXPECT_EQ(solver::match_rows(A).size, 1);
}

/// A convection and diffusion whose rows are shifted by `shift` and have units over six powers.
Entry shifted(GlobalIndex n, GlobalIndex shift) {
  return [=](GlobalIndex i, GlobalIndex j) {
    const GlobalIndex row = (i + shift) % n;
    const double unit = std::pow(10.0, static_cast<double>(i % 7 - 3));
    if (row == j) return 4 * unit;
    return std::abs(row - j) == 1 ? (j < row ? -2.5 : -1) * unit : 0.0;
  };
}

/// Solves for A x = A v and compares.
void expect_solved(const MatrixPointer& A, const solver::NamedValues& wanted, int most_iterations) {
  solver::Options options;
  for (const auto& [name, value] : wanted) options.set(name, value);
  options.set("tolerance", "1e-10");
  const std::vector<double> v = hashed_vector(A->rows(), 3);
  std::vector<double> b(v.size()), x(v.size(), 0);
  matrix::multiply<double>(*A, v, b);
  Solver solver(A, options);
  const solver::SolveRecord& record = solver.solve(b, x);
  EXPECT_TRUE(record.converged()) << record.report().diagnosis;
  EXPECT_LE(record.iterations(), most_iterations);
  EXPECT_LE(record.report().true_relative_residual, 1e-10);
  // Once more for other values, from the same solver.
  Array<double> on = A->on().vals, off = A->off().vals;
  for (double& value : on) value *= 2;
  for (double& value : off) value *= 2;
  solver.rebuild(
      std::make_shared<const DistMatrix<double>>(A->with_values(std::move(on), std::move(off))));
  std::fill(x.begin(), x.end(), 0.0);
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_LE(solver.record().iterations(), most_iterations + 1);
}

TEST(Rearrangement, MatchingBringsShiftedRowsBack) {
  const comm::Layout layout = uniform(97);
  for (const GlobalIndex shift : {0, 1, 40}) {
    const MatrixPointer A = matrix_of(layout, shifted(97, shift));
    const Rearrangement way(A, "none", "matching", false);
    const Array<double> diagonal = matrix::diagonal(*way.matrix());
    for (const double d : diagonal) {
      EXPECT_GE(std::abs(d), 0.5);
      EXPECT_LE(std::abs(d), 2.0);
    }
    expect_solved(A, {{"permute_rows", "matching"}}, 12);
    expect_solved(A, {{"permute_rows", "matching"}, {"scale", "equilibrate"}}, 12);
    expect_solved(A, {{"permute_rows", "matching"}, {"preconditioner", "jacobi"}}, 75);
  }
}

TEST(Rearrangement, RefusesStructurallySingularMatrices) {
  const comm::Layout layout = uniform(40);
  const MatrixPointer A = matrix_of(layout, [](GlobalIndex i, GlobalIndex j) {
    return j == 3 || (i != 3 && i == j && i % 4 != 0) ? 1.0 : 0.0;
  });
  const std::string text = expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                             [&] { Rearrangement(A, "none", "matching", false); });
  EXPECT_THAT(text, HasSubstr("structurally singular"));
  EXPECT_THAT(text, HasSubstr("its rank is 30 rows at most, of 40"));
}

TEST(Rearrangement, RefusesWhatIsNotFinite) {
  const MatrixPointer A = matrix_of(uniform(30), [](GlobalIndex i, GlobalIndex j) {
    return i == j ? (i == 21 ? std::nan("") : 1.0) : 0.0;
  });
  EXPECT_THAT(expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                [&] { Rearrangement(A, "none", "matching", false); }),
              HasSubstr("row 21"));
  EXPECT_THAT(expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                [&] { Rearrangement(A, "equilibrate", "none", false); }),
              HasSubstr("`scale equilibrate`: row 21"));
}

TEST(Rearrangement, NamesRowsThatCannotBeScaled) {
  const auto refusal = [&](const Entry& entry, const char* scaling) {
    const MatrixPointer A = matrix_of(uniform(30), entry);
    return expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                             [&] { Rearrangement(A, scaling, "none", false); });
  };
  const auto without = [](GlobalIndex row, GlobalIndex column) {
    return [=](GlobalIndex i, GlobalIndex j) {
      if (i == row || j == column) return 0.0;
      return std::abs(i - j) <= 1 ? 1.0 : 0.0;
    };
  };
  EXPECT_THAT(refusal(without(7, -1), "diagonal"), HasSubstr("`scale diagonal`: row 7,"));
}

TEST(Rearrangement, EquilibrationLeavesEmptyRowsAlone) {
  const MatrixPointer A = matrix_of(uniform(30), [](GlobalIndex i, GlobalIndex j) {
    return i == 7 || j == 22 || std::abs(i - j) > 1 ? 0.0 : 1.0;
  });
  const MatrixPointer B = Rearrangement(A, "equilibrate", "none", false).matrix();
  for (const auto* part : {&B->on(), &B->off()}) {
    for (const double v : part->vals) EXPECT_TRUE(v > 0.1 && v < 2) << v;
  }
}

/// A Laplacian whose unknowns have units from 1 to 100, some of them negative on the diagonal.
Entry badly_scaled(int n, double sign) {
  return [=, laplace = periodic_laplace(n, 1)](GlobalIndex i, GlobalIndex j) {
    const auto unit = [](GlobalIndex k) { return std::pow(10.0, static_cast<double>(k % 3)); };
    const double value = laplace(i, j) + (i == j ? 1 : 0);
    return (i == j && i % 5 == 0 ? sign : 1) * unit(i) * unit(j) * value;
  };
}

TEST(Rearrangement, ScalingsKeepSymmetry) {
  const MatrixPointer A = matrix_of(uniform(144), badly_scaled(12, -1));
  const Array<double> before = matrix::diagonal(*A);
  const Rearrangement by_diagonal(A, "diagonal", "none", true);
  const Array<double> after = matrix::diagonal(*by_diagonal.matrix());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] < 0 ? -1 : 1, 1e-14);
  }
  EXPECT_TRUE(matrix::is_symmetric(*by_diagonal.matrix()));
  EXPECT_TRUE(matrix::is_symmetric(*Rearrangement(A, "equilibrate", "none", true).matrix()));
}

TEST(Rearrangement, EquilibratedRowsAndColumnsAddUpToAboutOne) {
  const Entry entry = [](GlobalIndex i, GlobalIndex j) {
    const double laplace = i == j ? 2.0 : std::abs(i - j) == 1 ? (i < j ? -1.0 : -0.5) : 0.0;
    return std::pow(10.0, static_cast<double>(i % 9 - 4)) *
           std::pow(10.0, static_cast<double>(j % 5 - 2)) * laplace;
  };
  const MatrixPointer A = matrix_of(uniform(80), entry);
  const MatrixPointer B = Rearrangement(A, "equilibrate", "none", false).matrix();
  Array<double> on = B->on().vals, off = B->off().vals;
  for (double& v : on) v = std::abs(v);
  for (double& v : off) v = std::abs(v);
  const DistMatrix<double> sizes = B->with_values(std::move(on), std::move(off));
  const std::vector<double> ones(static_cast<std::size_t>(B->n_local()), 1.0);
  std::vector<double> rows(ones.size()), columns(ones.size());
  matrix::multiply<double>(sizes, ones, rows);
  matrix::multiply_transposed<double>(sizes, ones, columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_GT(rows[i], 0.35);
    EXPECT_LT(rows[i], 2.5);
    EXPECT_GT(columns[i], 0.35);
    EXPECT_LT(columns[i], 2.5);
  }
}

TEST(Rearrangement, ScaledSystemsAreSolvedAsGiven) {
  const MatrixPointer A = matrix_of(uniform(144), badly_scaled(12, 1));
  for (const char* scaling : {"diagonal", "equilibrate"}) {
    expect_solved(A, {{"scale", scaling}}, 14);
    expect_solved(A, {{"scale", scaling}, {"preconditioner", "none"}, {"solver", "cg"}}, 90);
  }
}

/// By conjugate gradients with a scaled identity the iterations are those of a Jacobi
/// preconditioner, to the bit where the scaling is that of the diagonal.
TEST(Rearrangement, ADiagonalScalingAloneIsJacobi) {
  const MatrixPointer A = matrix_of(uniform(144), badly_scaled(12, 1));
  const std::vector<double> b = hashed_vector(A->rows(), 5);
  const auto history = [&](const solver::NamedValues& wanted) {
    solver::Options options;
    for (const auto& [name, value] : wanted) options.set(name, value);
    std::vector<double> x(b.size(), 0);
    return Solver(A, options).solve(b, x).report().history;
  };
  const auto scaled = history({{"scale", "diagonal"}, {"preconditioner", "none"}});
  const auto jacobi = history({{"preconditioner", "jacobi"}});
  ASSERT_EQ(scaled.size(), jacobi.size());
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    EXPECT_NEAR(scaled[i], jacobi[i], 1e-9 * jacobi[i] + 1e-12);
  }
}

TEST(Rearrangement, MakesConjugateGradientsRefuseAnOrder) {
  const MatrixPointer A = matrix_of(uniform(100), badly_scaled(10, 1));
  solver::Options options;
  options.set("permute_rows", "matching");
  options.set("solver", "cg");
  EXPECT_THAT(
      expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] { Solver(A, options); }),
      HasSubstr("`permute_rows matching`"));
}

}  // namespace solver_rearrangement_test
}  // namespace nodewise::test
