// Facts of matrices, the table of presets, and the rule that chooses among them.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/setup/input_check.hpp"
#include "nodewise/solver/presets.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "mpi_counter.hpp"
#include "problem_support.hpp"
#include "smoother_support.hpp"
#include "threads_support.hpp"

namespace nodewise::amg {
namespace amg_presets_test {

using matrix::Layout;
using test::DenseMatrix;
using test::distribute;
using test::expect_same_error;
using test::layouts_of;
using test::test_comm;

/// L (x) B: points coupled as in L, each of the unknowns of B.
DenseMatrix kronecker(const DenseMatrix& L, const DenseMatrix& B) {
  DenseMatrix A(L.rows() * B.rows(), L.cols() * B.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      A(i, j) = L(i / B.rows(), j / B.cols()) * B(i % B.rows(), j % B.cols());
    }
  }
  return A;
}

/// Symmetric and positive definite, no entry zero.
DenseMatrix full_block(GlobalIndex k) {
  DenseMatrix B(k, k);
  for (GlobalIndex i = 0; i < k; ++i) {
    for (GlobalIndex j = 0; j < k; ++j) B(i, j) = i == j ? 2.0 : 0.3;
  }
  return B;
}

/// Whole points of k rows on every rank.
Layout point_layout(GlobalIndex n, int k) {
  return comm::uniform_points(test_comm(), n, k);
}

advise::ProblemFacts facts_on(const DenseMatrix& A, const Layout& layout) {
  return advise::problem_facts(distribute(A, layout));
}

advise::ProblemFacts facts_of(const DenseMatrix& A) {
  return facts_on(A, Layout::uniform(test_comm(), A.rows()));
}

TEST(ProblemFacts, OfALaplacian) {
  const advise::ProblemFacts facts = facts_of(test::model("laplace5", 6));
  EXPECT_EQ(facts.rows, 36);
  EXPECT_EQ(facts.nonzeros, 5 * 36 - 4 * 6);
  EXPECT_TRUE(facts.symmetric);
  EXPECT_EQ(facts.asymmetry, 0);
  EXPECT_TRUE(facts.has_signs_of_m_matrix());
  EXPECT_DOUBLE_EQ(facts.zero_sum_share, 16.0 / 36);  // the inner points
  EXPECT_DOUBLE_EQ(facts.dominant_share, 1);
  EXPECT_DOUBLE_EQ(facts.mean_row, 156.0 / 36);
  EXPECT_EQ(facts.longest_row, 5);
  EXPECT_DOUBLE_EQ(facts.even_share, 1);
  EXPECT_EQ(facts.unknowns, 1);
}

TEST(ProblemFacts, AreTheSameOnAnyLayout) {
  const DenseMatrix A = test::random_matrix(48, 0.2, 0.3, 6);
  const advise::ProblemFacts serial = advise::problem_facts(test::serial(A));
  for (const Layout& layout : layouts_of(test_comm(), A.rows())) {
    const advise::ProblemFacts facts = facts_on(A, layout);
    EXPECT_EQ(facts.nonzeros, serial.nonzeros);
    EXPECT_FALSE(facts.symmetric);
    EXPECT_NEAR(facts.asymmetry, serial.asymmetry, 1e-12);
    EXPECT_NEAR(facts.positive_share, serial.positive_share, 1e-12);
    EXPECT_DOUBLE_EQ(facts.zero_sum_share, serial.zero_sum_share);
    EXPECT_DOUBLE_EQ(facts.dominant_share, serial.dominant_share);
    EXPECT_EQ(facts.longest_row, serial.longest_row);
    EXPECT_DOUBLE_EQ(facts.stretched_share, serial.stretched_share);
    EXPECT_DOUBLE_EQ(facts.even_share, serial.even_share);
    EXPECT_NEAR(facts.triangular_share, serial.triangular_share, 1e-12);
    EXPECT_DOUBLE_EQ(facts.relaxed_share, serial.relaxed_share);
  }
}

/// A setup that is told does not ask again.
TEST(ProblemFacts, TakeKnownSymmetryForGranted) {
  DenseMatrix A = test::model("laplace5", 5);
  A(0, 1) = -1.5;
  const auto dist = distribute(A, Layout::uniform(test_comm(), A.rows()));
  const advise::ProblemFacts found = advise::problem_facts(dist);
  EXPECT_FALSE(found.symmetric);
  EXPECT_EQ(advise::problem_facts(dist, false).asymmetry, found.asymmetry);
  const std::vector<int> one_node(static_cast<std::size_t>(test_comm()->size()), 0);
  advise::ProblemFacts told;
  const test::MpiCalls calls =
      test::counted(one_node, [&] { told = advise::problem_facts(dist, true); });
  EXPECT_EQ(calls.messages(), 0);
  EXPECT_EQ(calls.collectives, 2);
  EXPECT_TRUE(told.symmetric);
  EXPECT_EQ(told.asymmetry, 0);
  EXPECT_EQ(told.nonzeros, found.nonzeros);
  ProblemInfo<double> knowledge;
  Options options;
  const auto examined = [&] {
    options = {};
    return test::counted(one_node, [&] { examine(dist, knowledge, options); }).collectives;
  };
  const std::int64_t asked = examined();
  EXPECT_EQ(order_of(options), SweepOrder::alternating);
  for (const bool symmetric : {false, true}) {
    knowledge.symmetric = symmetric;
    EXPECT_EQ(examined(), asked - 1);
    EXPECT_EQ(order_of(options),
              symmetric ? SweepOrder::forward_backward : SweepOrder::alternating);
  }
}

TEST(ProblemFacts, AreTheSameOnAnyNumberOfThreads) {
  if (!test::can_test_threads()) GTEST_SKIP() << "without threads, or with many ranks";
  const auto A = io::generate<double>(
      test_comm(), test::rotated_problem("rotated_fe", 120, {.angle = 0.1, .epsilon = 0.01}));
  const advise::ProblemFacts one = advise::problem_facts(A);
  EXPECT_GT(one.stretched_share, 0.5);
  const test::Threads threads(3);
  const advise::ProblemFacts three = advise::problem_facts(A);
  EXPECT_TRUE(three.symmetric);
  EXPECT_EQ(three.nonzeros, one.nonzeros);
  EXPECT_EQ(three.longest_row, one.longest_row);
  EXPECT_EQ(three.positive_share, one.positive_share);
  EXPECT_EQ(three.triangular_share, one.triangular_share);
  EXPECT_EQ(three.zero_sum_share, one.zero_sum_share);
  EXPECT_EQ(three.dominant_share, one.dominant_share);
  EXPECT_EQ(three.stretched_share, one.stretched_share);
  EXPECT_EQ(three.even_share, one.even_share);
  EXPECT_EQ(three.relaxed_share, one.relaxed_share);
  EXPECT_EQ(three.unknowns, one.unknowns);
}

TEST(ProblemFacts, EstimateTheAsymmetry) {
  DenseMatrix A(200, 200);  // upwind differences: |A - A^T| / (2 |A|) = sqrt(398 / 399) / 2 ...
  for (GlobalIndex i = 0; i < 200; ++i) {
    A(i, i) = 1;
    if (i > 0) A(i, i - 1) = -1;
  }
  const double exact = std::sqrt(2.0 * 199) / std::sqrt(399.0) / 2;
  EXPECT_NEAR(facts_of(A).asymmetry, exact, 0.15 * exact);
}

TEST(ProblemFacts, CountSignsOfTheDiagonal) {
  const DenseMatrix A =
      test::with_negated_rows(test::model("laplace5", 5), [](GlobalIndex i) { return i % 5 == 0; });
  const advise::ProblemFacts facts = facts_of(A);
  EXPECT_EQ(facts.nonpositive_diagonals, 5);
  EXPECT_FALSE(facts.has_signs_of_m_matrix());
}

TEST(ProblemFacts, FindTheUnknownsOfPoints) {
  const DenseMatrix L = test::model("laplace5", 8);
  for (const int k : {2, 3, 4, 6}) {
    const DenseMatrix A = kronecker(L, full_block(k));
    EXPECT_EQ(facts_on(A, point_layout(A.rows(), k)).unknowns, k);
  }
}

TEST(ProblemFacts, FindNoUnknownsWhereRanksDividePoints) {
  const DenseMatrix A = kronecker(test::model("laplace5", 8), full_block(3));
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(test_comm()->size()) + 1, A.rows());
  starts[0] = 0;
  if (starts.size() > 2) starts[1] = 100;
  const advise::ProblemFacts facts = facts_on(A, {test_comm(), starts});
  EXPECT_EQ(facts.unknowns, starts.size() > 2 ? 1 : 3);
}

