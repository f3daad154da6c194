// Random graphs: against plain serial drawing, on any number of ranks, and what they are known for.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "nodewise/base/hash.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/io/problems/random_graphs.hpp"
#include "nodewise/io/problems/shuffled_numbers.hpp"
#include "nodewise/matrix/operations.hpp"

#include "collective_error.hpp"
#include "io_support.hpp"

namespace nodewise::io {
namespace io_random_graph_test {

using problems::GraphMatrix;
using problems::GraphOptions;
using problems::KroneckerOptions;
using test::Entries;
using test::gather_entries;
using test::test_comm;

GalleryOptions kronecker(int n, const KroneckerOptions& own) {
  GalleryOptions options{.problem = "kronecker", .n = n};
  options.problem.options<KroneckerOptions>() = own;
  return options;
}

GalleryOptions preferential(int n, const GraphOptions& own) {
  GalleryOptions options{.problem = "preferential", .n = n};
  options.problem.options<GraphOptions>() = own;
  return options;
}

using Neighbours = std::vector<std::set<GlobalIndex>>;

void join(Neighbours& all, GlobalIndex a, GlobalIndex b) {
  if (a == b) return;
  all[static_cast<std::size_t>(a)].insert(b);
  all[static_cast<std::size_t>(b)].insert(a);
}

/// By keeping the ends of all edges, as the process is defined.
Neighbours reference_preferential(int n, const GraphOptions& own) {
  Neighbours all(static_cast<std::size_t>(n));
  std::vector<GlobalIndex> ends;
  for (GlobalIndex v = 0; v < n; ++v) {
    const std::size_t before = ends.size();
    for (int k = 0; k < own.edges; ++k) {
      ends.push_back(v);
      const auto place = static_cast<std::uint64_t>(ends.size());
      const auto seed = static_cast<std::uint64_t>(own.seed);
      ends.push_back(v == 0 ? 0 : ends[hash64(place, seed) % before]);
      join(all, v, ends.back());
    }
  }
  return all;
}

Neighbours reference_kronecker(int n, const KroneckerOptions& own) {
  Neighbours all(static_cast<std::size_t>(n));
  const auto seed = static_cast<std::uint64_t>(own.seed);
  const problems::ShuffledNumbers shuffled(n, n, hash64(seed, 1));
  for (int edge = 0; edge < n * own.edges; ++edge) {
    for (std::uint64_t draw = 0;; ++draw) {
      const std::uint64_t key = hash64(static_cast<std::uint64_t>(edge), hash64(draw, seed));
      GlobalIndex a = 0, b = 0, size = 1;
      for (std::uint64_t level = 0; size < n; ++level, size *= 2) {
        double x = hash_uniform(level, key);
        int quarter = 0;
        while (quarter < 3 && x >= own.initiator[std::size_t(quarter)]) {
          x -= own.initiator[std::size_t(quarter++)];
        }
        a = 2 * a + (quarter > 1 ? 1 : 0);
        b = 2 * b + quarter % 2;
      }
      if (a >= n || b >= n) continue;
      join(all, shuffled.shuffled(a), shuffled.shuffled(b));
      break;
    }
  }
  return all;
}

Entries adjacency(const Neighbours& all) {
  Entries entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const GlobalIndex j : all[i]) entries.emplace_back(static_cast<GlobalIndex>(i), j, 1.0);
  }
  return entries;
}

