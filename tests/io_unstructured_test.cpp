// Poisson's equation on an irregular mesh: what finite volumes promise, and the numbering.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/shuffled_numbers.hpp"
#include "nodewise/io/problems/unstructured.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_unstructured_test {

using problems::ShuffledNumbers;
using problems::UnstructuredOptions;
using test::Entries;
using test::expect_same_error;
using test::test_comm;
using testing::HasSubstr;

GalleryOptions mesh(int n, const UnstructuredOptions& own = {}) {
  GalleryOptions options = {.problem = "unstructured", .n = n};
  options.problem.options<UnstructuredOptions>() = own;
  return options;
}

Entries entries_of(int n, const UnstructuredOptions& own = {}) {
  return test::gather_entries(generate<double>(test_comm(), mesh(n, own)));
}

std::size_t rows_of(int n) {
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
}

/// The farthest that a column is from its row.
GlobalIndex bandwidth(const Entries& entries) {
  GlobalIndex farthest = 0;
  for (const auto& [i, j, value] : entries) farthest = std::max(farthest, std::abs(i - j));
  return farthest;
}

struct RowFacts {
  int entries = 0;
  double sum = 0, diagonal = 0;
};

std::vector<RowFacts> facts_of_rows(int n, const Entries& entries) {
  std::vector<RowFacts> rows(rows_of(n));
  for (const auto& [i, j, value] : entries) {
    RowFacts& row = rows[static_cast<std::size_t>(i)];
    ++row.entries;
    row.sum += value;
    if (i == j) row.diagonal = value;
    // A face of half to one and a half by a distance of 0.4 to the diagonal of two cubes.
    if (i != j) {
      EXPECT_LT(value, -0.5 / (1.6 * std::sqrt(3.0)));
      EXPECT_GT(value, -1.5 / 0.4);
    }
  }
  return rows;
}

TEST(Unstructured, HasAboutSevenEntriesInARow) {
  for (const int seed : {0, 1, 2}) {
    const int n = 20;
    double inside = 0, entries_inside = 0, all_entries = 0;
    std::set<int> lengths;
    for (const RowFacts& row : facts_of_rows(n, entries_of(n, {.seed = seed}))) {
      lengths.insert(row.entries);
      all_entries += row.entries;
      const bool is_inside = std::abs(row.sum) < 1e-12 * row.diagonal;
      EXPECT_TRUE(is_inside || row.sum > 0.49) << "of a face at the end of the grid";
      if (!is_inside) continue;
      ++inside;
      entries_inside += row.entries;
    }
    EXPECT_EQ(inside, 18 * 18 * 18);
    EXPECT_NEAR(entries_inside / inside, 7, 0.1);
    EXPECT_NEAR(all_entries / 8000, 6.65, 0.1);  // a twentieth of what goes along an axis ends
    EXPECT_GE(*lengths.rbegin() - *lengths.begin(), 7) << "rows are alike";
  }
}

TEST(Unstructured, IsPositiveDefinite) {
  for (const int n : {1, 2, 3, 6}) {
    const auto rows = static_cast<Eigen::Index>(rows_of(n));
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(rows, rows);
    for (const auto& [i, j, value] : entries_of(n)) M(i, j) = value;
    EXPECT_EQ(M, M.transpose());
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(M, Eigen::EigenvaluesOnly);
    EXPECT_GT(solver.eigenvalues()[0], 0.05) << n;
  }
}

TEST(Unstructured, IsConnected) {
  for (const int seed : {0, 1, 7, 2147483647}) {
    const int n = 9;
    std::vector<std::vector<GlobalIndex>> neighbours(rows_of(n));
    for (const auto& [i, j, value] : entries_of(n, {.seed = seed})) {
      neighbours[static_cast<std::size_t>(i)].push_back(j);
    }
    std::set<GlobalIndex> reached = {0};
    std::vector<GlobalIndex> next = {0};
    while (!next.empty()) {
      const GlobalIndex i = next.back();
      next.pop_back();
      for (const GlobalIndex j : neighbours[static_cast<std::size_t>(i)]) {
        if (reached.insert(j).second) next.push_back(j);
      }
    }
    EXPECT_EQ(reached.size(), rows_of(n)) << seed;
  }
}

