// Coarse matrices that lose entries, against the algorithms as they are printed.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/amg/relax/row_scales.hpp"
#include "nodewise/amg/setup/sparser_level.hpp"
#include "nodewise/amg/sparsify/sparsify.hpp"
#include "nodewise/comm/route/direct.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/mpi/ledger.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "cycle_support.hpp"
#include "sparsify_support.hpp"
#include "support.hpp"

namespace nodewise::amg {
namespace amg_sparsify_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::Dense;
using test::DenseMatrix;
using test::difference;
using test::expect_promises;
using test::gathered;
using test::largest_of;
using test::one_cycle;
using test::pattern_of;
using test::random_dominant;
using test::rules_of;
using test::shared;
using test::sparsified;
using test::strong_entries;
using test::test_comm;

/// What the diagonal of a row bears: its entries from the smallest on, as long as those that reduce
/// the diagonal are no more than half of it; the others are to stay.
void keep_for_diagonal(const DenseMatrix& A, Dense<int>& kept, GlobalIndex i) {
  std::vector<GlobalIndex> order;
  for (GlobalIndex j = 0; j < A.cols(); ++j) {
    if (j != i && A(i, j) != 0 && kept(i, j) == 0) order.push_back(j);
  }
  std::stable_sort(order.begin(), order.end(), [&](GlobalIndex a, GlobalIndex b) {
    return std::abs(A(i, a)) < std::abs(A(i, b));
  });
  double lost = 0;
  bool bears = true;
  for (const GlobalIndex j : order) {
    if (A(i, j) * A(i, i) < 0) lost += std::abs(A(i, j));
    bears = bears && lost <= 0.5 * std::abs(A(i, i));
    if (!bears) kept(i, j) = 1;
  }
}

/// Algorithm 4.1 up to its second loop: what is kept.
Dense<int> kept_entries(const DenseMatrix& A, const Dense<int>& minimal, double gamma,
                        bool guards_diagonal) {
  Dense<int> kept = minimal;
  if (guards_diagonal) {
    for (GlobalIndex i = 0; i < A.rows(); ++i) keep_for_diagonal(A, kept, i);
  }
  Dense<int> both(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      if (A(i, j) == 0) continue;
      const bool stays = i == j || kept(i, j) != 0 || std::abs(A(i, j)) >= gamma * largest_of(A, i);
      if (stays) both(i, j) = both(j, i) = 1;
    }
  }
  return both;
}

/// Algorithm 4.2.
DenseMatrix lumped_to_diagonal(const DenseMatrix& A, const Dense<int>& kept) {
  DenseMatrix left(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      if (A(i, j) != 0) left(i, kept(i, j) != 0 ? j : i) += A(i, j);
    }
  }
  return left;
}

/// Algorithm 4.1, and its rule that an entry without strong kept neighbours stays.
DenseMatrix lumped_to_strong(const DenseMatrix& A, Dense<int> kept) {
  const DenseMatrix S = strong_entries(A);
  const auto n = A.rows();
  const auto sum_of_kept = [&](const Dense<int>& of, GlobalIndex i, GlobalIndex j) {
    double sum = 0;
    for (GlobalIndex k = 0; k < n; ++k) sum += of(i, k) != 0 ? S(j, k) : 0;
    return sum;
  };
  const Dense<int> before = kept;
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (A(i, j) == 0 || before(i, j) != 0) continue;
      if (sum_of_kept(before, i, j) == 0) kept(i, j) = kept(j, i) = 1;
    }
  }
  DenseMatrix left(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      if (A(i, j) == 0) continue;
      if (kept(i, j) != 0) {
        left(i, j) += A(i, j);
        continue;
      }
      const double sum = sum_of_kept(kept, i, j);
      for (GlobalIndex k = 0; k < n; ++k) {
        if (kept(i, k) == 0 || S(j, k) == 0) continue;
        const double part = S(j, k) / sum * A(i, j);
        left(i, k) += part;
        left(k, i) += part;
        left(k, k) -= part;
      }
    }
  }
  return left;
}

DenseMatrix worked_example() {
  const double values[4][4] = {
      {4, -2, -.1, -1.9}, {-2, 4, -2, 0}, {-.1, -2, 4, -1.9}, {-1.9, 0, -1.9, 4}};
  DenseMatrix A(4, 4);
  for (GlobalIndex i = 0; i < 4; ++i) {
    for (GlobalIndex j = 0; j < 4; ++j) A(i, j) = values[i][j];
  }
  return A;
}

TEST(Sparsify, LumpsAnExampleByHand) {
  const DenseMatrix A = worked_example();
  DenseMatrix one(4, 4);
  for (GlobalIndex i = 0; i < 4; ++i) one(i, i) = 1;
  const auto dist = shared(test::distribute(A, Layout::uniform(test_comm(), 4)));
  const auto strong = sparsified(dist, one, rules_of<double>("strong", 0.1));
  ASSERT_TRUE(strong);
  const DenseMatrix S = gathered(*strong->A);
  EXPECT_NEAR(S(0, 1), -2.051282, 1e-6);
  EXPECT_NEAR(S(0, 3), -1.948718, 1e-6);
  EXPECT_NEAR(S(1, 1), 4.102564, 1e-6);
  EXPECT_NEAR(S(3, 3), 4.097436, 1e-6);
  EXPECT_EQ(S(0, 0), 4);
  EXPECT_EQ(S(0, 2), 0);
  const auto diagonal = sparsified(dist, one, rules_of<double>("diagonal", 0.1));
  ASSERT_TRUE(diagonal);
  DenseMatrix expected = A;
  expected(0, 0) = expected(2, 2) = 3.9;
  expected(0, 2) = expected(2, 0) = 0;
  EXPECT_LE(difference(gathered(*diagonal->A), expected), 1e-15);
}

