// PMIS, HMIS and the first pass of Ruge-Stüben against plain serial forms.
#include <algorithm>

#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/splitting.hpp"

#include "amg_support.hpp"

namespace nodewise::amg::coarsen {
namespace {

using test::Dense;
using test::DenseMatrix;
using test::distribute;
using test::gathered_splitting;
using test::layouts_of;
using test::NamedMatrix;
using test::test_comm;

constexpr double threshold = 0.25;
constexpr double max_row_sum = 1.0;

std::vector<NamedMatrix> matrices() {
  auto list = test::level_matrices();
  list.push_back({"laplace7", test::model(io::Problem::laplace7, 4)});
  list.push_back({"sparse random", test::random_matrix(60, 0.03, 0.2, 9)});
  return list;
}

Dense<int> strong(const DenseMatrix& A) {
  return test::reference_strength(A, threshold, max_row_sum);
}

std::vector<double> weights(const Dense<int>& s, int seed) {
  std::vector<double> w;
  for (GlobalIndex j = 0; j < s.cols(); ++j) {
    double dependants = 0;
    for (GlobalIndex i = 0; i < s.rows(); ++i) dependants += s(i, j);
    w.push_back(dependants +
                hash_uniform(static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(seed)));
  }
  return w;
}

bool depends_on_coarse(const Dense<int>& s, const std::vector<int>& state, GlobalIndex i) {
  for (GlobalIndex j = 0; j < s.cols(); ++j) {
    if (s(i, j) == 1 && state[static_cast<std::size_t>(j)] == coarse) return true;
  }
  return false;
}

/// PMIS as the paper states it, all points at once. `state` holds what is decided already.
std::vector<int> reference_pmis(const Dense<int>& s, int seed, std::vector<int> state) {
  const GlobalIndex n = s.rows();
  const std::vector<double> w = weights(s, seed);
  const auto at = [](GlobalIndex i) { return static_cast<std::size_t>(i); };
  const auto drop = [&] {
    for (GlobalIndex i = 0; i < n; ++i) {
      if (state[at(i)] == undecided && depends_on_coarse(s, state, i)) state[at(i)] = fine;
    }
  };
  for (GlobalIndex i = 0; i < n; ++i) {
    if (state[at(i)] == undecided && w[at(i)] < 1) state[at(i)] = fine;
  }
  drop();
  while (std::count(state.begin(), state.end(), undecided) > 0) {
    std::vector<GlobalIndex> heaviest;
    for (GlobalIndex i = 0; i < n; ++i) {
      if (state[at(i)] != undecided) continue;
      bool beaten = false;
      for (GlobalIndex j = 0; j < n; ++j) {
        const bool neighbour = j != i && s(i, j) + s(j, i) > 0 && state[at(j)] == undecided;
        beaten = beaten || (neighbour && w[at(j)] > w[at(i)]);
      }
      if (!beaten) heaviest.push_back(i);
    }
    for (const GlobalIndex i : heaviest) state[at(i)] = coarse;
    drop();
  }
  return state;
}

/// The first pass of Ruge-Stüben; of equal measures the one that has had its measure longest.
std::vector<int> reference_first_pass(const Dense<int>& s) {
  const GlobalIndex n = s.rows();
  std::vector<int> state(static_cast<std::size_t>(n), undecided);
  std::vector<int> measure(state.size(), 0);
  std::vector<int> since(state.size(), 0);
  int now = 0;
  const auto at = [](GlobalIndex i) { return static_cast<std::size_t>(i); };
  for (GlobalIndex j = 0; j < n; ++j) {
    since[at(j)] = now++;
    for (GlobalIndex i = 0; i < n; ++i) measure[at(j)] += s(i, j);
  }
  const auto change = [&](GlobalIndex i, int by) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (s(i, j) == 0 || state[at(j)] != undecided) continue;
      measure[at(j)] += by;
      since[at(j)] = now++;
    }
  };
  while (true) {
    GlobalIndex best = -1;
    for (GlobalIndex i = 0; i < n; ++i) {
      if (state[at(i)] != undecided || measure[at(i)] == 0) continue;
      if (best < 0 || measure[at(i)] > measure[at(best)] ||
          (measure[at(i)] == measure[at(best)] && since[at(i)] < since[at(best)])) {
        best = i;
      }
    }
    if (best < 0) return state;
    state[at(best)] = coarse;
    for (GlobalIndex j = 0; j < n; ++j) {
      if (s(j, best) == 0 || state[at(j)] != undecided) continue;
      state[at(j)] = fine;
      change(j, 1);
    }
    change(best, -1);
  }
}

