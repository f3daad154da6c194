// A cycle for several right-hand sides at once: that of each by itself, in the messages of one.
#include <cmath>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "aggregate_support.hpp"
#include "framework.hpp"
#include "mpi_counter.hpp"
#include "smoother_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace amg_together_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::distribute;
using test::hashed;
using test::layouts_of_points;
using test::part_of;

constexpr int width = 5;

struct Named {
  std::string name;
  Options options;
};

/// Every smoother, and every cycle, order of sweeps and precision with one of them.
std::vector<Named> choices() {
  Options plain;
  plain.unknowns = 2;
  plain.max_coarse_rows = 8;
  std::vector<Named> all;
  bool aggregates = true;
  for (const relax::SmootherMethod& smoother : relax::SmootherMethod::family()) {
    Options options = plain;
    options.method = aggregates ? "aggregation" : "classical";
    options.smoother = smoother;
    all.push_back({"smoother " + *smoother.name, options});
    aggregates = !aggregates;
  }
  for (const CycleMethod& cycle : CycleMethod::family()) {
    Options options = plain;
    options.cycle = cycle;
    all.push_back({"cycle " + *cycle.name, options});
  }
  for (const SweepOrder order : {SweepOrder::symmetric, SweepOrder::alternating,
                                 SweepOrder::forward, SweepOrder::backward}) {
    for (const std::string smoother : {"l1_gauss_seidel", "l1_block_gauss_seidel", "fc_jacobi"}) {
      Options options = plain;
      options.smoother = smoother;
      set_order(options, order);
      sweeps_of(options).pre_sweeps = 2;
      sweeps_of(options).post_sweeps = static_cast<int>(order) % 2;
      all.push_back({"order " + std::to_string(static_cast<int>(order)), options});
    }
  }
  Options options = plain;
  set_order(options, SweepOrder::coarse_fine);
  set_sweeps(options, 2);
  all.push_back({"coarse points first", options});
  options = plain;
  options.method = "air";
  options.unknowns = 1;
  all.push_back({"air", options});
  options = plain;
  sweeps_of(options).pre_sweeps = 0;
  all.push_back({"no sweeps before", options});
  options = plain;
  options.precision = Precision::single;
  all.push_back({"single precision", options});
  options = plain;
  options.max_levels = 2;  // the last of which is too large to be solved directly
  options.max_coarse_rows = 1;
  all.push_back({"two levels", options});
  return all;
}

/// Columns of very different sizes, one of them zero.
std::vector<double> right_hand_sides(const Layout& rows) {
  std::vector<double> B(static_cast<std::size_t>(rows.n_local()) * width);
  for (int c = 0; c < width; ++c) {
    const std::vector<double> b =
        part_of(rows, hashed(rows.n_global(), static_cast<std::uint64_t>(c)));
    for (std::size_t i = 0; i < b.size(); ++i) {
      B[i * width + static_cast<std::size_t>(c)] = c == 3 ? 0 : std::pow(10.0, 4 * c) * b[i];
    }
  }
  return B;
}

/// Collective. Expects the columns of the cycle of B to be cycles by themselves.
void expect_columns(const Hierarchy<double>& hierarchy, const std::vector<double>& B,
                    double tolerance) {
  const auto n = B.size() / width;
  std::vector<double> X(B.size(), 1e3), work(2 * n);
  hierarchy.apply_block(B, X, width, work);
  for (std::size_t c = 0; c < width; ++c) {
    std::vector<double> b(n), x(n, -1e3);
    for (std::size_t i = 0; i < n; ++i) b[i] = B[i * width + c];
    hierarchy.apply(b, x);
    double largest = 0;
    for (const double value : x) largest = std::max(largest, std::abs(value));
    largest = mpi::max(hierarchy.layout().comm(), largest);
    EXPECT_EQ(c == 3, largest == 0);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(X[i * width + c], x[i], tolerance * largest) << "column " << c;
    }
  }
}

/// Collective. Expects all of them to take the messages of one. Not the first time, when there is
/// an agreement on the memory.
void expect_messages_of_one(const Hierarchy<double>& hierarchy, const std::vector<double>& B) {
  const std::vector<int> one_node(static_cast<std::size_t>(test::test_comm()->size()), 0);
  const auto n = B.size() / width;
  std::vector<double> X(B.size()), work(2 * n), x(n), b(n, 1.0);
  const auto of_one = test::counted(one_node, [&] { hierarchy.apply(b, x); });
  const auto of_all = test::counted(one_node, [&] { hierarchy.apply_block(B, X, width, work); });
  EXPECT_EQ(of_all.messages(), of_one.messages());
  EXPECT_EQ(of_all.collectives, of_one.collectives);
}