template <class T>
void expect_as_printed(const Layout& rows, std::uint64_t seed, bool mixed) {
  const auto n = rows.n_global();
  DenseMatrix A = random_dominant(n, 0.4, seed, mixed);
  if (std::is_same_v<T, float>) {
    A = A.map<double>([](double value) { return static_cast<double>(static_cast<float>(value)); });
  }
  const DenseMatrix M = random_dominant(n, 0.1, seed + 9, false);
  const auto dist = shared(test::distribute<T>(A, rows));
  const double rounding = std::is_same_v<T, float> ? 1e-4 : 1e-12;
  for (const double gamma : {0.05, 0.3, 1.0}) {
    for (const std::string lumping : {"diagonal", "strong"}) {
      SCOPED_TRACE(testing::Message() << lumping << ", tolerance " << gamma << ", seed " << seed);
      const auto rules = rules_of<T>(lumping.c_str(), gamma);
      const bool to_diagonal = lumping == "diagonal";
      const Dense<int> kept = kept_entries(A, pattern_of(M), gamma, to_diagonal);
      const DenseMatrix expected =
          to_diagonal ? lumped_to_diagonal(A, kept) : lumped_to_strong(A, kept);
      bool loses_diagonal = false;
      for (GlobalIndex i = 0; i < n; ++i) {
        loses_diagonal = loses_diagonal || expected(i, i) < 0.5 * A(i, i);
      }
      const auto sparse = sparsified(dist, M, rules);
      if (expected == A || (!to_diagonal && loses_diagonal)) {
        EXPECT_FALSE(sparse);
        continue;
      }
      ASSERT_TRUE(sparse);
      EXPECT_LE(difference(gathered(*sparse->A), expected), rounding);
      EXPECT_EQ(pattern_of(gathered(*sparse->A)), pattern_of(expected));
      expect_promises(dist, *sparse, rules);
    }
  }
}

TEST(Sparsify, DropsAndLumpsAsPrinted) {
  for (const Layout& rows : test::layouts_of(test_comm(), 26)) {
    for (const std::uint64_t seed : {1, 2, 3}) expect_as_printed<double>(rows, seed, seed == 2);
    expect_as_printed<float>(rows, 4, false);
  }
}

/// L of A = L L^T exists: A is positive definite.
bool is_definite(DenseMatrix A) {
  for (GlobalIndex k = 0; k < A.rows(); ++k) {
    if (!(A(k, k) > 0)) return false;
    const double root = std::sqrt(A(k, k));
    for (GlobalIndex i = k; i < A.rows(); ++i) A(i, k) /= root;
    for (GlobalIndex j = k + 1; j < A.rows(); ++j) {
      for (GlobalIndex i = j; i < A.rows(); ++i) A(i, j) -= A(i, k) * A(j, k);
    }
  }
  return true;
}

// Theorem 4.1, remark 4.1: what is left of a connected, diagonally dominant matrix with a strictly
// dominant row is definite; one of a component of its own without such a row is singular.
TEST(Sparsify, KeepsDominantMatricesDefinite) {
  int n_dropped = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    DenseMatrix A = random_dominant(20, 0.35, 100 + seed, true);
    for (GlobalIndex i = 0; i < 20; ++i) A(i, i) += 1e-3;
    const auto dist = shared(test::distribute(A, Layout::uniform(test_comm(), 20)));
    DenseMatrix one(20, 20);
    for (GlobalIndex i = 0; i < 20; ++i) one(i, i) = 1;
    const auto sparse = sparsified(dist, one, rules_of<double>("diagonal", 1));
    if (!sparse) continue;
    ++n_dropped;
    const DenseMatrix left = gathered(*sparse->A);
    EXPECT_TRUE(is_definite(left)) << "seed " << seed;
    for (GlobalIndex i = 0; i < 20; ++i) {
      double sum = 0, sum_before = 0;
      for (GlobalIndex j = 0; j < 20; ++j) {
        sum += left(i, j);
        sum_before += A(i, j);
      }
      EXPECT_NEAR(sum, sum_before, 1e-12);
    }
  }
  EXPECT_GT(n_dropped, 90);
}

/// With it a hierarchy is the same on any number of ranks, but for round-off.
Options options_of(const std::string& method, const std::string& sparsification,
                   const std::string& lumping = "diagonal") {
  Options options;
  options.max_coarse_rows = 4;
  options.set("method", method);
  options.set(method == "aggregation" ? "aggregates" : "coarsening",
              method == "aggregation" ? "independent_set" : "pmis");
  options.set("smoother", "l1_jacobi");
  options.set("sparsification", sparsification);
  if (sparsification != "none") {
    options.set("lumping", lumping);
    // The small levels here are dominated by their diagonals.
    if (lumping == "hypre") options.set("hypre_lumping_row_sum", 1.0);
    options.set("drop_tolerance", "0.3,1");
  }
  return options;
}

std::shared_ptr<const DistMatrix<double>> problem(std::shared_ptr<const mpi::Comm> comm) {
  return shared(io::generate<double>(std::move(comm), {.problem = "rotated_fe", .n = 18}));
}

/// Calls f(options, A) for every form, lumping and method, on the first and the last map.
template <class F>
void for_all_forms(const F& f) {
  std::vector<test::NodeMap> maps = test::node_maps(test_comm()->size());
  if (maps.size() > 2) maps.erase(maps.begin() + 1, maps.end() - 1);
  for (const auto& map : maps) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const auto A = problem(comm);
    for (const SparsificationMethod& form : SparsificationMethod::family()) {
      if (!form.drops_entries || form.asks_costs) continue;
      for (const std::string method : {"classical", "aggregation"}) {
        for (const sparsify::LumpingMethod& lumping : sparsify::LumpingMethod::family()) {
          SCOPED_TRACE(map.name + ", " + *form.name + ", " + method + ", " + *lumping.name);
          f(options_of(method, form.name, lumping.name), A);
        }
      }
    }
  }
}

