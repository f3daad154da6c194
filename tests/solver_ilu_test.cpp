// Incomplete factors: exact where nothing is dropped, as the textbook's where something is, with
// and without overlap, by blocks, and of matrices that have none.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/matrix/block_matrix.hpp"
#include "nodewise/solver/ilu.hpp"
#include "nodewise/solver/solver.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "solve_support.hpp"
#include "threads_support.hpp"

namespace nodewise::test {
namespace solver_ilu_test {

using testing::HasSubstr;
using Matrix = matrix::DistMatrix<double>;
using MatrixPointer = std::shared_ptr<const Matrix>;

constexpr int all_levels = 1000;

MatrixPointer matrix_on(const comm::Layout& layout, const Entry& entry) {
  const GlobalIndex first = layout.first();
  return std::make_shared<const Matrix>(
      matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, const auto& emit) {
        for (GlobalIndex j = 0; j < layout.n_global(); ++j) {
          const double value = entry(i - first, j);
          if (value != 0) emit(first + j, value);
        }
      }));
}

/// A grid of m columns with a flow across, and equations of very different units.
Entry flow(GlobalIndex m, double unit = 1) {
  return [m, unit](GlobalIndex i, GlobalIndex j) {
    const double scale = i % 3 == 0 ? unit : 1;
    if (i == j) return 4.2 * scale;
    if (std::abs(i - j) == m) return i > j ? -1.7 * scale : -0.3 * scale;
    const bool same_line = i / m == j / m;
    return same_line && std::abs(i - j) == 1 ? (i > j ? -1.4 : -0.6) * scale : 0.0;
  };
}

/// M b, on every rank.
Eigen::VectorXd applied(const solver::IncompleteLu& M, const std::vector<double>& b) {
  std::vector<double> y(b.size());
  M.apply(b, y);
  return whole(y);
}

/// For each rank the dense solution with its rows and those within `layers` couplings, of which it
/// keeps its own.
Eigen::VectorXd restricted_schwarz(const comm::Layout& layout, const Entry& entry, int layers,
                                   const Eigen::VectorXd& b) {
  const GlobalIndex n = layout.n_global();
  Eigen::VectorXd y(n);
  for (int rank = 0; rank < layout.comm().size(); ++rank) {
    const GlobalIndex begin = layout.begin(rank) - layout.first();
    const GlobalIndex end = layout.end(rank) - layout.first();
    std::vector<char> in(static_cast<std::size_t>(n), 0);
    for (GlobalIndex i = begin; i < end; ++i) in[static_cast<std::size_t>(i)] = 1;
    for (int layer = 0; layer < layers; ++layer) {
      const std::vector<char> before = in;
      for (GlobalIndex i = 0; i < n; ++i) {
        for (GlobalIndex j = 0; j < n; ++j) {
          if (before[static_cast<std::size_t>(i)] && entry(i, j) != 0) {
            in[static_cast<std::size_t>(j)] = 1;
          }
        }
      }
    }
    std::vector<GlobalIndex> rows;
    for (GlobalIndex i = 0; i < n; ++i) {
      if (in[static_cast<std::size_t>(i)]) rows.push_back(i);
    }
    const auto size = static_cast<Eigen::Index>(rows.size());
    const auto at = [&](Eigen::Index k) { return rows[static_cast<std::size_t>(k)]; };
    const Eigen::MatrixXd part = Eigen::MatrixXd::NullaryExpr(
        size, size, [&](auto i, auto j) { return entry(at(i), at(j)); });
    const Eigen::VectorXd right =
        Eigen::VectorXd::NullaryExpr(size, [&](auto k) { return b[at(k)]; });
    const Eigen::VectorXd solution = part.partialPivLu().solve(right);
    for (Eigen::Index k = 0; k < size; ++k) {
      if (at(k) >= begin && at(k) < end) y[at(k)] = solution[k];
    }
  }
  return y;
}

TEST(Ilu, WithAllFillIsRestrictedSchwarzOnAnyLayout) {
  for (const comm::Layout& layout : layouts_of(test_comm(), 42, 7)) {
    const std::vector<double> b = hashed_vector(layout, 3);
    for (const Entry& entry : {flow(6), flow(6, 1e9), flow(7, 1e-30)}) {
      const auto A = matrix_on(layout, entry);
      for (const int layers : {0, 1, 3}) {
        const Eigen::VectorXd y = restricted_schwarz(layout, entry, layers, whole(b));
        const auto by_levels =
            solver::incomplete_lu(A, {.ilu_levels = all_levels, .ilu_overlap = layers});
        const auto by_size =
            solver::incomplete_lu(A, {.ilu_drop = 1e-16, .ilu_fill = 1000, .ilu_overlap = layers});
        for (const auto* M : {by_levels.get(), by_size.get()}) {
          const Eigen::VectorXd found = applied(*M, b);
          for (Eigen::Index i = 0; i < y.size(); ++i) {
            EXPECT_NEAR(found[i], y[i], 1e-11 * y.lpNorm<Eigen::Infinity>()) << M->text();
          }
        }
      }
    }
  }
}