// Full blocks, of which only whole rows add up to zero, as in a discontinuous Galerkin method.
TEST(ProblemFacts, TakeNoBlocksForUnknownsThatAreNone) {
  DenseMatrix B(3, 3);
  for (GlobalIndex i = 0; i < 3; ++i) {
    for (GlobalIndex j = 0; j < 3; ++j) B(i, j) = 1.0 + 0.25 * static_cast<double>((i + j) % 3);
  }
  const DenseMatrix L = test::model("laplace5", 8);
  DenseMatrix A = kronecker(L, B);
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    A(i, i) += 0.4;  // no unknown's constant vanishes any more
    A(i, 3 * (i / 3) + (i + 1) % 3) -= 0.4;
  }
  EXPECT_EQ(facts_on(A, point_layout(A.rows(), 3)).unknowns, 1);
}

TEST(ProblemFacts, AllowForEmptyMatricesAndNaN) {
  EXPECT_EQ(facts_of(DenseMatrix(0, 0)).rows, 0);
  DenseMatrix A = test::model("laplace5", 4);
  A(5, 5) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(facts_of(A).symmetric);
}

TEST(ProblemFacts, AreOfSquareMatrices) {
  const auto layout = [](GlobalIndex n) { return Layout::uniform(test_comm(), n); };
  const auto A = matrix::matrix_from_rows<double>(layout(4), layout(5),
                                                  [](GlobalIndex i, auto&& emit) { emit(i, 1.0); });
  expect_same_error(*test_comm(), ErrorCode::dimension_mismatch, [&] { advise::problem_facts(A); });
}