TEST(Sparsify, HierarchiesAreMadeOfGalerkinProducts) {
  for_all_forms([](const Options& options, const auto& A) {
    const Hierarchy<double> hierarchy(A, options);
    const bool goes_on = options.sparsification->goes_on_with_rest;
    int n_sparser = 0;
    for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
      const LevelInfo& info = hierarchy.levels()[l + 1];
      const auto next = hierarchy.matrix(l + 1);
      const auto product =
          shared(matrix::galerkin_product(*hierarchy.setup_matrix(l), *hierarchy.interpolation(l)));
      const DenseMatrix full = gathered(*product), left = gathered(*next);
      EXPECT_LE(difference(gathered(*hierarchy.setup_matrix(l + 1)), goes_on ? left : full), 1e-10);
      EXPECT_EQ(info.nonzeros, next->nnz_global());
      if (!info.sparsity) {
        EXPECT_LE(difference(left, full), 1e-10);
        continue;
      }
      ++n_sparser;
      EXPECT_EQ(info.sparsity->nonzeros, product->nnz_global());
      EXPECT_LT(info.nonzeros, info.sparsity->nonzeros);
      EXPECT_LE(info.sparsity->after.messages_off_node, info.sparsity->before.messages_off_node);
      EXPECT_EQ(info.sparsity->tolerance,
                drop_tolerance_of(options.sparsification, static_cast<int>(l) + 1));
      EXPECT_LE(difference(left, left.transpose()), 1e-10);  // the product is so up to rounding
    }
    EXPECT_GE(n_sparser, 2);
  });
}

bool is_same_on_any_ranks(const Options& options) {
  return options.sparsification.options<SparsificationOptions>().lumping->is_same_on_any_ranks;
}

TEST(Sparsify, HierarchiesAreTheSameOnAnyNumberOfRanks) {
  for_all_forms([](const Options& options, const auto& A) {
    if (!is_same_on_any_ranks(options)) return;
    const Hierarchy<double> here(A, options);
    const Hierarchy<double> alone(problem(test::self_comm()), options);
    ASSERT_EQ(here.levels().size(), alone.levels().size());
    for (std::size_t l = 0; l < here.levels().size(); ++l) {
      EXPECT_EQ(here.levels()[l].nonzeros, alone.levels()[l].nonzeros);
      EXPECT_LE(difference(gathered(*here.matrix(l)), gathered(*alone.matrix(l))), 1e-8);
    }
  });
}

TEST(Sparsify, RebuildsAreTheSameBitForBit) {
  for_all_forms([](Options options, const auto& A) {
    for (const Precision precision : {Precision::same, Precision::single}) {
      options.precision = precision;
      options.set("smoother", precision == Precision::same ? "chebyshev" : "l1_gauss_seidel");
      const Hierarchy<double> fresh(A, options);
      Hierarchy<double> hierarchy(A, options);
      Array<double> on = A->on().vals, off = A->off().vals;
      for (double& value : on) value *= 1.25;
      for (double& value : off) value *= 1.25;
      const auto B = shared(A->with_values(std::move(on), std::move(off)));
      for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
        hierarchy.rebuild(B, reuse);
        EXPECT_NE(one_cycle(hierarchy), one_cycle(fresh));
        hierarchy.rebuild(A, reuse);
        EXPECT_EQ(one_cycle(hierarchy), one_cycle(fresh));
        // A copy of what is kept in float is not what rebuild() has just computed.
        for (std::size_t l = 0; precision == Precision::same && l < fresh.levels().size(); ++l) {
          test::expect_same_bits(*hierarchy.matrix(l), *fresh.matrix(l));
        }
      }
    }
  });
}

// Bienz 2018, example 4.1, with levels 1 to 6 as it counts operators, and two levels at a time.
TEST(Sparsify, LowersTolerancesStepByStep) {
  const std::vector<std::vector<double>> steps = {
      {0, 0.01, 0.1, 1, 1, 1}, {0, 0, 0.01, 1, 1, 1}, {0, 0, 0, 0.1, 1, 1},
      {0, 0, 0, 0.01, 0.1, 1}, {0, 0, 0, 0, 0.01, 1}, {0, 0, 0, 0, 0, 0.1},
      {0, 0, 0, 0, 0, 0.01},   {0, 0, 0, 0, 0, 0},    {0, 0, 0, 0, 0, 0}};
  for (std::size_t k = 0; k + 1 < steps.size(); ++k) {
    const std::vector<double> lower = lower_tolerances(steps[k], 2);
    ASSERT_EQ(lower.size(), steps[k + 1].size());
    for (std::size_t l = 0; l < lower.size(); ++l) EXPECT_NEAR(lower[l], steps[k + 1][l], 1e-15);
  }
  EXPECT_EQ(lower_tolerances({}, 1), std::vector<double>{});
}

/// A hierarchy's tolerances as an option.
std::string tolerances_of(const Hierarchy<double>& hierarchy) {
  std::string list;
  for (std::size_t l = 1; l < hierarchy.levels().size(); ++l) {
    const auto& sparsity = hierarchy.levels()[l].sparsity;
    list += (l > 1 ? "," : "") + std::to_string(sparsity ? sparsity->tolerance : 0);
  }
  return list;
}

/// To the bit; in single precision up to rounding, since the scales of l1 forms may be sums of
/// entries that were rounded.
void expect_same_cycle(const Hierarchy<double>& hierarchy, const std::vector<double>& expected) {
  const std::vector<double> cycle = one_cycle(hierarchy);
  if (!hierarchy.precision().single) {
    EXPECT_EQ(cycle, expected);
    return;
  }
  ASSERT_EQ(cycle.size(), expected.size());
  for (std::size_t i = 0; i < cycle.size(); ++i) EXPECT_NEAR(cycle[i], expected[i], 1e-5);
}

/// Expects the levels of `hierarchy` to be those of a setup with its tolerances.
void expect_as_set_up(const Hierarchy<double>& hierarchy, Options options,
                      const std::shared_ptr<const DistMatrix<double>>& A) {
  options.set("drop_tolerance", tolerances_of(hierarchy));
  const Hierarchy<double> fresh(A, options);
  ASSERT_EQ(hierarchy.levels().size(), fresh.levels().size());
  for (std::size_t l = 0; l < fresh.levels().size(); ++l) {
    const LevelInfo &a = hierarchy.levels()[l], &b = fresh.levels()[l];
    EXPECT_EQ(a.nonzeros, b.nonzeros);
    EXPECT_EQ(a.traffic.messages_off_node, b.traffic.messages_off_node);
    EXPECT_EQ(a.max_messages, b.max_messages);
    ASSERT_EQ(a.sparsity == nullptr, b.sparsity == nullptr);
    if (a.sparsity) {
      EXPECT_EQ(a.sparsity->nonzeros, b.sparsity->nonzeros);
      EXPECT_EQ(a.sparsity->before.messages_off_node, b.sparsity->before.messages_off_node);
      EXPECT_EQ(a.sparsity->after.entries_off_node, b.sparsity->after.entries_off_node);
    }
    if (hierarchy.precision().single) continue;  // copies of what is kept in float
    test::expect_same_bits(*hierarchy.matrix(l), *fresh.matrix(l));
  }
  expect_same_cycle(hierarchy, one_cycle(fresh));
}