template <class T>
std::vector<int> run_pmis(const matrix::DistMatrix<T>& A, int seed) {
  const auto strength = strength_of_connection(A, threshold, max_row_sum);
  return gathered_splitting(A.comm(), pmis(A, strength, seed));
}

std::vector<int> run_hmis(const matrix::DistMatrix<double>& A, int seed) {
  const auto strength = strength_of_connection(A, threshold, max_row_sum);
  return gathered_splitting(A.comm(), hmis(A, strength, seed));
}

std::vector<int> all_undecided(const DenseMatrix& A) {
  return std::vector<int>(static_cast<std::size_t>(A.rows()), undecided);
}

TEST(Pmis, GivesTheSerialSplittingOnEveryLayout) {
  for (const auto& [name, values] : matrices()) {
    for (const int seed : {0, 7}) {
      const std::vector<int> alone = run_pmis(test::serial(values), seed);
      EXPECT_EQ(alone, reference_pmis(strong(values), seed, all_undecided(values))) << name;
      for (const GlobalIndex first : {GlobalIndex{0}, (GlobalIndex{1} << 40) + 5}) {
        for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), first)) {
          EXPECT_EQ(run_pmis(distribute(values, layout), seed), alone)
              << name << ", seed " << seed << ", first index " << first;
        }
      }
    }
  }
}

// Where the dependence is one-sided both points may become coarse: the one that depends on the
// other first, by its larger weight.
TEST(Pmis, IsAMaximalIndependentSet) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    const auto layout = test::random_layout(test_comm(), values.rows(), 3);
    const auto state = run_pmis(distribute(values, layout), 0);
    const auto w = weights(s, 0);
    for (GlobalIndex i = 0; i < s.rows(); ++i) {
      const auto u = static_cast<std::size_t>(i);
      EXPECT_NE(state[u], undecided) << name << ", point " << i;
      if (state[u] == fine) {
        EXPECT_TRUE(depends_on_coarse(s, state, i) || w[u] < 1) << name << ", point " << i;
        continue;
      }
      for (GlobalIndex j = 0; j < s.cols(); ++j) {
        const auto v = static_cast<std::size_t>(j);
        if (s(i, j) == 0 || state[v] != coarse) continue;
        EXPECT_TRUE(s(j, i) == 0 && w[u] > w[v]) << name << ", points " << i << " and " << j;
      }
    }
  }
}

TEST(Pmis, TheSeedMatters) {
  const DenseMatrix values = test::model(io::Problem::laplace5, 8);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  EXPECT_NE(run_pmis(A, 0), run_pmis(A, 1));
}

TEST(Pmis, KeepsWhatIsDecided) {
  const DenseMatrix values = test::model(io::Problem::laplace5, 6);
  std::vector<int> start = all_undecided(values);
  start[0] = coarse;
  start[7] = fine;
  start[20] = coarse;
  start[21] = coarse;  // two coupled ones: not what PMIS would choose
  const auto expected = reference_pmis(strong(values), 3, start);
  EXPECT_EQ(expected[21], coarse);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const auto strength = strength_of_connection(A, threshold, max_row_sum);
    const auto got = pmis(A, strength, 3, test::splitting_part(layout, start));
    EXPECT_EQ(gathered_splitting(A.comm(), got), expected);
  }
}