const solver::Preset& find(std::string_view name) {
  return solver::Preset::family().find(name);
}

TEST(Presets, AreATableOfValidOptions) {
  for (const solver::Preset& preset : solver::Preset::family()) {
    Options options;
    const solver::AppliedPreset applied =
        solver::apply_preset(preset, {.near_null_space = true}, 3, {}, options);
    const auto n_set = std::count_if(
        preset.sets.begin(), preset.sets.end(), [](const solver::PresetOption& option) {
          return option.where != solver::SetWhere::without_near_null_space;
        });
    EXPECT_EQ(std::ssize(applied.set), n_set + (preset.takes_unknowns ? 1 : 0));
    for (const auto& [name, value] : applied.set) {
      EXPECT_EQ(options.get(name), value) << *preset.name;
    }
  }
  for (const char* name : {"default", "poisson", "anisotropic", "elasticity", "convection",
                           "graph_laplacian", "network", "grid", "card"}) {
    EXPECT_NO_THROW(find(name)) << name;
  }
}

/// Another smoother would have no effect, and another method has an interpolation of its own.
TEST(Presets, ConvectionYieldsToWhatContradictsIt) {
  Options options;
  const solver::AppliedPreset whole = solver::apply_preset(find("convection"), {}, 1, {}, options);
  EXPECT_TRUE(options.method == "air");
  EXPECT_EQ(options.get("interpolation"), "direct");
  EXPECT_TRUE(whole.kept.empty());
  const std::vector<NamedValue> contradictions = {{"smoother", "l1_gauss_seidel"},
                                                  {"sweep_order", "symmetric"},
                                                  {"pre_sweeps", "1"},
                                                  {"method", "classical"}};
  for (const NamedValue& value : contradictions) {
    Options others;
    const solver::AppliedPreset applied =
        solver::apply_preset(find("convection"), {}, 1, {&value, 1}, others);
    EXPECT_EQ(others.get("method"), "classical") << value.first;
    EXPECT_EQ(others.get("interpolation"), "automatic") << value.first;
    EXPECT_EQ(applied.kept.size(), 2U);
  }
}