TEST(Sparsify, EntriesComeBackAsIfTheyHadNotGone) {
  for_all_forms([](Options options, const auto& A) {
    const auto& own = options.sparsification.template options<SparsificationOptions>();
    // With the pattern of what is left above, a denser level above keeps more on this one.
    if (options.sparsification->pattern_of_rest || !own.lumping->changes_diagonal_only) return;
    for (const char* smoother : {"l1_gauss_seidel", "chebyshev"}) {
      for (const Precision precision : {Precision::same, Precision::single}) {
        for (const char* ranks : {"", "3,2,1"}) {
          if (precision == Precision::single && *ranks != '\0') continue;
          options.precision = precision;
          options.set("smoother", smoother);
          options.set("drop_tolerance", "1");
          options.set("redistribution", *ranks == '\0' ? "none" : "ranks");
          if (*ranks != '\0') options.set("active_ranks", ranks);
          Hierarchy<double> hierarchy(A, options);
          int n_steps = 0;
          while (!hierarchy.put_entries_back(2).empty()) {
            ++n_steps;
            expect_as_set_up(hierarchy, options, A);
            ASSERT_LT(n_steps, 20);
          }
          EXPECT_GE(n_steps, 3);
          const std::vector<double> before = one_cycle(hierarchy);
          hierarchy.rebuild(A);
          expect_same_cycle(hierarchy, before);
        }
      }
    }
  });
}

// Nothing is below a tenth of the tolerance, so that all is back before the tolerance is nothing.
TEST(Sparsify, NothingMayBeLeftToComeBack) {
  const auto A = shared(io::generate<double>(test_comm(), {.problem = "rotated_fe", .n = 40}));
  Options options = options_of("classical", "sparse_galerkin");
  options.set("drop_tolerance", "0.11");
  Hierarchy<double> hierarchy(A, options);
  int n_steps = 0;
  while (!hierarchy.put_entries_back(1).empty()) ASSERT_LT(++n_steps, 30);
  for (std::size_t l = 0; l < hierarchy.levels().size(); ++l) {
    EXPECT_EQ(hierarchy.levels()[l].sparsity, nullptr);
    EXPECT_EQ(hierarchy.levels()[l].nonzeros, hierarchy.galerkin_matrix(l)->nnz_global());
  }
}

TEST(Sparsify, EntriesComeBackWithAnyLumping) {
  for_all_forms([](const Options& options, const auto& A) {
    Hierarchy<double> hierarchy(A, options);
    std::vector<GlobalIndex> full;
    for (const LevelInfo& info : hierarchy.levels()) {
      full.push_back(info.sparsity ? info.sparsity->nonzeros : info.nonzeros);
    }
    while (!hierarchy.put_entries_back(1).empty()) {
    }
    for (std::size_t l = 0; l < full.size(); ++l) {
      EXPECT_EQ(hierarchy.levels()[l].nonzeros, full[l]);
      EXPECT_EQ(hierarchy.levels()[l].sparsity, nullptr);
      if (options.sparsification->goes_on_with_rest) continue;
      EXPECT_EQ(hierarchy.matrix(l)->nnz_global(), hierarchy.galerkin_matrix(l)->nnz_global());
    }
    const std::vector<double> before = one_cycle(hierarchy);
    hierarchy.rebuild(A);
    if (!options.sparsification->goes_on_with_rest) {
      EXPECT_EQ(one_cycle(hierarchy), before);
    }
  });
}

TEST(Sparsify, LevelsOnFewerRanksAreTheSame) {
  for_all_forms([](Options options, const auto& A) {
    const Hierarchy<double> there(A, options);
    for (const bool redundant : {false, true}) {
      options.set("redistribution", "ranks");
      options.set("active_ranks", "3,2,1");
      options.set("redundant", redundant);
      Hierarchy<double> fewer(A, options);
      const std::vector<double> before = one_cycle(fewer);
      // Ranks that do not follow each other on their nodes number their rows anew.
      const bool keeps_numbers = A->comm().topology().n_nodes() == 1;
      if (keeps_numbers && !redundant && is_same_on_any_ranks(options)) {
        ASSERT_EQ(there.levels().size(), fewer.levels().size());
        for (std::size_t l = 0; l < there.levels().size(); ++l) {
          EXPECT_EQ(there.levels()[l].nonzeros, fewer.levels()[l].nonzeros);
        }
      }
      fewer.rebuild(A);
      EXPECT_EQ(one_cycle(fewer), before);
      fewer.rebuild(A, Reuse::splitting);
      EXPECT_EQ(one_cycle(fewer), before);
    }
  });
}

/// Sums arrive in another order, also those of estimates of spectral radii.
void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-7);
}

TEST(Sparsify, NodeAwareRoutesBringTheSame) {
  for_all_forms([](Options options, const auto& A) {
    const std::vector<double> direct = one_cycle(Hierarchy<double>(A, options));
    options.route = "three_step";
    Hierarchy<double> hierarchy(A, options);
    expect_near(one_cycle(hierarchy), direct);
    hierarchy.rebuild(A);
    expect_near(one_cycle(hierarchy), direct);
  });
}