Entries laplacian(const Neighbours& all, double shift) {
  Entries entries;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto own = static_cast<GlobalIndex>(i);
    entries.emplace_back(own, own, static_cast<double>(all[i].size()) + shift);
    for (const GlobalIndex j : all[i]) entries.emplace_back(own, j, -1.0);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

Entries sorted(Entries entries) {
  std::sort(entries.begin(), entries.end());
  return entries;
}

TEST(RandomGraph, IsDrawnOnAnyNumberOfRanks) {
  for (const int n : {1, 2, 3, 33, 150}) {
    for (const int seed : {0, 5}) {
      KroneckerOptions own;
      own.edges = 3;
      own.shift = 0.5;
      own.seed = seed;
      const Neighbours drawn = reference_kronecker(n, own), grown = reference_preferential(n, own);
      EXPECT_EQ(sorted(gather_entries(generate<double>(test_comm(), kronecker(n, own)))),
                laplacian(drawn, 0.5));
      EXPECT_EQ(sorted(gather_entries(generate<double>(test_comm(), preferential(n, own)))),
                laplacian(grown, 0.5));
      own.graph_matrix = GraphMatrix::adjacency;
      EXPECT_EQ(sorted(gather_entries(generate<double>(test_comm(), kronecker(n, own)))),
                adjacency(drawn));
      EXPECT_EQ(sorted(gather_entries(generate<float>(test_comm(), preferential(n, own)))),
                adjacency(grown));
    }
  }
}

std::vector<GlobalIndex> degrees(const GalleryOptions& options) {
  std::vector<GlobalIndex> all(static_cast<std::size_t>(options.n), 0);
  for (const auto& [i, j, value] : gather_entries(generate<double>(test_comm(), options))) {
    if (i != j) ++all[static_cast<std::size_t>(i)];
  }
  return all;
}

GlobalIndex largest(const std::vector<GlobalIndex>& all) {
  return *std::max_element(all.begin(), all.end());
}

// Some vertices have many times the mean, others hardly any; without skew nobody has.
TEST(RandomGraph, DegreesDifferByOrders) {
  const int n = 4096;
  KroneckerOptions own;
  own.edges = 4;
  const std::vector<GlobalIndex> skewed = degrees(kronecker(n, own));
  EXPECT_GT(largest(skewed), 100);
  EXPECT_GT(std::count(skewed.begin(), skewed.end(), 0), n / 10);
  own.initiator = {0.25, 0.25, 0.25, 0.25};
  EXPECT_LT(largest(degrees(kronecker(n, own))), 40);
  own.initiator = {1, 0, 0, 0};  // one loop, which counts for nothing
  EXPECT_EQ(largest(degrees(kronecker(n, own))), 0);

  const std::vector<GlobalIndex> grown = degrees(preferential(n, own));
  EXPECT_GT(largest(grown), 100);
  EXPECT_GE(*std::min_element(grown.begin(), grown.end()), 1);
  // A vertex's degree falls with the root of its age: that of the first ones is what it is.
  EXPECT_EQ(std::max_element(grown.begin(), grown.end()) - grown.begin() < 10, true);
}

TEST(RandomGraph, GrowsInOnePiece) {
  const int n = 500;
  GraphOptions own;
  own.edges = 1;  // a tree
  const Entries entries = gather_entries(generate<double>(test_comm(), preferential(n, own)));
  EXPECT_EQ(entries.size(), static_cast<std::size_t>(n + 2 * (n - 1)));
  for (GlobalIndex v = 1; v < n; ++v) {
    EXPECT_LT(problems::preferred_vertex(v, 0, 1, 0), v);
  }
}

TEST(RandomGraph, RowsOfTheLaplacianAddUpToTheShift) {
  for (const GalleryOptions& options : {kronecker(300, {}), preferential(300, {})}) {
    const auto A = generate<double>(test_comm(), options);
    EXPECT_TRUE(matrix::is_symmetric(A));
    const auto n = static_cast<std::size_t>(A.n_local());
    std::vector<double> sums(n);
    matrix::multiply<double>(A, std::vector<double>(n, 1.0), sums);
    for (const double sum : sums) EXPECT_NEAR(sum, 0.01, 1e-12);
  }
}

TEST(RandomGraph, RefusesWhatIsNoProbability) {
  const auto message = [](const GalleryOptions& options) {
    return test::expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                   [&] { generate<double>(test_comm(), options); });
  };
  KroneckerOptions own;
  for (const std::vector<double>& wrong : std::vector<std::vector<double>>{
           {0.5, 0.5}, {0.5, 0.2, 0.2, 0.2}, {1.5, -0.5, 0, 0}, {0.5, 0.5, 0, 0, 0}}) {
    own.initiator = wrong;
    EXPECT_NE(message(kronecker(8, own)).find("needs four numbers that add up to 1"),
              std::string::npos);
  }
  own.initiator = {0, 0.5, 0.5, 0};
  EXPECT_EQ(message(kronecker(8, own)), "problem: the first number of initiator is 0, needs > 0");
  GraphOptions grown;
  grown.edges = 0;
  EXPECT_EQ(message(preferential(8, grown)), "problem: edges is 0, needs >= 1");
}

}  // namespace io_random_graph_test
}  // namespace nodewise::io