/// What belongs to a method that is not chosen is refused, or left where the preset wants it.
TEST(Presets, SetWhatTheChosenMethodsHave) {
  Options options;
  const std::vector<NamedValue> aggregation = {{"method", "aggregation"}};
  const solver::AppliedPreset applied =
      solver::apply_preset(find("grid"), {}, 1, aggregation, options);
  EXPECT_EQ(options.get("method"), "aggregation");
  EXPECT_EQ(applied.kept.size(), 2U);
}

TEST(Presets, CardIsWhatADeviceSetsUp) {
  Options options;
  const solver::AppliedPreset applied = solver::apply_preset(find("card"), {}, 1, {}, options);
  EXPECT_TRUE(applied.kept.empty());
  const auto& own = options.method.options<AggregationOptions>();
  EXPECT_TRUE(options.method->is_set_up_on_devices);
  EXPECT_TRUE(own.aggregates->runs_on_devices);
  EXPECT_TRUE(options.smoother->runs_on_devices);
  EXPECT_EQ(options.get("precision"), "single");
  EXPECT_EQ(options.get("pre_sweeps"), "1");
  EXPECT_EQ(options.get("post_sweeps"), "1");
  // What belongs to another method is heeded, on a smoother and a precision that fit any.
  Options classical;
  const NamedValue given = {"coarsening", "pmis"};
  EXPECT_EQ(solver::apply_preset(find("card"), {}, 1, {&given, 1}, classical).kept.size(), 2U);
  EXPECT_EQ(classical.get("method"), "classical");
  EXPECT_EQ(classical.get("smoother"), "chebyshev");
}

TEST(Presets, DefaultChangesNothing) {
  EXPECT_TRUE(find("default").sets.empty());
  EXPECT_FALSE(find("default").method.has_value());
}

TEST(Presets, YieldToWhatIsGiven) {
  Options options;
  const std::vector<NamedValue> given = {{"smoother", "jacobi"}};
  const solver::AppliedPreset applied =
      solver::apply_preset(find("graph_laplacian"), {}, 1, given, options);
  EXPECT_EQ(options.get("smoother"), "jacobi");
  EXPECT_EQ(options.get("coarsening"), "pmis");
  ASSERT_EQ(applied.kept.size(), 1U);
  EXPECT_EQ(applied.kept[0].first, "smoother");
}

TEST(Presets, ElasticityAggregatesOnlyWithANearNullSpace) {
  Options without, with;
  solver::apply_preset(find("elasticity"), {}, 3, {}, without);
  solver::apply_preset(find("elasticity"), {.near_null_space = true}, 3, {}, with);
  EXPECT_EQ(without.get("method"), "classical");
  EXPECT_EQ(with.get("method"), "aggregation");
  EXPECT_EQ(without.get("aggressive_levels"), "1");
  EXPECT_EQ(without.unknowns, 3);
  EXPECT_EQ(without.get("smoother"), Options().get("smoother"));
  EXPECT_EQ(with.get("smoother"), "chebyshev");
  EXPECT_EQ(with.get("chebyshev_fraction"), "0.1");
}