TEST(Sparsify, DropsBlocksOfSystemsAndKeepsTheFirstVector) {
  for (const std::string form : {"non_galerkin", "sparse_galerkin", "hybrid_galerkin"}) {
    Options options = options_of("aggregation", form);
    options.unknowns = 2;
    options.set("smoother", "l1_gauss_seidel");
    const auto A = shared(io::generate<double>(test_comm(), {.problem = "rotated_fe", .n = 24}));
    ProblemInfo<double> info;
    info.near_null_space.n_vectors = 3;
    for (GlobalIndex i = A->rows().begin(); i < A->rows().end(); ++i) {
      const auto at = static_cast<double>(i / 2) / 288;
      info.near_null_space.values.insert(
          info.near_null_space.values.end(),
          {i % 2 == 0 ? 1.0 : 0.5, i % 2 == 0 ? 0.0 : 1.0, i % 2 == 0 ? at : -at});
    }
    if (A->n_local() % 2 != 0) continue;  // points are whole on ranks
    if (mpi::max(A->comm(), static_cast<std::int64_t>(A->rows().begin() % 2)) != 0) continue;
    Hierarchy<double> hierarchy(A, options, info);
    const auto& levels = hierarchy.levels();
    const bool loses = std::any_of(levels.begin(), levels.end(),
                                   [](const LevelInfo& level) { return bool{level.sparsity}; });
    EXPECT_TRUE(loses);
    for (std::size_t l = 1; l < levels.size(); ++l) {
      if (!levels[l].sparsity) continue;
      const DenseMatrix left = gathered(*hierarchy.matrix(l));
      EXPECT_LE(difference(left, left.transpose()), 1e-10);
      EXPECT_EQ(levels[l].nonzeros % 9, 0);  // whole blocks of 3
    }
    const std::vector<double> before = one_cycle(hierarchy);
    hierarchy.rebuild(A);
    EXPECT_EQ(one_cycle(hierarchy), before);
  }
}

/// Which entries go as a whole: those between two ends, ranks or nodes, that are on different
/// nodes, the lightest first, as long as no row loses more than tau of its sum, or more than half
/// of its diagonal; and those between two ends of which both say so.
Dense<int> kept_by_messages(const DenseMatrix& A, const std::vector<int>& rank_of_row,
                            const mpi::Topology& topology, bool by_nodes, double tau) {
  const GlobalIndex n = A.rows();
  const auto end_of = [&](GlobalIndex i) {
    const int rank = rank_of_row[static_cast<std::size_t>(i)];
    return by_nodes ? topology.node(rank) : rank;
  };
  const auto far = [&](GlobalIndex i, GlobalIndex j) {
    return !topology.same_node(rank_of_row[static_cast<std::size_t>(i)],
                               rank_of_row[static_cast<std::size_t>(j)]);
  };
  const int n_ends = topology.n_ranks();
  Dense<int> goes(n_ends, n_ends);
  for (int end = 0; end < n_ends; ++end) {
    std::vector<std::pair<double, int>> order;
    for (int other = 0; other < n_ends; ++other) {
      double weight = 0;
      for (GlobalIndex i = 0; i < n; ++i) {
        for (GlobalIndex j = 0; j < n; ++j) {
          if (end_of(i) == end && end_of(j) == other && far(i, j)) weight += std::abs(A(i, j));
        }
      }
      if (weight > 0) order.emplace_back(weight, other);
    }
    std::sort(order.begin(), order.end());
    DenseMatrix lost(n), taken(n);
    bool may_go = true;
    for (const auto& [weight, other] : order) {
      for (GlobalIndex i = 0; i < n; ++i) {
        double sum = 0;
        for (GlobalIndex j = 0; j < n; ++j) {
          if (j != i) sum += std::abs(A(i, j));
          if (end_of(i) != end || end_of(j) != other || !far(i, j)) continue;
          lost[i] += std::abs(A(i, j));
          if (A(i, j) < 0) taken[i] -= A(i, j);
        }
        may_go =
            may_go && lost[i] < tau * sum + (lost[i] == 0 ? 1 : 0) && taken[i] <= 0.5 * A(i, i);
      }
      if (may_go) goes(end, other) = 1;
    }
  }
  Dense<int> kept(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < n; ++j) {
      const bool gone =
          far(i, j) && goes(end_of(i), end_of(j)) != 0 && goes(end_of(j), end_of(i)) != 0;
      kept(i, j) = A(i, j) != 0 && !gone ? 1 : 0;
    }
  }
  return kept;
}

TEST(Sparsify, DropsWholeMessagesBetweenNodes) {
  const GlobalIndex n = 40;
  const int n_ranks = test_comm()->size();
  const DenseMatrix A = random_dominant(n, 0.15, 21, false);
  DenseMatrix one(n, n);
  for (GlobalIndex i = 0; i < n; ++i) one(i, i) = 1;
  for (const auto& map : test::node_maps(n_ranks)) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Layout rows = Layout::uniform(comm, n);
    const auto dist = shared(test::distribute(A, rows));
    const Layout all = Layout::uniform(test::self_comm(), n);
    const auto alone = shared(test::distribute(A, all));
    std::vector<int> rank_of_row;
    for (GlobalIndex i = 0; i < n; ++i) rank_of_row.push_back(rows.owner(i));
    for (const bool by_nodes : {false, true}) {
      for (const double tau : {0.1, 0.4, 0.9}) {
        SCOPED_TRACE(testing::Message() << map.name << ", by nodes " << by_nodes << ", " << tau);
        const DenseMatrix expected = lumped_to_diagonal(
            A, kept_by_messages(A, rank_of_row, comm->topology(), by_nodes, tau));
        auto rules = rules_of<double>("diagonal", tau);
        rules.drop = "messages";
        rules.places = {.starts = rows.starts(),
                        .topology = &comm->topology(),
                        .is_virtual = false,
                        .by_nodes = by_nodes};
        const auto sparse = sparsified(dist, one, rules);
        rules.places.is_virtual = true;
        const auto of_virtual_ranks = sparsified(alone, one, rules);
        EXPECT_EQ(sparse.has_value(), expected != A);
        EXPECT_EQ(of_virtual_ranks.has_value(), expected != A);
        if (!sparse || !of_virtual_ranks) continue;
        EXPECT_LE(difference(gathered(*sparse->A), expected), 1e-12);
        EXPECT_LE(difference(gathered(*of_virtual_ranks->A), expected), 1e-12);
        rules.places.is_virtual = false;
        expect_promises(dist, *sparse, rules);
        EXPECT_LT(sparse->A->nnz_global(), dist->nnz_global());
      }
    }
  }
}