TEST(Unstructured, IsTheSameOnAnyRanksAndAnotherForEachSeed) {
  const Entries entries = entries_of(7);
  EXPECT_EQ(entries, test::gather_entries(generate<double>(test::self_comm(), mesh(7))));
  EXPECT_NE(entries, entries_of(7, {.seed = 1}));
  EXPECT_NE(entries, entries_of(7, {.shuffled = 20}));
}

TEST(Unstructured, KeepsNeighboursTogetherAsFarAsItIsTold) {
  const int n = 14;
  const GlobalIndex farthest_step = n * n + n;
  EXPECT_EQ(bandwidth(entries_of(n, {.shuffled = 1})), farthest_step);
  const GlobalIndex shuffled = bandwidth(entries_of(n, {.shuffled = 100}));
  EXPECT_GT(shuffled, farthest_step);
  EXPECT_LT(shuffled, farthest_step + 2 * 100);
  EXPECT_GT(bandwidth(entries_of(n, {.shuffled = 1000000})), n * n * n * 9 / 10);
}

TEST(Unstructured, RefusesWhatItCannotMake) {
  const auto refusal = [](const GalleryOptions& options, ErrorCode code) {
    return expect_same_error(*test_comm(), code, [&] { generate<double>(test_comm(), options); });
  };
  const auto invalid = ErrorCode::invalid_argument, overflow = ErrorCode::index_overflow;
  EXPECT_THAT(refusal(mesh(0), invalid), HasSubstr("n is 0"));
  EXPECT_THAT(refusal(mesh(3, {.seed = -1}), invalid), HasSubstr("seed is -1"));
  EXPECT_THAT(refusal(mesh(3, {.shuffled = 0}), invalid), HasSubstr("shuffled is 0"));
  EXPECT_THAT(refusal(mesh(2097152), overflow), HasSubstr("2097152^3 rows do not fit in 64 bits"));
  EXPECT_THAT(refusal(mesh(2097151), overflow), HasSubstr("rows of a rank"));
}

TEST(ShuffledNumbers, ArePermutationsOfEachStretch) {
  for (const GlobalIndex n : {1, 2, 5, 64, 65, 1000}) {
    for (const GlobalIndex stretch : {1, 2, 3, 64, 999, 5000}) {
      const ShuffledNumbers numbers(n, stretch, 3);
      std::set<GlobalIndex> seen;
      GlobalIndex stayed = 0;
      for (GlobalIndex i = 0; i < n; ++i) {
        const GlobalIndex to = numbers.shuffled(i);
        EXPECT_TRUE(to >= 0 && to < n);
        EXPECT_EQ(to / stretch, i / stretch);
        EXPECT_EQ(numbers.unshuffled(to), i);
        seen.insert(to);
        if (to == i) ++stayed;
      }
      EXPECT_EQ(static_cast<GlobalIndex>(seen.size()), n);
      if (stretch == 1) EXPECT_EQ(stayed, n);
      if (n == 1000 && stretch >= 64) EXPECT_LT(stayed, 50);
    }
  }
}

TEST(ShuffledNumbers, OfAsManyAsIndicesCount) {
  constexpr GlobalIndex most = std::numeric_limits<GlobalIndex>::max();
  const ShuffledNumbers numbers(most, most, 0);
  for (const GlobalIndex i : {GlobalIndex{0}, most / 2, most - 1}) {
    EXPECT_EQ(numbers.unshuffled(numbers.shuffled(i)), i);
  }
}

}  // namespace io_unstructured_test
}  // namespace nodewise::io