TEST(Together, EveryColumnIsACycleAndAllTakeTheMessagesOfOne) {
  const test::Framework framework(6, 5, true);
  for (const Layout& rows : test::two_layouts_of_points(30, 2)) {
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(framework.A, rows));
    const std::vector<double> B = right_hand_sides(rows);
    for (const auto& [name, options] : choices()) {
      SCOPED_TRACE(name);
      const Hierarchy<double> hierarchy(A, options);
      expect_columns(hierarchy, B, options.precision == Precision::single ? 1e-5 : 1e-12);
      if (!options.cycle->is_fixed || options.smoother == "ilu0") continue;
      expect_messages_of_one(hierarchy, B);
    }
  }
}

// Rows of other threads are seen as they were before a sweep, for several vectors as for one.
TEST(Together, ThreadsSeeTheSameOfEachOther) {
  if (!parallel::available() || test::test_comm()->size() > 1) GTEST_SKIP() << "on one rank only";
  const test::Threads threads(2);
  const auto A = std::make_shared<const DistMatrix<double>>(
      io::generate<double>(test::test_comm(), {.problem = "laplace9", .n = 64}));
  const std::vector<double> B = right_hand_sides(A->rows());
  for (const SweepOrder order :
       {SweepOrder::forward, SweepOrder::symmetric, SweepOrder::coarse_fine}) {
    Options options;
    set_order(options, order);
    set_sweeps(options, 2);
    expect_columns(Hierarchy<double>(A, options), B, 1e-12);
    if (order == SweepOrder::coarse_fine) continue;
    options.unknowns = 2;  // points of two rows of the grid's lines
    options.smoother = "block_jacobi";
    expect_columns(Hierarchy<double>(A, options), B, 1e-12);
  }
}

// What a solve sends, from the first message to the last, whatever the number of right-hand sides:
// scaled by powers of two they take the same steps to the last bit.
TEST(Together, ASolveTakesTheMessagesOfOneRightHandSide) {
  const auto A = std::make_shared<const DistMatrix<double>>(
      io::generate<double>(test::test_comm(), {.problem = "laplace9", .n = 12}));
  Options options;
  options.max_coarse_rows = 10;
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b = part_of(A->rows(), hashed(A->rows().n_global(), std::uint64_t{4}));
  const auto solve_for = [&](std::size_t k) {
    const Hierarchy<double> M(A, options);
    std::vector<double> B(b.size() * k), X(B.size(), 0.0);
    for (std::size_t i = 0; i < B.size(); ++i) {
      B[i] = std::ldexp(b[i / k], static_cast<int>(i % k) * 3);
    }
    mpi::Ledger& ledger = A->comm().ledger();
    ledger.clear();
    const auto reports = solve::simultaneous_cg<double>(op, &M, B, X, static_cast<int>(k), {});
    std::vector<std::int64_t> counts(3);
    for (const mpi::Account& account : ledger.accounts()) {
      counts[0] += account.counts.messages();
      counts[1] += account.counts.collectives;
      counts[2] += account.counts.bytes();
    }
    for (const solve::Report& report : reports) {
      EXPECT_TRUE(report.converged()) << report.diagnosis;
      EXPECT_EQ(report.iterations, reports.front().iterations);
    }
    counts.push_back(reports.front().iterations);
    return counts;
  };
  const std::vector<std::int64_t> one = solve_for(1);
  const std::vector<std::int64_t> six = solve_for(6);
  EXPECT_EQ(six[3], one[3]);
  EXPECT_EQ(six[0], one[0]);
  EXPECT_EQ(six[1], one[1]);
  EXPECT_EQ(six[2], 6 * one[2]);
}

TEST(Together, SolvesSystemsAtOnceAsOneByOne) {
  const test::Framework framework(10, 9, true);
  const Layout rows = layouts_of_points(90, 2)[2];
  const auto A = std::make_shared<const DistMatrix<double>>(distribute(framework.A, rows));
  Options options;
  options.unknowns = 2;
  options.smoother = "l1_block_gauss_seidel";
  options.method = "aggregation";
  options.max_coarse_rows = 10;
  const Hierarchy<double> M(A, options, test::rigid_knowledge(framework, rows));
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> B = right_hand_sides(rows);
  std::vector<double> X(B.size(), 0.0);
  const auto reports = solve::simultaneous_cg<double>(op, &M, B, X, width, {});
  for (std::size_t c = 0; c < width; ++c) {
    std::vector<double> b(static_cast<std::size_t>(rows.n_local())), x(b.size(), 0.0);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = B[i * width + c];
    const auto report = solve::cg<double>(op, &M, b, x, {});
    EXPECT_TRUE(reports[c].converged());
    EXPECT_EQ(reports[c].iterations, report.iterations);
  }
}

}  // namespace amg_together_test
}  // namespace nodewise::amg