/// The ranks of a matrix as virtual ones.
ProblemInfo<double> virtual_ranks_of(const DistMatrix<double>& A) {
  ProblemInfo<double> info;
  info.virtual_starts.assign(A.rows().starts().begin(), A.rows().starts().end());
  info.virtual_topology = std::make_shared<const mpi::Topology>(A.comm().topology());
  return info;
}

TEST(Sparsify, HierarchiesDropMessagesAsVirtualRanksDo) {
  if (test_comm()->size() < 2) GTEST_SKIP() << "there are no messages";
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    if (comm->topology().n_nodes() < 2) continue;
    for (const char* route : {"direct", "three_step"}) {
      SCOPED_TRACE(map.name + ", " + route);
      Options options = options_of("classical", "hybrid_galerkin");
      options.set("drop", "messages");
      options.set("drop_loss", "0.3");
      options.set("interpolation", "classical");
      options.set("max_interpolation_entries", 0);
      options.route = route;
      const auto A = problem(comm);
      Hierarchy<double> hierarchy(A, options);
      const Hierarchy<double> alone(problem(test::self_comm()), options, virtual_ranks_of(*A));
      ASSERT_EQ(hierarchy.levels().size(), alone.levels().size());
      for (std::size_t l = 0; l < alone.levels().size(); ++l) {
        EXPECT_EQ(hierarchy.levels()[l].nonzeros, alone.levels()[l].nonzeros);
      }
      const std::vector<double> before = one_cycle(hierarchy);
      hierarchy.rebuild(A);
      EXPECT_EQ(one_cycle(hierarchy), before);
      hierarchy.rebuild(A, Reuse::splitting);
      EXPECT_EQ(one_cycle(hierarchy), before);
    }
  }
}

TEST(Sparsify, KeepsAVectorThatIsNotConstant) {
  const GlobalIndex n = 24;
  const DenseMatrix A = random_dominant(n, 0.5, 77, true);
  DenseMatrix one(n, n), vector(n);
  for (GlobalIndex i = 0; i < n; ++i) {
    one(i, i) = 1;
    vector[i] = 0.5 + hash_uniform(static_cast<std::uint64_t>(i), 3);
  }
  for (const int unknowns : {1, 2, 3}) {
    const auto parts = comm::uniform_starts(n / unknowns, test_comm()->size());
    std::vector<GlobalIndex> starts;
    for (const GlobalIndex start : parts) starts.push_back(start * unknowns);
    const Layout rows(test_comm(), starts);
    DenseMatrix full = A;
    for (GlobalIndex i = 0; i < n; ++i) {  // diagonal blocks are full
      for (GlobalIndex j = i - i % unknowns; j < i - i % unknowns + unknowns; ++j) {
        if (full(i, j) == 0) full(i, j) = full(j, i) = 0.01;
      }
      full(i, i) += 2;
    }
    const auto dist = shared(test::distribute(full, rows));
    std::vector<double> mine(vector.data() + rows.begin(), vector.data() + rows.end());
    auto rules = rules_of<double>("diagonal", 1);
    rules.unknowns = unknowns;
    rules.has_kept_vector = true;
    rules.kept_vector = mine;
    const DistMatrix<double> fine = test::distribute(one, rows);
    std::vector<LocalIndex> all(mine.size());
    std::iota(all.begin(), all.end(), 0);
    const auto sparse = sparsify::sparsify<double>(
        dist,
        {.A = fine, .P = fine, .coarse_rows = all, .unknowns = 1, .coarse_unknowns = unknowns},
        rules);
    ASSERT_TRUE(sparse);
    const DenseMatrix left = gathered(*sparse->A);
    EXPECT_LE(difference(left * vector, full * vector), 1e-12);
    EXPECT_LE(difference(left, left.transpose()), 1e-15);
    test::expect_same_bits(*sparsify::restored(*sparse->A, sparse->lost), *dist);
    test::expect_same_bits(*sparsify::sparsify_alike(dist, *sparse, rules).A, *sparse->A);
  }
}

/// Collective. The cycle as a matrix.
DenseMatrix cycle_matrix(const MixedPrecisionCycle<double>& cycle, const Layout& rows) {
  const GlobalIndex n = rows.n_global();
  DenseMatrix B(n, n);
  for (GlobalIndex j = 0; j < n; ++j) {
    std::vector<double> e(static_cast<std::size_t>(rows.n_local()), 0), x = e;
    if (rows.owns(j)) e[static_cast<std::size_t>(rows.to_local(j))] = 1;
    cycle.apply(e, x);
    B.put(0, j, gathered(rows.comm(), x));
  }
  return B;
}

/// A symmetric matrix with a positive diagonal that is far from definite.
DenseMatrix indefinite_matrix(GlobalIndex n, std::uint64_t seed) {
  DenseMatrix A = random_dominant(n, 0.4, seed, true);
  for (GlobalIndex i = 0; i < n; ++i) {
    A(i, i) = 0.2 + hash_uniform(static_cast<std::uint64_t>(i), seed + 5);
  }
  return A;
}