/// A polynomial has no order of its rows, and is for real eigenvalues.
TEST(Presets, ElasticityYieldsToWhatChebyshevIsNotFor) {
  const auto smoother = [](const solver::GivenKnowledge& known,
                           const std::vector<NamedValue>& given) {
    Options options;
    const auto applied = solver::apply_preset(find("elasticity"), known, 3, given, options);
    EXPECT_EQ(options.get("method"), "aggregation");
    return std::pair(options.get("smoother"), applied.kept.size());
  };
  using Found = std::pair<std::string, std::size_t>;
  const std::string standard = Options().get("smoother");
  EXPECT_EQ(smoother({.near_null_space = true}, {}), Found("chebyshev", 0));
  EXPECT_EQ(smoother({.near_null_space = true}, {{"sweep_order", "symmetric"}}),
            Found(standard, 2));
  EXPECT_EQ(smoother({.near_null_space = true, .symmetric = false}, {}), Found(standard, 0));
  DenseMatrix A = test::model("laplace9", 6);
  EXPECT_TRUE(solver::is_nearly_symmetric(facts_of(A)));
  A(0, 1) *= 1.001;
  EXPECT_TRUE(solver::is_nearly_symmetric(facts_of(A)));
  for (GlobalIndex i = 0; i + 1 < A.rows(); ++i) A(i, i + 1) *= 1.5;
  EXPECT_FALSE(solver::is_nearly_symmetric(facts_of(A)));
}

TEST(Presets, SuggestTheNearestName) {
  try {
    find("poison");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("did you mean 'poisson'?"), std::string::npos);
  }
}

std::string chosen(const DenseMatrix& A, const solver::GivenKnowledge& given = {}) {
  const solver::PresetChoice choice = solver::choose_preset(facts_of(A), given);
  EXPECT_FALSE(choice.reason.empty());
  EXPECT_EQ(choice.reason.find('\n'), std::string::npos);
  return choice.preset->name;
}

TEST(Presets, AreChosenByFacts) {
  EXPECT_EQ(chosen(test::model("laplace9", 6)), "grid");
  EXPECT_EQ(chosen(test::model("laplace7", 8)), "grid");
  DenseMatrix uneven = test::model("laplace9", 6);
  for (GlobalIndex i = 0; i < uneven.rows(); ++i) {
    for (GlobalIndex j = 0; j < uneven.cols(); ++j) uneven(i, j) *= std::abs(i - j) == 1 ? 0.4 : 1;
  }
  EXPECT_EQ(chosen(uneven), "poisson");
  EXPECT_DOUBLE_EQ(facts_of(uneven).even_share, 0);
  EXPECT_EQ(chosen(test::model("laplace5", 6)), "network");
  EXPECT_EQ(chosen(test::model("laplace5", 6), {.near_null_space = true}), "elasticity");
  EXPECT_EQ(chosen(test::model("laplace5", 6), {.unknowns = 2}), "elasticity");
  DenseMatrix flow = test::random_matrix(40, 0.2, 0.0, 1);
  for (GlobalIndex i = 0; i < 40; ++i) {
    double sum = 0;
    for (GlobalIndex j = 0; j < 40; ++j) sum += i == j ? 0 : flow(i, j);
    flow(i, i) = -sum;  // so that relaxation is not enough
  }
  EXPECT_EQ(chosen(flow), "convection");
  DenseMatrix triangle = flow, heavy = flow;
  for (GlobalIndex i = 0; i < 40; ++i) {
    for (GlobalIndex j = i + 1; j < 40; ++j) triangle(i, j) = 0;
    heavy(i, i) = 1e3;
  }
  for (GlobalIndex i = 0; i < 40; ++i) {
    double sum = 0;
    for (GlobalIndex j = 0; j < i; ++j) sum += triangle(i, j);
    triangle(i, i) = sum == 0 ? 1 : -sum;
  }
  EXPECT_DOUBLE_EQ(facts_of(triangle).triangular_share, 1);
  EXPECT_EQ(chosen(triangle), "default");
  EXPECT_EQ(chosen(heavy), "default");
  // Sums near the diagonal only because entries of both signs cancel are no dominant diagonal.
  DenseMatrix skew(40, 40);
  for (GlobalIndex i = 0; i < 40; ++i) {
    skew(i, i) = 1.4;
    for (const GlobalIndex step : {1, 5}) {
      skew(i, (i + step) % 40) = 1;
      skew((i + step) % 40, i) = -1;
    }
  }
  EXPECT_DOUBLE_EQ(facts_of(skew).relaxed_share, 1);
  EXPECT_DOUBLE_EQ(facts_of(skew).dominant_share, 0);
  EXPECT_EQ(chosen(skew), "convection");
  EXPECT_EQ(chosen(test::random_symmetric(40, 0.2, 0.5, 1)), "default");
  DenseMatrix nearly = test::model("laplace5", 6);
  nearly(0, 1) *= 1.001;
  EXPECT_EQ(chosen(nearly), "default");
  const auto first = [](GlobalIndex i) { return i == 0; };
  EXPECT_EQ(chosen(test::with_isolated(test::with_negated_rows(test::model("laplace5", 6), first),
                                       first)),
            "default");
}

