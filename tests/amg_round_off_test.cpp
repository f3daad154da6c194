// Coarse matrices of components that end in one point: what should be zero is, and nothing else.
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/round_off.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace amg_round_off_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::DenseMatrix;
using test::distribute;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::part_of;
using test::test_comm;

/// The Laplacian of a graph that grows component by component, weights at random.
class Graph {
 public:
  Graph(GlobalIndex n, std::uint64_t seed) : laplacian_(n, n), seed_(seed) {}

  /// A path of so many points; returns the first.
  GlobalIndex add_path(GlobalIndex length) {
    for (GlobalIndex i = n_; i + 1 < n_ + length; ++i) join(i, i + 1);
    return std::exchange(n_, n_ + length);
  }
  void add_square(GlobalIndex side) {
    for (GlobalIndex i = 0; i < side * side; ++i) {
      if (i % side + 1 < side) join(n_ + i, n_ + i + 1);
      if (i + side < side * side) join(n_ + i, n_ + i + side);
    }
    n_ += side * side;
  }
  DenseMatrix& laplacian() { return laplacian_; }

 private:
  void join(GlobalIndex i, GlobalIndex j) {
    const double weight = 0.5 + hash_uniform(n_edges_++, seed_);
    laplacian_(i, i) += weight;
    laplacian_(j, j) += weight;
    laplacian_(i, j) -= weight;
    laplacian_(j, i) -= weight;
  }

  DenseMatrix laplacian_;
  std::uint64_t seed_;
  std::uint64_t n_edges_ = 0;
  GlobalIndex n_ = 0;
};

constexpr GlobalIndex shortest = 3, longest = 14;
constexpr GlobalIndex n_on_paths = (shortest + longest) * (longest - shortest + 1) / 2;

/// One of every length; returns their first points.
std::vector<GlobalIndex> add_paths(Graph& graph) {
  std::vector<GlobalIndex> firsts;
  for (GlobalIndex k = shortest; k <= longest; ++k) firsts.push_back(graph.add_path(k));
  return firsts;
}

/// Collective. Each path to one coarse point, which its first point's rank has.
DistMatrix<double> path_indicators(const Layout& fine, const std::vector<GlobalIndex>& firsts) {
  LocalIndex n_own = 0;
  for (const GlobalIndex first : firsts) {
    const GlobalIndex i = fine.first() + first;
    n_own += i >= fine.begin() && i < fine.end() ? 1 : 0;
  }
  const Layout coarse = Layout::from_local_size(test_comm(), n_own);
  return matrix::matrix_from_rows<double>(fine, coarse, [&](GlobalIndex i, auto&& emit) {
    const auto next = std::upper_bound(firsts.begin(), firsts.end(), i - fine.first());
    emit(coarse.first() + (next - firsts.begin()) - 1, 1.0);
  });
}

TEST(RoundOff, OfComponentsVanishesAndLittleElseDoes) {
  Graph graph(n_on_paths, 5);
  const std::vector<GlobalIndex> firsts = add_paths(graph);
  graph.laplacian()(firsts[2], firsts[2]) += 1e-12;  // no round-off
  for (const Layout& fine : layouts_of(test_comm(), n_on_paths)) {
    const DistMatrix<double> A = distribute(graph.laplacian(), fine);
    const DistMatrix<double> P = path_indicators(fine, firsts);
    const DistMatrix<double> C = matrix::galerkin_product(A, P);
    const DenseMatrix before = gathered(C),
                      after = gathered(without_round_off<double>(C, A, nullptr, P, 1));
    int n_cleared = 0;
    for (GlobalIndex c = 0; c < before.rows(); ++c) {
      n_cleared += before(c, c) != 0 && after(c, c) == 0 ? 1 : 0;
      EXPECT_EQ(after(c, c), c == 2 ? before(c, c) : 0.0) << c;
    }
    EXPECT_NEAR(after(2, 2), 1e-12, 1e-14);
    EXPECT_GT(n_cleared, 0);
  }
}

TEST(RoundOff, LeavesPointsThatAreJoined) {
  Graph graph(n_on_paths, 6);
  const std::vector<GlobalIndex> firsts = add_paths(graph);
  for (std::size_t k = 0; k + 1 < firsts.size(); ++k) {
    graph.laplacian()(firsts[k], firsts[k + 1]) = -1e-14;
    graph.laplacian()(firsts[k + 1], firsts[k]) = -1e-14;
  }
  for (const Layout& fine : layouts_of(test_comm(), n_on_paths)) {
    const DistMatrix<double> A = distribute(graph.laplacian(), fine);
    const DistMatrix<double> P = path_indicators(fine, firsts);
    const DistMatrix<double> C = matrix::galerkin_product(A, P);
    EXPECT_EQ(gathered(without_round_off<double>(C, A, nullptr, P, 1)), gathered(C));
  }
}

std::vector<Options> ways_to_coarsen() {
  Options classical, aggressive, aggregation;
  aggressive.set("aggressive_levels", 1);
  aggregation.method = "aggregation";
  return {classical, aggressive, aggregation};
}

bool has_negative_diagonal(const DistMatrix<double>& A) {
  const DenseMatrix whole = gathered(A);
  for (GlobalIndex i = 0; i < whole.rows(); ++i) {
    if (whole(i, i) < 0) return true;
  }
  return false;
}