// The cycle M~^-1 + (I - M^-T A^) P B_c P^T (I - A^ M^-1) is definite where M + M^T - A^ is and B_c
// is semidefinite, whatever A^ is.
TEST(Sparsify, CyclesAreDefiniteWhereWhatIsLeftIsNot) {
  const GlobalIndex n = 24, n_coarse = 8;
  const Layout rows = Layout::uniform(test_comm(), n),
               coarse = Layout::uniform(test_comm(), n_coarse);
  DenseMatrix dominant = random_dominant(n_coarse, 0.5, 11, false);
  for (GlobalIndex i = 0; i < n_coarse; ++i) dominant(i, i) += 0.1;
  const auto A_c = shared(test::distribute(dominant, coarse));
  Options options;
  options.coarse_solve = "every_rank";
  int n_safe = 0;
  for (const relax::SmootherMethod& smoother : relax::SmootherMethod::family()) {
    if (!smoother.is_safe_where_indefinite) continue;
    ++n_safe;
    options.smoother = smoother;
    relax::set_order(options.smoother, resolved(SweepOrder::automatic, true));
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(testing::Message() << *smoother.name << ", seed " << seed);
      const DenseMatrix whole = indefinite_matrix(n, seed);
      ASSERT_FALSE(is_definite(whole));
      const auto A = shared(test::distribute(whole, rows));
      const auto P = shared(test::RandomMatrix<double>(rows, coarse, 0.2, seed).dist);
      MixedPrecisionCycle<double> cycle(*A, A_c.get(), options, true);
      const auto scales = relax::row_scales<double>(A->comm(), std::vector{A.get()});
      LevelParts<double> parts;
      parts.A = A;
      parts.P = P;
      parts.facts.is_symmetric = true;
      parts.facts.scales = &scales[0];
      cycle.add_smoothed(parts);
      cycle.add_direct(A_c, {});
      const DenseMatrix B = cycle_matrix(cycle, rows);
      EXPECT_LE(difference(B, B.transpose()), 1e-9 * largest_of(B, 0));
      EXPECT_TRUE(is_definite(B));
    }
  }
  EXPECT_EQ(n_safe, 2);
}

TEST(Sparsify, CostsSayWhatIsWorthDropping) {
  using sparsify::best_cost;
  using sparsify::growth_of_iterations;
  EXPECT_EQ(growth_of_iterations(0), 1);
  EXPECT_DOUBLE_EQ(growth_of_iterations(0.1), 1.11);
  // The levels below are taken for as dear as this one: 3 s a cycle.
  sparsify::KnownCycle cycle{.finer_s = 1, .level_s = 1, .cycles = 10, .price_s = 0};
  const auto best = [&](std::vector<sparsify::SparserCost> costs) {
    const sparsify::BestCost found = best_cost(cycle, costs);
    return found.pays ? static_cast<int>(found.best) : -1;
  };
  EXPECT_EQ(best({{0.94, 0}}), 0);
  EXPECT_EQ(best({{0.96, 0}}), -1);            // less than a twentieth of the level
  EXPECT_EQ(best({{0.8, 0}, {0.5, 0}}), 1);    // what saves most
  EXPECT_EQ(best({{0.8, 0}, {0.5, 0.2}}), 0);  // 2.5 s, a third longer
  EXPECT_EQ(best({{0.5, 0.3}}), -1);
  cycle.finer_s = 100;
  EXPECT_EQ(best({{0.5, 0}}), -1);  // less than a hundredth of the cycle
  cycle.finer_s = 1;
  cycle.price_s = 6;
  EXPECT_EQ(best({{0.5, 0}}), -1);
  cycle.cycles = 100;
  EXPECT_EQ(best({{0.5, 0}}), 0);
}

/// Messages between nodes take so long, and all else next to nothing.
std::shared_ptr<const model::Machine> machine_of(double between_nodes_s) {
  model::Machine machine;
  machine.name = "test";
  machine.path(model::Locality::same_node)[0] = model::MessageParameters{1e-9, 1e12};
  machine.path(model::Locality::other_node)[0] = model::MessageParameters{between_nodes_s, 1e12};
  machine.s_per_flop_by_level = {1e-11};
  return std::make_shared<const model::Machine>(machine);
}

Options options_by_cost(const comm::Route& route) {
  Options options = options_of("classical", "none");
  options.set("sparsification", "automatic");
  options.set("interpolation", "classical");
  options.set("max_interpolation_entries", 0);
  options.route = route;
  options.machine = machine_of(1e-4);
  return options;
}

TEST(Sparsify, CostsDecideOnVirtualRanksAsOnRealOnes) {
  int n_sparser = 0, n_nodes = 0;
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    n_nodes = std::max(n_nodes, comm->topology().n_nodes());
    for (const char* route : {"direct", "two_step"}) {
      SCOPED_TRACE(map.name + ", " + route);
      const Options options = options_by_cost(route);
      const auto A = problem(comm);
      Hierarchy<double> hierarchy(A, options);
      const Hierarchy<double> alone(problem(test::self_comm()), options, virtual_ranks_of(*A));
      ASSERT_EQ(hierarchy.levels().size(), alone.levels().size());
      EXPECT_EQ(hierarchy.levels()[0].sparsity_choice, nullptr);
      for (std::size_t l = 1; l + 1 < alone.levels().size(); ++l) {
        const LevelInfo &here = hierarchy.levels()[l], &there = alone.levels()[l];
        ASSERT_TRUE(here.sparsity_choice && there.sparsity_choice);
        const sparsify::SparsityDecision &real = *here.sparsity_choice,
                                         &virtually = *there.sparsity_choice;
        EXPECT_EQ(real.drop, virtually.drop);
        EXPECT_EQ(real.tolerance, virtually.tolerance);
        EXPECT_EQ(real.by_nodes, virtually.by_nodes);
        EXPECT_NEAR(real.full_s, virtually.full_s, 1e-6 * real.full_s);
        EXPECT_NEAR(real.sparse_s, virtually.sparse_s, 1e-6 * real.sparse_s);
        EXPECT_EQ(here.nonzeros, there.nonzeros);
        EXPECT_EQ(here.sparsity != nullptr, real.tolerance > 0);
        EXPECT_FALSE(real.reason.empty());
        if (comm->topology().n_nodes() == 1) {
          EXPECT_EQ(real.reason, "all rows are on one node");
        }
        n_sparser += here.sparsity ? 1 : 0;
      }
      const std::vector<double> before = one_cycle(hierarchy);
      for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
        hierarchy.rebuild(A, reuse);
        EXPECT_EQ(one_cycle(hierarchy), before);
      }
    }
  }
  if (n_nodes < 2) {
    EXPECT_EQ(n_sparser, 0);
  } else if (test_comm()->size() >= 6) {  // between few nodes a message is for too many entries
    EXPECT_GT(n_sparser, 0);
  }
}