/// Only what a mesh would get gives way to a device, and the reason says so.
TEST(Presets, DevicesTakeTheCardForMeshes) {
  const solver::GivenKnowledge there = {.on_device = true};
  for (const char* name : {"laplace7", "laplace9", "laplace27"}) {
    const advise::ProblemFacts facts = facts_of(test::model(name, 6));
    const solver::PresetChoice here = solver::choose_preset(facts, {});
    const solver::PresetChoice choice = solver::choose_preset(facts, there);
    EXPECT_EQ(*here.preset->name, "grid");
    EXPECT_EQ(*choice.preset->name, "card");
    EXPECT_EQ(choice.reason, here.reason + "; solved on a device");
  }
  DenseMatrix uneven = test::model("laplace9", 6);
  for (GlobalIndex i = 0; i < uneven.rows(); ++i) {
    for (GlobalIndex j = 0; j < uneven.cols(); ++j) uneven(i, j) *= std::abs(i - j) == 1 ? 0.4 : 1;
  }
  EXPECT_EQ(chosen(uneven), "poisson");
  EXPECT_EQ(chosen(uneven, there), "card");
  EXPECT_EQ(chosen(test::model("laplace5", 6), there), "network");
  EXPECT_EQ(chosen(test::model("laplace9", 6), {.near_null_space = true, .on_device = true}),
            "elasticity");
  EXPECT_EQ(chosen(test::random_symmetric(40, 0.2, 0.5, 1), there), "default");
}

DenseMatrix rotated(const std::string& problem, double epsilon, double angle) {
  return test::gathered(io::generate<double>(
      test::self_comm(), test::rotated_problem(problem, 9, {.angle = angle, .epsilon = epsilon})));
}

/// Along the mesh or nearly so, bilinear elements have couplings to corners that are strong by
/// chance; aslant, and as differences, there is no such row.
TEST(Presets, StretchedElementsAreAnisotropic) {
  constexpr double pi = 3.14159265358979;
  for (const double angle : {0.0, 0.1, 0.2, 1.3, pi / 2}) {
    EXPECT_EQ(chosen(rotated("rotated_fe", 1e-3, angle)), "anisotropic") << angle;
  }
  for (const double angle : {pi / 8, pi / 4, 1.0}) {
    EXPECT_EQ(chosen(rotated("rotated_fe", 1e-3, angle)), "poisson") << angle;
  }
  EXPECT_EQ(chosen(rotated("rotated_fe", 1, 0)), "grid");
  EXPECT_DOUBLE_EQ(facts_of(rotated("rotated_fd", 1e-3, 0)).stretched_share, 0);
}

TEST(Presets, GraphsWithHubsAreGraphs) {
  DenseMatrix star(60, 60);
  star(0, 0) = 60;
  for (GlobalIndex i = 1; i < 60; ++i) {
    star(i, i) = 1;
    star(0, i) = star(i, 0) = -1;
  }
  EXPECT_EQ(chosen(star), "graph_laplacian");
}

TEST(Presets, BlocksAreElasticity) {
  const DenseMatrix A = kronecker(test::model("laplace5", 8), full_block(3));
  const solver::PresetChoice choice =
      solver::choose_preset(facts_on(A, point_layout(A.rows(), 3)), {});
  EXPECT_EQ(*choice.preset->name, "elasticity");
  EXPECT_NE(choice.reason.find("3 unknowns"), std::string::npos);
}

}  // namespace amg_presets_test
}  // namespace nodewise::amg