TEST(Pmis, FloatGivesTheSame) {
  const DenseMatrix values = test::model(io::Problem::laplace9, 6);
  const auto layout = matrix::Layout::uniform(test_comm(), values.rows());
  EXPECT_EQ(run_pmis(distribute<float>(values, layout), 0), run_pmis(test::serial(values), 0));
}

TEST(RugeStueben, FirstPassEqualsThePlainForm) {
  for (const auto& [name, values] : matrices()) {
    const auto A = test::serial(values);
    const auto strength = strength_of_connection(A, threshold, max_row_sum);
    EXPECT_EQ(gathered_splitting(A.comm(), ruge_stueben_first_pass(A, strength)),
              reference_first_pass(strong(values)))
        << name;
  }
}

TEST(RugeStueben, FirstPassIsOfEachRanksOwnBlock) {
  const DenseMatrix values = test::model(io::Problem::rotated_fe, 7);
  for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
    const auto A = distribute(values, layout);
    const auto strength = strength_of_connection(A, threshold, max_row_sum);
    const auto s = strong(values);
    Dense<int> block(A.n_local(), A.n_local());
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      for (LocalIndex j = 0; j < A.n_local(); ++j) {
        block(i, j) = s(layout.to_global(i), layout.to_global(j));
      }
    }
    const auto got = ruge_stueben_first_pass(A, strength);
    EXPECT_EQ(std::vector<int>(got.begin(), got.end()), reference_first_pass(block));
  }
}

// The textbook example: red and black points of the five-point star.
TEST(RugeStueben, FivePointStarIsColouredLikeAChessboard) {
  constexpr int n = 9;
  const auto A = test::serial(test::model(io::Problem::laplace5, n));
  const auto strength = strength_of_connection(A, threshold, max_row_sum);
  const Splitting got = ruge_stueben_first_pass(A, strength);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j + 1 < n; ++j) {
      const auto p = static_cast<std::size_t>(i * n + j);
      EXPECT_EQ(got[p], -got[p + 1]) << i << " " << j;
      if (i > 0) {
        EXPECT_EQ(got[p], -got[p - n]) << i << " " << j;
      }
    }
  }
}

TEST(Hmis, OnOneRankIsTheFirstPassCompleted) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    const auto first_pass = reference_first_pass(s);
    const auto got = run_hmis(test::serial(values), 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NE(got[i], undecided) << name << ", point " << i;
      if (first_pass[i] != undecided) {
        EXPECT_EQ(got[i], first_pass[i]) << name << ", point " << i;
      }
    }
  }
}

TEST(Hmis, IsPmisFromTheInteriorCoarsePointsOfTheFirstPass) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto A = distribute(values, layout);
      const auto strength = strength_of_connection(A, threshold, max_row_sum);
      auto start = gathered_splitting(A.comm(), ruge_stueben_first_pass(A, strength));
      for (GlobalIndex i = 0; i < s.rows(); ++i) {
        auto& state = start[static_cast<std::size_t>(i)];
        if (state != coarse) state = undecided;
        for (GlobalIndex j = 0; j < s.cols(); ++j) {
          if (s(i, j) == 1 && layout.owner(i) != layout.owner(j)) state = undecided;
        }
      }
      EXPECT_EQ(run_hmis(A, 5), reference_pmis(s, 5, start)) << name;
    }
  }
}

TEST(Hmis, AllPointsAreDecidedAndServed) {
  for (const auto& [name, values] : matrices()) {
    const auto s = strong(values);
    const auto w = weights(s, 0);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows())) {
      const auto state = run_hmis(distribute(values, layout), 0);
      for (GlobalIndex i = 0; i < s.rows(); ++i) {
        const auto u = static_cast<std::size_t>(i);
        EXPECT_NE(state[u], undecided) << name << ", point " << i;
        EXPECT_TRUE(state[u] == coarse || depends_on_coarse(s, state, i) || w[u] < 1)
            << name << ", point " << i;
      }
    }
  }
}

}  // namespace
}  // namespace nodewise::amg::coarsen