/// The steps with other nodes that this rank has waited for in an operation on a level.
std::int64_t waits_of(mpi::Ledger& ledger, const std::string& operation, std::size_t level) {
  std::int64_t waits = 0;
  for (const mpi::Account& account : ledger.accounts()) {
    if (account.operation == operation && std::cmp_equal(account.level, level)) {
      waits += account.counts.waits;
    }
  }
  return waits;
}

/// Collective. Likewise in one reduction.
std::int64_t waits_of_a_reduction(const mpi::Comm& comm) {
  const std::int64_t before = comm.ledger().waits();
  mpi::sum(comm, 1.0);
  return comm.ledger().waits() - before;
}

bool has_neighbours_on_other_nodes(const DistMatrix<double>& A) {
  const comm::Pattern pattern = comm::route::pattern_of(A.exchange().plan());
  const auto is_far = [&](int rank) {
    return !A.comm().topology().same_node(rank, A.comm().rank());
  };
  return std::any_of(pattern.send_ranks.begin(), pattern.send_ranks.end(), is_far) ||
         std::any_of(pattern.recv_ranks.begin(), pattern.recv_ranks.end(), is_far);
}

// One exchange for all rules, and two reductions; a third where entries go, and two of the finest
// level.
TEST(Sparsify, AskingForCostsWaitsForOneExchangeAndTwoReductions) {
  int n_asked = 0;
  for (const auto& map : test::node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const std::int64_t of_reduction = waits_of_a_reduction(*comm);
    const auto A = problem(comm);
    Options options = options_by_cost("direct");
    options.set("sparsification", "none");
    const Hierarchy<double> whole(A, options);
    for (const char* route : {"direct", "two_step"}) {
      SCOPED_TRACE(map.name + ", " + route);
      comm->ledger().clear();
      const Hierarchy<double> hierarchy(A, options_by_cost(route));
      ASSERT_EQ(hierarchy.levels().size(), whole.levels().size());
      for (std::size_t l = 1; l + 1 < whole.levels().size(); ++l) {
        const LevelInfo& info = hierarchy.levels()[l];
        if (info.sparsity_choice->full_s == 0) continue;
        ++n_asked;
        const int reductions = 2 + (info.sparsity_choice->tolerance > 0 ? 1 : 0) + (l == 1 ? 2 : 0);
        EXPECT_EQ(
            waits_of(comm->ledger(), "sparsification", l - 1),
            (has_neighbours_on_other_nodes(*whole.matrix(l)) ? 1 : 0) + reductions * of_reduction);
      }
    }
  }
  if (test_comm()->size() > 2) {
    EXPECT_GT(n_asked, 0);
  }
}

TEST(Sparsify, CostsDropNothingOnOneNodeAndOfNonsymmetricMatrices) {
  const auto comm = mpi::Comm::create(
      MPI_COMM_WORLD, std::vector<int>(static_cast<std::size_t>(test_comm()->size()), 0));
  Options options = options_by_cost("direct");
  const std::vector<double> by_cost = one_cycle(Hierarchy<double>(problem(comm), options));
  options.set("sparsification", "none");
  EXPECT_EQ(by_cost, one_cycle(Hierarchy<double>(problem(comm), options)));
  options = options_by_cost("direct");
  const auto flow = shared(io::generate<double>(comm, {.problem = "convection2d", .n = 18}));
  const Hierarchy<double> nonsymmetric(flow, options);
  ASSERT_GT(nonsymmetric.levels().size(), 2U);
  EXPECT_EQ(nonsymmetric.levels()[1].sparsity_choice->reason, "the matrix is not symmetric");
  EXPECT_EQ(nonsymmetric.levels()[1].sparsity, nullptr);
}

TEST(Sparsify, CostsDecideForSystemsToo) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    SCOPED_TRACE(map.name);
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    Options options = options_by_cost("direct");
    options.set("method", "aggregation");
    options.unknowns = 3;
    const auto A = shared(io::generate<double>(comm, {.problem = "beam", .n = 3}));
    const Hierarchy<double> hierarchy(A, options);
    for (std::size_t l = 1; l < hierarchy.levels().size(); ++l) {
      const LevelInfo& info = hierarchy.levels()[l];
      if (!info.sparsity) continue;
      EXPECT_GT(info.sparsity_choice->tolerance, 0);
      EXPECT_LT(info.sparsity->after.messages_off_node, info.sparsity->before.messages_off_node);
    }
  }
}

TEST(Sparsify, RefusesWhatItDoesNotKnow) {
  const auto A = problem(test_comm());
  Options air = options_of("classical", "sparse_galerkin");
  air.set("method", "air");
  test::expect_same_error(*test_comm(), ErrorCode::unsupported, [&] { Hierarchy<double>(A, air); });
  Options smoothed = options_of("aggregation", "hybrid_galerkin");
  smoothed.set("restriction", "smoothed");
  test::expect_same_error(*test_comm(), ErrorCode::unsupported,
                          [&] { Hierarchy<double>(A, smoothed); });
  for (const char* list : {"-0.1", "1.5", "nan", "", "0.1,x", "0.1,,1"}) {
    Options options = options_of("classical", "sparse_galerkin");
    EXPECT_THROW(options.set("drop_tolerance", list), Error) << list;
  }
  Options by_cost = options_by_cost("direct");
  ProblemInfo<double> virtually;
  virtually.virtual_starts = {0, 100, 324};
  EXPECT_THROW(Hierarchy<double>(problem(test::self_comm()), by_cost, virtually), Error);
  virtually.virtual_topology = std::make_shared<const mpi::Topology>(std::vector<int>{0, 1});
  by_cost.machine = nullptr;
  EXPECT_THROW(Hierarchy<double>(problem(test::self_comm()), by_cost, virtually), Error);
  auto rules = rules_of<double>("strong", 0.5);
  rules.unknowns = 2;
  DenseMatrix one(8, 8);
  for (GlobalIndex i = 0; i < 8; ++i) one(i, i) = 1;
  const auto dist = shared(test::distribute(one, Layout::uniform(test_comm(), 8)));
  test::expect_same_error(*test_comm(), ErrorCode::unsupported,
                          [&] { sparsified(dist, one, rules); });
}

}  // namespace amg_sparsify_test
}  // namespace nodewise::amg