// All rows are around each rank's: the factors are those of the matrix.
TEST(Ilu, WithOverlapOfAllRowsIsTheInverse) {
  const comm::Layout layout = uniform(23);
  const auto A = matrix_on(layout, laplace);
  const auto M = solver::incomplete_lu(A, {.ilu_levels = 0, .ilu_overlap = 23});
  const std::vector<double> x = hashed_vector(layout, 5);
  std::vector<double> b(x.size());
  solve::MatrixOperator<double>(A).apply(x, b);
  EXPECT_LE((applied(*M, b) - whole(x)).norm(), 1e-10);
}

/// ILU(0) of the rows begin .. end, in an order whose couplings are those of a path: no fill is
/// left out there but for what the ends bring.
TEST(Ilu, OfNoLevelsKeepsThePatternAndMatchesTheMatrixThere) {
  if (test_comm()->size() > 1) GTEST_SKIP() << "NOT TESTED: one rank is enough";
  const GlobalIndex n = 30;
  const comm::Layout layout = uniform(n);
  const Entry entry = flow(5);
  const auto M = solver::incomplete_lu(matrix_on(layout, entry), {.ilu_levels = 0});
  // Column by column, M is the inverse of a matrix that agrees with A in A's places.
  Eigen::MatrixXd inverse(n, n);
  for (GlobalIndex j = 0; j < n; ++j) {
    inverse.col(j) =
        applied(*M, make_vector(layout, [&](GlobalIndex i) { return double(i == j); }));
  }
  const Eigen::MatrixXd LU = inverse.inverse();
  double elsewhere = 0;
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (entry(i, j) != 0) {
        EXPECT_NEAR(LU(i, j), entry(i, j), 1e-10) << i << ", " << j;
      } else {
        elsewhere = std::max(elsewhere, std::abs(LU(i, j)));
      }
    }
  }
  EXPECT_GT(elsewhere, 1e-3);
  EXPECT_THAT(M->text(), HasSubstr("ILU(0)"));
  EXPECT_THAT(M->text(), HasSubstr("1.0 times"));
}

/// Points of two unknowns, coupled within a point more than to others.
Entry points_of_two(GlobalIndex m) {
  return [m](GlobalIndex i, GlobalIndex j) {
    const double coupling = flow(m)(i / 2, j / 2);
    if (coupling == 0) return 0.0;
    return coupling * (i % 2 == j % 2 ? 1.0 : 0.3) + (i / 2 == j / 2 && i > j ? 5.0 : 0.0);
  };
}

TEST(Ilu, InBlocksTreatsPointsAsOne) {
  for (const GlobalIndex m : {GlobalIndex{4}, GlobalIndex{5}}) {
    // Whole points on each rank, the last of which may have none.
    std::vector<GlobalIndex> starts = {0};
    const int ranks = test_comm()->size();
    for (int r = 1; r <= ranks; ++r) starts.push_back(r + 1 >= ranks ? 40 : 40 / ranks / 2 * 2 * r);
    const comm::Layout layout(test_comm(), starts);
    const Entry entry = points_of_two(m);
    const auto A = std::make_shared<const Matrix>(matrix_on(layout, entry)->with_blocks(2));
    const std::vector<double> b = hashed_vector(layout, 4);
    const auto exact = solver::incomplete_lu(A, {.ilu_levels = all_levels, .ilu_overlap = 1});
    EXPECT_THAT(exact->text(), HasSubstr("blocks of 2"));
    const Eigen::VectorXd y = restricted_schwarz(layout, entry, 1, whole(b));
    EXPECT_LE((applied(*exact, b) - y).norm(), 1e-11 * y.norm());
    const auto by_size = solver::incomplete_lu(A, {.ilu_drop = 1e-16, .ilu_fill = 1000});
    EXPECT_LE((applied(*by_size, b) - y).norm(), 1e-11 * y.norm());
  }
}

// Diagonal blocks that are singular, and diagonals that are not there at all.
TEST(Ilu, IsFiniteForSingularPivots) {
  const comm::Layout layout = uniform(24);
  const Entry ones = [](GlobalIndex i, GlobalIndex j) {
    return i / 2 == j / 2 ? 1.0 : std::abs(i / 2 - j / 2) == 1 ? 0.5 : 0.0;
  };
  const Entry shift = [](GlobalIndex i, GlobalIndex j) { return j == (i + 1) % 24 ? 2.0 : 0.0; };
  const Entry empty_row = [](GlobalIndex i, GlobalIndex j) { return i == 7 ? 0 : laplace(i, j); };
  const Entry huge = [](GlobalIndex i, GlobalIndex j) {
    return i == j ? (i % 2 == 0 ? 1e-290 : 1e290) : std::abs(i - j) == 1 ? 1e300 : 0.0;
  };
  const std::vector<double> b = hashed_vector(layout, 8);
  for (const Entry& entry : {ones, shift, empty_row, huge}) {
    const auto A = matrix_on(layout, entry);
    const bool in_points = 24 % (2 * test_comm()->size()) == 0;
    const auto blocks = in_points ? std::make_shared<const Matrix>(A->with_blocks(2)) : A;
    for (const auto& options :
         {solver::IluOptions{.ilu_levels = 2}, solver::IluOptions{.ilu_drop = 1e-3}}) {
      for (const auto& each : {A, blocks}) {
        const auto M = solver::incomplete_lu(each, options);
        const Eigen::VectorXd y = applied(*M, b);
        EXPECT_TRUE(y.allFinite()) << M->text();
      }
    }
  }
  const auto M = solver::incomplete_lu(matrix_on(layout, shift), {.ilu_overlap = 0});
  EXPECT_THAT(M->text(), HasSubstr("small pivot"));
}

