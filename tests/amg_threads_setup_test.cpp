// Every setup makes the same splittings, aggregates, matrices and factors on several threads as on
// one.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/advise/diagnosis.hpp"
#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/aggregate/graph.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/relax/ilu0.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/io/gallery.hpp"

#include "amg_support.hpp"
#include "problem_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace amg_threads_setup_test {

using test::expect_same_bits;
using test::Threads;

using Matrix = matrix::DistMatrix<double>;

std::shared_ptr<const Matrix> problem(const std::string& kind, int n) {
  return std::make_shared<const Matrix>(
      io::generate<double>(test::test_comm(), {.problem = kind, .n = n}));
}

/// Neighbours close by, and anywhere at all with a strength that is not symmetric.
std::vector<std::shared_ptr<const Matrix>> near_and_far() {
  return {problem("laplace27", 13), problem("random", 7000)};
}

TEST(ThreadedSplitting, IsTheSame) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const auto& A : near_and_far()) {
    const Strength strength = strength_of_connection(*A, 0.25, 1.0, StrengthMeasure::absolute);
    const auto splittings = [&] {
      return std::vector{coarsen::pmis(*A, strength, 1), coarsen::cljp(*A, strength, 1),
                         coarsen::hmis(*A, strength, 1), coarsen::ruge_stueben(*A, strength, 2)};
    };
    const auto expected = splittings();
    const Threads threads(3);
    ASSERT_GT(parallel::parts_of(A->on().cols.size()), 1) << "too small to be worth threads";
    EXPECT_EQ(splittings(), expected);
  }
}

/// One dependence that is not mutual, between points of one thread or of two.
TEST(ThreadedSplitting, IsTheSameWhereOneDependenceIsNotMutual) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem("laplace27", 13);
  const Strength all = strength_of_connection(*A, 0.25, 1.0, StrengthMeasure::absolute);
  const std::size_t step = std::max<std::size_t>(all.on.size() / 40, 1);
  for (std::size_t dropped = 0; dropped < all.on.size(); dropped += step) {
    Strength strength = all;
    strength.on[dropped] = 0;
    const coarsen::Splitting expected = coarsen::ruge_stueben(*A, strength, 1);
    const Threads threads(3);
    EXPECT_EQ(coarsen::ruge_stueben(*A, strength, 1), expected) << "without entry " << dropped;
  }
}

TEST(ThreadedDiagnosis, StartsFromTheSame) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const auto& A : near_and_far()) {
    const std::vector<double> b(2 * static_cast<std::size_t>(A->n_local()), 0.7);
    const auto facts = [&] {
      const advise::SystemFacts system = advise::matrix_facts(A);
      const auto nulls = advise::null_vector_facts<double>(*A, {}, b, 2);
      const advise::LevelFacts& finest = system.levels.front();
      return std::tuple(finest.near_zero_diagonals, finest.negative_diagonals, finest.positive_rows,
                        nulls.front().smallness, nulls.front().part_of_rhs);
    };
    const auto expected = facts();
    EXPECT_GT(std::get<4>(expected), 0.99) << "b is constant";
    const Threads threads(3);
    EXPECT_EQ(facts(), expected);
  }
}

TEST(ThreadedAggregates, AreTheSame) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const auto& A : near_and_far()) {
    for (const int distance : {2, 3}) {
      const auto made = [&] {
        const Strength strength = aggregate::symmetric_strength(*A, 0.02);
        return aggregate::independent_set_aggregates(*A, strength, {distance, 1, true});
      };
      const aggregate::Aggregates expected = made();
      const Threads threads(3);
      const aggregate::Aggregates aggregates = made();
      EXPECT_EQ(aggregates.of_point, expected.of_point) << "distance " << distance;
      EXPECT_EQ(aggregates.roots, expected.roots) << "distance " << distance;
    }
  }
}

void expect_same_levels(const Hierarchy<double>& threaded, const Hierarchy<double>& serial) {
  ASSERT_EQ(threaded.levels().size(), serial.levels().size());
  for (std::size_t l = 0; l < serial.levels().size(); ++l) {
    const std::string what = "level " + std::to_string(l);
    expect_same_bits(*threaded.matrix(l), *serial.matrix(l), what);
    ASSERT_EQ(threaded.interpolation(l) == nullptr, serial.interpolation(l) == nullptr);
    if (serial.interpolation(l) != nullptr) {
      expect_same_bits(*threaded.interpolation(l), *serial.interpolation(l), what + ", P");
    }
    ASSERT_EQ(threaded.restriction(l) == nullptr, serial.restriction(l) == nullptr);
    if (serial.restriction(l) != nullptr) {
      expect_same_bits(*threaded.restriction(l), *serial.restriction(l), what + ", restriction");
    }
  }
}

/// Of all levels, and again for new values.
void expect_same_setup(const std::shared_ptr<const Matrix>& A, const Options& options) {
  const Hierarchy<double> serial(A, options);
  const Threads threads(3);
  Hierarchy<double> threaded(A, options);
  for (int round = 0; round < 2; ++round) {
    expect_same_levels(threaded, serial);
    threaded.rebuild(A);
  }
}

TEST(ThreadedHierarchy, IsTheSameBitsWhateverTheInterpolation) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = problem("laplace27", 14);
  for (const char* interpolation :
       {"extended_i", "standard", "modified_classical", "direct", "multipass"}) {
    Options options;
    options.set("interpolation", interpolation);
    expect_same_setup(A, options);
  }
}