TEST(RoundOff, DoesNotMakeGraphsIndefinite) {
  constexpr GlobalIndex side = 14;
  constexpr GlobalIndex n = n_on_paths + side * side;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Graph graph(n, seed);
    graph.add_square(side);
    add_paths(graph);
    const Layout layout = layouts_of(test_comm(), n).front();
    const auto A =
        std::make_shared<const DistMatrix<double>>(distribute(graph.laplacian(), layout));
    const DenseMatrix b = graph.laplacian() * hashed(n, 7);
    for (Options options : ways_to_coarsen()) {
      options.max_coarse_rows = 20;
      Hierarchy<double> hierarchy(A, options);
      for (const bool is_rebuilt : {false, true}) {
        if (is_rebuilt) hierarchy.rebuild(A);
        for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
          EXPECT_FALSE(has_negative_diagonal(*hierarchy.matrix(l))) << "level " << l;
        }
        const std::vector<double> mine = part_of(layout, b);
        std::vector<double> x(mine.size());
        const solve::MatrixOperator<double> op(A);
        const auto report = solve::cg<double>(op, &hierarchy, mine, x, {.tolerance = 1e-8});
        EXPECT_EQ(report.outcome, solve::Outcome::converged);
        EXPECT_LE(report.iterations, 30);
      }
    }
  }
}

// Two unknowns a point, each coarsened by itself: no point is isolated, since rounding joins the
// last two, but both are null vectors.
TEST(RoundOff, OfTheCoarsestMatrixIsNotInverted) {
  constexpr GlobalIndex side = 9;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Graph graph(side * side, seed);
    graph.add_square(side);
    const DenseMatrix& L = graph.laplacian();
    DenseMatrix values(2 * side * side, 2 * side * side);
    const double couplings[2][2] = {{2, 0.3}, {0.3, 1}};
    for (GlobalIndex i = 0; i < values.rows(); ++i) {
      for (GlobalIndex j = 0; j < values.cols(); ++j) {
        values(i, j) = couplings[i % 2][j % 2] * L(i / 2, j / 2);
      }
    }
    std::vector<GlobalIndex> starts;
    for (int r = 0; r <= test_comm()->size(); ++r) {
      starts.push_back(2 * (side * side * r / test_comm()->size()));
    }
    const Layout layout(test_comm(), starts);
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(values, layout));
    Options options;
    options.unknowns = 2;
    options.max_coarse_rows = 3;
    Hierarchy<double> hierarchy(A, options);
    const std::vector<double> b = part_of(layout, values * hashed(values.rows(), 7));
    for (const bool is_rebuilt : {false, true}) {
      if (is_rebuilt) hierarchy.rebuild(A);
      EXPECT_EQ(hierarchy.levels().back().coarse_solver, "direct, singular");
      std::vector<double> x(b.size());
      const auto report = solve::cg<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
      EXPECT_EQ(report.outcome, solve::Outcome::converged) << report.diagnosis;
      EXPECT_LE(report.iterations, 25);
    }
  }
}

/// Generators of Markov chains: rings with steps ahead, back and over, one after the other, whose
/// rows add up to zero.
DenseMatrix chains(GlobalIndex n_chains, GlobalIndex length) {
  DenseMatrix A(n_chains * length, n_chains * length);
  std::uint64_t n_drawn = 0;
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    const GlobalIndex first = i - i % length;
    for (const auto& [ahead, rate] :
         {std::pair{GlobalIndex{1}, 0.7}, {length - 1, 0.3}, {2, 0.2}}) {
      const double weight = rate * (0.5 + hash_uniform(n_drawn++, 11));
      A(i, i) += weight;
      A(i, first + (i + ahead) % length) -= weight;
    }
  }
  return A;
}

std::vector<Options> ways_to_restrict() {
  Options air, filtered, smoothed;
  air.method = "air";
  air.set("interpolation", "direct");
  filtered = air;
  filtered.set("coarse_filter", 0.01);
  smoothed.method = "aggregation";
  smoothed.set("restriction", "smoothed");
  return {air, filtered, smoothed};
}

// A restriction that is no transpose leaves the same round-off, in components as in one whole.
TEST(RoundOff, IsNotInvertedBehindAnyRestriction) {
  for (const auto& [n_chains, length] : {std::pair{GlobalIndex{20}, GlobalIndex{12}}, {1, 60}}) {
    const DenseMatrix values = chains(n_chains, length);
    const Layout layout = layouts_of(test_comm(), values.rows()).front();
    const auto A = std::make_shared<const DistMatrix<double>>(distribute(values, layout));
    const std::vector<double> b = part_of(layout, values * hashed(values.rows(), 7));
    for (Options options : ways_to_restrict()) {
      options.max_coarse_rows = static_cast<int>(n_chains);
      Hierarchy<double> hierarchy(A, options);
      for (const bool is_rebuilt : {false, true}) {
        if (is_rebuilt) hierarchy.rebuild(A);
        EXPECT_EQ(hierarchy.levels().back().coarse_solver, "direct, singular");
        std::vector<double> x(b.size());
        const auto report =
            solve::gmres<double>(solve::MatrixOperator<double>(A), &hierarchy, b, x, {});
        EXPECT_EQ(report.outcome, solve::Outcome::converged) << report.diagnosis;
        EXPECT_LE(report.iterations, 25);
      }
    }
  }
}

}  // namespace amg_round_off_test
}  // namespace nodewise::amg