TEST(Ilu, SharesTheExchangeOfSeveralVectors) {
  for (const comm::Layout& layout : layouts_of(test_comm(), 31, 0)) {
    const auto M = solver::incomplete_lu(matrix_on(layout, flow(6)), {});
    constexpr int width = 7;
    const auto n = static_cast<std::size_t>(layout.n_local());
    std::vector<double> B(n * width), X(n * width), b(n), x(n);
    for (int c = 0; c < width; ++c) {
      const std::vector<double> column = hashed_vector(layout, static_cast<std::uint64_t>(c));
      for (std::size_t i = 0; i < n; ++i) B[i * width + static_cast<std::size_t>(c)] = column[i];
    }
    M->apply_block(B, X, width, {});
    for (int c = 0; c < width; ++c) {
      M->apply(hashed_vector(layout, static_cast<std::uint64_t>(c)), x);
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(X[i * width + static_cast<std::size_t>(c)], x[i], 1e-13);
      }
    }
  }
}

TEST(Ilu, IsTheSameOnAnyNumberOfThreads) {
  if (!can_test_threads()) GTEST_SKIP() << "NOT TESTED: no threads here";
  const comm::Layout layout = uniform(900);
  const std::vector<double> b = hashed_vector(layout, 2);
  const auto result = [&](int threads) {
    const Threads set(threads);
    const auto M = solver::incomplete_lu(matrix_on(layout, flow(30)), {.ilu_levels = 2});
    return applied(*M, b);
  };
  EXPECT_EQ(result(1), result(2));
}

TEST(Ilu, TakesNewValues) {
  const comm::Layout layout = uniform(60);
  for (const auto& options : {solver::IluOptions{}, solver::IluOptions{.ilu_drop = 1e-2},
                              solver::IluOptions{.ilu_overlap = 2}}) {
    const auto M = solver::incomplete_lu(matrix_on(layout, flow(6)), options);
    const auto other = matrix_on(layout, flow(6, 3.0));
    M->rebuild(other);
    const std::vector<double> b = hashed_vector(layout, 1);
    EXPECT_EQ(applied(*M, b), applied(*solver::incomplete_lu(other, options), b));
  }
}

TEST(Ilu, SolvesThroughTheSolverWithAMethodThatFits) {
  const comm::Layout layout = uniform(300);
  const auto solve = [&](const Entry& entry, const std::vector<NamedValue>& given) {
    solver::Options options;
    options.set("preconditioner", "ilu");
    for (const auto& [name, value] : given) options.set(name, value);
    Solver solver(matrix_on(layout, entry), options);
    const std::vector<double> b = hashed_vector(layout, 1);
    std::vector<double> x(b.size(), 0);
    const solver::SolveRecord record = solver.solve(b, x);
    EXPECT_TRUE(record.converged()) << record.report().diagnosis;
    EXPECT_LE(dense_residual(entry, b, x), 1e-7);
    EXPECT_THAT(record.preconditioner_text, HasSubstr("of the rows of each rank"));
    return record;
  };
  EXPECT_EQ(solve(flow(15), {}).method.name(), "gmres");
  EXPECT_EQ(solve(laplace, {}).method.name(), "gmres");
  EXPECT_EQ(solve(laplace, {{"ilu_overlap", "0"}}).method.name(), "cg");
  EXPECT_THAT(expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                [&] {
                                  solve(laplace, {{"solver", "cg"}});
                                }),
              HasSubstr("ilu_overlap 1"));
}

TEST(Ilu, RefusesWhatIsNotFiniteAlikeOnAllRanks) {
  const comm::Layout layout = uniform(12);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    const auto A = matrix_on(layout, [bad](GlobalIndex i, GlobalIndex j) {
      return i == 7 && j == 8 ? bad : laplace(i, j);
    });
    EXPECT_THAT(expect_same_error(*test_comm(), ErrorCode::unsuitable_matrix,
                                  [&] { solver::incomplete_lu(A, {}); }),
                HasSubstr("row 7,"));
  }
}

}  // namespace solver_ilu_test
}  // namespace nodewise::test