TEST(ThreadedHierarchy, IsTheSameBitsWithAggressiveLevels) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const auto& A : {problem("laplace27", 24), problem("rotated_fe", 100)}) {
    for (const int paths : {1, 2}) {
      Options options;
      options.set("aggressive_levels", 2);
      options.set("aggressive_paths", paths);
      expect_same_setup(A, options);
    }
  }
}

TEST(ThreadedHierarchy, IsTheSameBitsByAggregation) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const bool filter : {false, true}) {
    Options options;
    options.method = "aggregation";
    options.set("filter_prolongation", filter);
    options.set("aggregation_threshold", filter ? 0.1 : 0.02);
    options.set("candidate_sweeps", filter ? 2 : 0);
    expect_same_setup(problem("rotated_fe", 100), options);
  }
}

TEST(ThreadedHierarchy, IsTheSameBitsByAggregationOfPoints) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  Options options;
  options.method = "aggregation";
  options.unknowns = 3;
  options.set("filter_prolongation", true);
  expect_same_setup(problem("laplace27", 12), options);
}

std::shared_ptr<const Matrix> flow(int n) {
  return std::make_shared<const Matrix>(io::generate<double>(
      test::test_comm(), test::flow_problem("convection2d", n, {.flow = test::Flow::rotating})));
}

/// Formulas that look for entries a_ki since they cannot take them to be a_ik.
TEST(ThreadedHierarchy, IsTheSameBitsForANonsymmetricMatrix) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  for (const char* interpolation : {"extended_i", "standard"}) {
    Options options;
    options.set("interpolation", interpolation);
    expect_same_setup(flow(90), options);
  }
}

/// Restrictions, filtered products, those for new values, and sweeps over fine and coarse points.
TEST(ThreadedAir, IsTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const auto A = flow(90);
  Options options;
  options.method = "air";
  options.set("restriction_truncation", 0.01);
  options.set("coarse_filter", 1e-3);
  std::vector<double> b(static_cast<std::size_t>(A->n_local()));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i));
  const auto applied = [&](const Hierarchy<double>& hierarchy) {
    std::vector<double> x(b.size());
    hierarchy.apply(b, x);
    return x;
  };
  const Hierarchy<double> serial(A, options);
  const std::vector<double> expected = applied(serial);
  const Threads threads(3);
  ASSERT_GT(parallel::parts_of(A->on().cols.size()), 1) << "too small to be worth threads";
  Hierarchy<double> threaded(A, options);
  for (int round = 0; round < 2; ++round) {
    expect_same_levels(threaded, serial);
    EXPECT_EQ(applied(threaded), expected);
    threaded.rebuild(A);
  }
}

/// Rows that have entries for those a quarter of all rows away, and little beyond: few levels.
Matrix distant_neighbours() {
  constexpr GlobalIndex n = 16000;
  const auto layout = matrix::Layout::uniform(test::test_comm(), n);
  return matrix::matrix_from_rows<double>(layout, layout, [](GlobalIndex i, auto&& emit) {
    emit(i, 4.0 + std::sin(static_cast<double>(i)));
    for (GlobalIndex away = n / 4; away < n / 4 + 6; ++away) {
      if (i >= away) emit(i - away, std::sin(static_cast<double>(3 * i + away)));
      if (i + away < n) emit(i + away, std::cos(static_cast<double>(i + 2 * away)));
    }
  });
}

TEST(ThreadedIlu0, HasTheSameBits) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const Matrix A = distant_neighbours();
  std::vector<double> b(static_cast<std::size_t>(A.n_local()));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(5 * i));
  const auto swept = [&] {
    const relax::Ilu0<double> ilu(A);
    std::vector<double> x(b.size());
    ilu.first_sweep(b, x);
    ilu.sweep(relax::Direction::forward, b, x);
    return x;
  };
  const std::vector<double> expected = swept();
  for (const int n : {2, 3}) {
    const Threads threads(n);
    ASSERT_GT(relax::RowLevels(A.on(), relax::Triangle::lower).n_levels(), 1u);
    EXPECT_EQ(swept(), expected) << n << " threads";
  }
}

TEST(ThreadedIlu0, TakesRowsAfterThoseTheyNeed) {
  if (!test::can_test_threads()) GTEST_SKIP() << "no threads on so many ranks, or none at all";
  const Matrix A = distant_neighbours();
  for (const relax::Triangle triangle : {relax::Triangle::lower, relax::Triangle::upper}) {
    EXPECT_EQ(relax::RowLevels(A.on(), triangle).n_levels(), 0u) << "on one thread";
    const Threads threads(2);
    const relax::RowLevels levels(A.on(), triangle);
    std::vector<int> done(static_cast<std::size_t>(A.n_local()), 0),
        in_time(static_cast<std::size_t>(A.n_local()), 1);
    levels.for_each([&](LocalIndex i, int) {
      const auto u = static_cast<std::size_t>(i);
      for (Offset p = A.on().begin(i); p < A.on().end(i); ++p) {
        const LocalIndex j = A.on().cols[static_cast<std::size_t>(p)];
        const bool needed = triangle == relax::Triangle::lower ? j < i : j > i;
        if (needed && done[static_cast<std::size_t>(j)] != 1) in_time[u] = 0;
      }
      ++done[u];
    });
    EXPECT_EQ(done, std::vector<int>(done.size(), 1));
    EXPECT_EQ(in_time, std::vector<int>(done.size(), 1));
    // Many small levels are not worth threads.
    const auto small = problem("laplace27", 13);
    EXPECT_EQ(relax::RowLevels(small->on(), triangle).n_levels(), 0u);
  }
}

}  // namespace amg_threads_setup_test
}  // namespace nodewise::amg
