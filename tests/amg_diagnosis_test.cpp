// Every kind of finding: a matrix that shows it, and one that does not.
#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/advise/diagnosis.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace amg_diagnosis_test {

using matrix::Layout;
using test::DenseMatrix;
using test::distribute;
using test::test_comm;

using Matrix = std::shared_ptr<const matrix::DistMatrix<double>>;

Matrix generated(const std::string& problem, int n) {
  return std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = problem, .n = n}));
}

Matrix shared(const DenseMatrix& A) {
  return std::make_shared<const matrix::DistMatrix<double>>(
      distribute(A, Layout::uniform(test_comm(), A.rows())));
}

std::vector<advise::Finding> of_kind(const std::vector<advise::Finding>& all,
                                     const std::string& kind) {
  const advise::FindingKind& wanted = advise::FindingKind::family().find(kind);
  std::vector<advise::Finding> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [&](const advise::Finding& f) { return f.kind == &wanted; });
  for (const advise::Finding& f : some) {
    EXPECT_FALSE(f.text.empty());
    EXPECT_FALSE(f.advice.empty());
  }
  return some;
}

/// The Krylov method of that name; null for none.
const solve::KrylovMethod* described(const char* name) {
  return name == nullptr ? nullptr : &solve::KrylovMethod::family().find(name);
}

std::vector<advise::Finding> diagnosed(const Matrix& A, const Options& options,
                                       const std::string& kind) {
  return of_kind(advise::diagnose(Hierarchy<double>(A, options), options), kind);
}

/// Without a hierarchy, of a matrix known to be symmetric or not.
std::vector<advise::Finding> examined(const DenseMatrix& A, bool symmetric,
                                      const std::string& kind) {
  advise::SystemFacts facts = advise::matrix_facts<double>(shared(A));
  facts.symmetric = symmetric;
  return of_kind(advise::findings(facts, Options{}), kind);
}

/// Zero row sums: the Laplacian of a grid with a natural boundary.
DenseMatrix neumann(int n) {
  DenseMatrix A = test::model("laplace5", n);
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    A(i, i) = 0;
    double sum = 0;
    for (GlobalIndex j = 0; j < A.cols(); ++j) sum += A(i, j);
    A(i, i) = -sum;
  }
  return A;
}

std::vector<double> part(const Matrix& A, const std::function<double(GlobalIndex)>& value) {
  std::vector<double> b;
  for (GlobalIndex i = A->rows().begin(); i < A->rows().end(); ++i) b.push_back(value(i));
  return b;
}

std::string text_of(const std::string& page) {
  std::ostringstream text;
  text << std::ifstream(NODEWISE_SOURCE_DIR "/docs/" + page).rdbuf();
  return text.str();
}

TEST(Diagnosis, DocumentsEveryKindInOrder) {
  const std::string page = text_of("methods/diagnosis.md");
  const std::string schema = text_of("report.schema.json");
  std::size_t at = 0;
  for (const std::string& name : advise::FindingKind::family().names()) {
    const std::size_t next = page.find("\n| `" + name + "` |");
    ASSERT_NE(next, std::string::npos) << name;
    EXPECT_GT(next, at) << name;
    at = next;
    EXPECT_NE(schema.find('"' + name + '"'), std::string::npos) << name;
  }
}

TEST(Diagnosis, FindsNothingInALaplacian) {
  EXPECT_TRUE(advise::diagnose(Hierarchy<double>(generated("laplace7", 8), {}), {}).empty());
}

TEST(Diagnosis, FindsCoarseningThatKeepsMostRows) {
  advise::SystemFacts facts;
  facts.coarse_solver = "direct";
  facts.levels = {{.rows = 9000, .nonzeros = 9000},
                  {.rows = 5120, .nonzeros = 900},
                  {.rows = 4710, .nonzeros = 900}};
  const auto found = advise::findings(facts, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(*found[0].kind->name, "stalled_coarsening");
  EXPECT_EQ(found[0].level, 1);
  EXPECT_EQ(found[0].count, 4710);
  EXPECT_DOUBLE_EQ(found[0].magnitude, 4710.0 / 5120);
  EXPECT_EQ(found[0].text, "coarsening keeps 92 % of the rows (5,120 -> 4,710)");
  EXPECT_EQ(found[0].advice, "try `strength_threshold 0.125` or `aggressive_levels 2`");
}

TEST(Diagnosis, FindsCoarseningThatEnds) {
  const Matrix A = generated("laplace5", 30);
  Options limited;
  limited.max_levels = 1;
  const auto by_levels = diagnosed(A, limited, "stalled_coarsening");
  ASSERT_EQ(by_levels.size(), 1U);
  EXPECT_EQ(by_levels[0].count, 900);
  EXPECT_NE(by_levels[0].advice.find("`max_levels`"), std::string::npos);
  Options nothing_strong;
  nothing_strong.set("strength_threshold", 1);
  EXPECT_EQ(diagnosed(A, nothing_strong, "stalled_coarsening").size(), 1U);
  EXPECT_TRUE(diagnosed(A, {}, "stalled_coarsening").empty());
}

TEST(Diagnosis, FindsDenseCoarseLevels) {
  const Matrix A = generated("laplace7", 9);
  Options dense;
  dense.set("max_interpolation_entries", 0);
  dense.set("coarsening", "cljp");
  dense.max_coarse_rows = 10;
  const Hierarchy<double> hierarchy(A, dense);
  const auto found = of_kind(advise::diagnose(hierarchy, dense), "operator_complexity");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].magnitude, hierarchy.operator_complexity());
  EXPECT_GT(found[0].level, 0);
  EXPECT_TRUE(diagnosed(A, {}, "operator_complexity").empty());
}

TEST(Diagnosis, FindsDiagonalsNearZero) {
  DenseMatrix A = test::model("laplace5", 5);
  EXPECT_TRUE(examined(A, true, "near_zero_diagonal").empty());
  A(7, 7) = 1e-12;
  A(9, 9) = -1e-12;
  const auto found = examined(A, true, "near_zero_diagonal");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 2);
}

TEST(Diagnosis, TellsSmallRowsFromSmallDiagonals) {
  DenseMatrix A = test::model("laplace5", 5);
  const auto scale = [&](GlobalIndex i, double factor) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) A(i, j) *= factor;
    for (GlobalIndex j = 0; j < A.cols(); ++j) A(j, i) *= factor;
  };
  scale(7, 1e-10);
  scale(15, 1e-9);
  const auto by_size = examined(A, true, "near_zero_diagonal");
  ASSERT_EQ(by_size.size(), 1U);
  EXPECT_EQ(by_size[0].count, 2);
  EXPECT_NE(by_size[0].advice.find("`scale diagonal`"), std::string::npos);
  A(20, 20) = 1e-12;  // its couplings are of the size of others
  const auto by_both = examined(A, true, "near_zero_diagonal");
  ASSERT_EQ(by_both.size(), 1U);
  EXPECT_EQ(by_both[0].count, 3);
  EXPECT_EQ(by_both[0].advice.find("`scale diagonal`"), std::string::npos);
}

TEST(Diagnosis, FindsNegativeDiagonals) {
  const DenseMatrix A = test::model("laplace5", 5);
  EXPECT_TRUE(examined(A, true, "negative_diagonal").empty());
  const auto all = test::with_negated_rows(A, [](GlobalIndex) { return true; });
  const auto of_all = examined(all, true, "negative_diagonal");
  ASSERT_EQ(of_all.size(), 1U);
  EXPECT_EQ(of_all[0].count, 25);
  EXPECT_NE(of_all[0].advice.find("-1"), std::string::npos);
  EXPECT_TRUE(examined(all, true, "indefinite").empty());
  const auto some = test::with_negated_rows(A, [](GlobalIndex i) { return i % 5 == 0; });
  const auto of_some = examined(some, false, "negative_diagonal");
  ASSERT_EQ(of_some.size(), 1U);
  EXPECT_EQ(of_some[0].count, 5);
  EXPECT_TRUE(examined(some, false, "indefinite").empty());
}

TEST(Diagnosis, FindsIndefiniteMatrices) {
  DenseMatrix A = test::model("laplace5", 5);
  EXPECT_TRUE(examined(A, true, "indefinite").empty());
  A(3, 3) = -4;
  EXPECT_EQ(examined(A, true, "indefinite").size(), 1U);
  EXPECT_EQ(of_kind(advise::findings({solve::Outcome::indefinite_matrix}, {}), "indefinite").size(),
            1U);
}

TEST(Diagnosis, TellsOfTheEndOfASolve) {
  const auto preconditioner = advise::findings({solve::Outcome::indefinite_preconditioner}, {});
  EXPECT_EQ(of_kind(preconditioner, "indefinite_preconditioner").size(), 1U);
  EXPECT_EQ(
      of_kind(advise::findings({solve::Outcome::inconsistent}, {}), "inconsistent_rhs").size(), 1U);
  EXPECT_TRUE(advise::findings({solve::Outcome::converged}, {}).empty());
  EXPECT_TRUE(advise::findings({solve::Outcome::max_iterations}, {}).empty());
}

TEST(Diagnosis, RecommendsTheL1VariantOfSweepsThatFail) {
  const auto found = [](solve::Outcome outcome, const std::string& smoother, int parts,
                        const char* method = "classical") {
    Options options;
    options.smoother = smoother;
    options.method = method;
    return of_kind(advise::findings({outcome, true, parts}, options), "hybrid_sweeps");
  };
  const auto failed = solve::Outcome::stagnated;
  const auto hybrid = found(failed, "gauss_seidel", 4);
  ASSERT_EQ(hybrid.size(), 1U);
  EXPECT_EQ(hybrid[0].magnitude, 4);
  EXPECT_NE(hybrid[0].advice.find("`smoother l1_gauss_seidel`"), std::string::npos);
  EXPECT_NE(found(failed, "block_gauss_seidel", 2).at(0).advice.find("l1_block_gauss_seidel"),
            std::string::npos);
  EXPECT_TRUE(found(failed, "gauss_seidel", 1).empty());
  EXPECT_TRUE(found(failed, "l1_gauss_seidel", 4).empty());
  EXPECT_TRUE(found(failed, "gauss_seidel", 4, "air").empty());  // not its sweeps
  EXPECT_TRUE(found(solve::Outcome::converged, "gauss_seidel", 4).empty());
  EXPECT_TRUE(found(solve::Outcome::not_finite, "gauss_seidel", 4).empty());
  Options other_preconditioner;
  other_preconditioner.smoother = "gauss_seidel";
  EXPECT_TRUE(advise::findings({failed, false, 4}, other_preconditioner).empty());
}

TEST(Diagnosis, FindsChebyshevForNonsymmetricMatrices) {
  const auto found = [](const std::string& smoother, bool symmetric, double asymmetry,
                        const char* method = "classical") {
    Options options;
    options.smoother = smoother;
    options.method = method;
    advise::SystemFacts facts;
    facts.coarse_solver = "direct";
    facts.levels = {{.rows = 100, .nonzeros = 500}};
    facts.symmetric = symmetric;
    facts.asymmetry = asymmetry;
    return of_kind(advise::findings(facts, options), "chebyshev_nonsymmetric");
  };
  const auto flow = found("chebyshev", false, 0.3);
  ASSERT_EQ(flow.size(), 1U);
  EXPECT_EQ(flow[0].level, 0);
  EXPECT_EQ(flow[0].magnitude, 0.3);
  EXPECT_NE(flow[0].advice.find("`smoother l1_gauss_seidel`"), std::string::npos);
  EXPECT_TRUE(found("chebyshev", false, 1e-4).empty());
  EXPECT_TRUE(found("chebyshev", true, 0).empty());
  EXPECT_TRUE(found("gauss_seidel", false, 0.3).empty());
  EXPECT_TRUE(found("chebyshev", false, 0.3, "air").empty());
}

TEST(Diagnosis, FindsLargePositiveCouplings) {
  const Matrix positive = shared(test::random_symmetric(40, 0.2, 0.8, 3));
  Options options;
  options.max_coarse_rows = 10;
  const auto found = diagnosed(positive, options, "positive_couplings");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0].magnitude, 0.25);
  Options absolute = options;
  absolute.set("strength_measure", "absolute");
  EXPECT_TRUE(diagnosed(positive, absolute, "positive_couplings").empty());
  const Matrix negative = shared(test::random_symmetric(40, 0.2, 0.0, 3));
  EXPECT_TRUE(diagnosed(negative, options, "positive_couplings").empty());
}

/// D A D with the signs of a chessboard in D: every coupling has the diagonal's sign.
TEST(Diagnosis, AdvisesAbsoluteStrengthWhereNoCouplingHasTheOtherSign) {
  const auto chain = [](double far) {
    DenseMatrix A(40, 40);
    for (LocalIndex i = 0; i < 40; ++i) {
      A(i, i) = 5;
      if (i + 1 < 40) A(i, i + 1) = A(i + 1, i) = 1;
      if (i + 2 < 40) A(i, i + 2) = A(i + 2, i) = far;
    }
    return shared(A);
  };
  Options options;
  options.max_coarse_rows = 10;
  const auto advice = [&](const Matrix& A) {
    const auto found = diagnosed(A, options, "positive_couplings");
    return found.empty() ? std::string() : found[0].advice;
  };
  EXPECT_THAT(advice(chain(0.1)), testing::HasSubstr("`strength_measure absolute`"));
  EXPECT_THAT(advice(chain(-0.9)), testing::HasSubstr("`unknowns`"));
}

/// The kinds found for A x = b, with the facts of null vectors.
std::vector<advise::Finding> of_system(const Matrix& A, const NearNullSpace<double>& given,
                                       const std::vector<double>& b, const std::string& kind) {
  advise::SystemFacts facts = advise::matrix_facts(A);
  facts.symmetric = true;
  facts.null_vectors = advise::null_vector_facts<double>(*A, given, b);
  return of_kind(advise::findings(facts, {}), kind);
}

TEST(Diagnosis, FindsTheConstantInTheNullSpace) {
  const Matrix singular = shared(neumann(5));
  const Matrix regular = shared(test::model("laplace5", 5));
  const auto ones = part(singular, [](GlobalIndex) { return 1.0; });
  const auto balanced = part(singular, [](GlobalIndex i) { return static_cast<double>(i) - 12; });
  EXPECT_EQ(of_system(singular, {}, ones, "null_space").size(), 1U);
  EXPECT_EQ(of_system(singular, {}, balanced, "null_space").size(), 1U);
  EXPECT_TRUE(of_system(regular, {}, ones, "null_space").empty());
  const auto found = of_system(singular, {}, ones, "inconsistent_rhs");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].magnitude, 1, 1e-12);
  EXPECT_TRUE(of_system(singular, {}, balanced, "inconsistent_rhs").empty());
  EXPECT_TRUE(of_system(regular, {}, ones, "inconsistent_rhs").empty());
}

// D^-1 L D^-1 maps D 1 to zero.
TEST(Diagnosis, FindsGivenVectorsInTheNullSpace) {
  const auto weight = [](GlobalIndex i) { return 1 + 0.5 * static_cast<double>(i % 3); };
  DenseMatrix scaled = neumann(5);
  for (GlobalIndex i = 0; i < 25; ++i) {
    for (GlobalIndex j = 0; j < 25; ++j) scaled(i, j) /= weight(i) * weight(j);
  }
  const Matrix A = shared(scaled);
  NearNullSpace<double> given{2, {}};
  for (GlobalIndex i = A->rows().begin(); i < A->rows().end(); ++i) {
    given.values.push_back(static_cast<double>(i));
    given.values.push_back(weight(i));
  }
  const auto b = part(A, weight);
  const auto found = of_system(A, given, b, "null_space");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("vector 2 of the near null space"), std::string::npos);
  EXPECT_EQ(of_system(A, given, b, "inconsistent_rhs").size(), 1U);
  EXPECT_TRUE(of_system(A, {}, b, "null_space").empty());
}

TEST(Diagnosis, FindsNullVectorsInAnyUnits) {
  for (const double unit : {1e-200, 1e200}) {
    const Matrix singular = shared(unit * neumann(5));
    const Matrix regular = shared(unit * test::model("laplace5", 5));
    const auto b = part(singular, [=](GlobalIndex) { return unit; });
    NearNullSpace<double> given{1, {}};
    for (LocalIndex i = 0; i < singular->n_local(); ++i) given.values.push_back(1 / unit);
    EXPECT_EQ(of_system(singular, given, b, "null_space").size(), 2U);
    const auto found = of_system(singular, given, b, "inconsistent_rhs");
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(found[0].magnitude, 1, 1e-12);
    EXPECT_TRUE(of_system(regular, given, b, "null_space").empty());
  }
}

TEST(Diagnosis, FindsUnknownsThatAreNotDeclared) {
  const DenseMatrix L = test::model("laplace5", 8);
  DenseMatrix A(3 * L.rows(), 3 * L.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      A(i, j) = L(i / 3, j / 3) * (i % 3 == j % 3 ? 2.0 : 0.3);
    }
  }
  const auto found = examined(A, true, "undeclared_unknowns");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].magnitude, 3);
  advise::SystemFacts facts = advise::matrix_facts<double>(shared(A));
  Options declared;
  declared.unknowns = 3;
  EXPECT_TRUE(of_kind(advise::findings(facts, declared), "undeclared_unknowns").empty());
  EXPECT_TRUE(examined(L, true, "undeclared_unknowns").empty());
}

TEST(Diagnosis, FindsNonsymmetricMatricesUnderSymmetricMethods) {
  advise::SystemFacts facts =
      advise::matrix_facts<double>(shared(test::random_matrix(30, 0.2, 0.0, 1)));
  const auto found = [&](bool symmetric, const char* method) {
    facts.symmetric = symmetric;
    facts.krylov = described(method);
    return of_kind(advise::findings(facts, {}), "nonsymmetric_matrix").size();
  };
  EXPECT_EQ(found(false, "cg"), 1U);
  EXPECT_EQ(found(false, "gmres"), 0U);  // as recommended
  EXPECT_EQ(found(true, "cg"), 0U);
  facts.krylov = nullptr;
  facts.symmetric = false;
  EXPECT_TRUE(of_kind(advise::findings(facts, {}), "nonsymmetric_matrix").empty());
}

/// The options of multigrid in an advice, with their values.
std::vector<std::pair<std::string, std::string>> options_in(const std::string& advice) {
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t at = advice.find("--"); at != std::string::npos; at = advice.find("--", at)) {
    std::size_t end = advice.find_first_of(" ,", at);
    std::string name = advice.substr(at + 2, end - at - 2);
    std::replace(name.begin(), name.end(), '-', '_');
    std::string value = "true";  // of a flag
    if (end != std::string::npos && advice[end] == ' ' && advice.compare(end, 4, " or ") != 0) {
      const std::size_t next = advice.find_first_of(" ,", end + 1);
      value = advice.substr(end + 1, next - end - 1);
    }
    Options defaults;
    const std::vector<KnownField> fields = known_fields(view(defaults, option_fields()));
    if (std::any_of(fields.begin(), fields.end(),
                    [&](const KnownField& f) { return f.info.name == name; })) {
      found.emplace_back(name, value);
    }
    at += 2;
  }
  return found;
}

/// Follows the advice of a kind, one option after the other, and expects that none of them comes
/// again. `find` is advise::findings() of one set of facts.
template <class Find>
int options_until_nothing_is_left(Find&& find, Options options, const std::string& kind) {
  std::vector<std::pair<std::string, std::string>> taken;
  for (int step = 0; step < 100; ++step) {
    const auto found = of_kind(find(options), kind);
    if (found.empty()) return step;
    const auto offered = options_in(found.front().advice);
    for (const auto& option : offered) {
      EXPECT_EQ(std::count(taken.begin(), taken.end(), option), 0)
          << "--" << option.first << ' ' << option.second << " again: " << found.front().advice;
    }
    if (offered.empty()) return step;
    set_option(options, option_fields(), offered.front().first, offered.front().second);
    taken.push_back(offered.front());
  }
  return -1;
}

/// Facts that show one kind of finding whatever the options are.
struct Shown {
  std::string kind;
  advise::SystemFacts facts;
};

std::vector<Shown> shown_whatever_is_set() {
  advise::SystemFacts usual;
  usual.coarse_solver = "direct";
  usual.levels = {{.rows = 900, .nonzeros = 5000}, {.rows = 100, .nonzeros = 500}};
  usual.symmetric = true;
  usual.krylov = described("cg");
  std::vector<Shown> all;
  const auto show = [&](const std::string& kind, auto&& change) {
    advise::SystemFacts facts = usual;
    change(facts);
    all.push_back({kind, facts});
  };
  show("stalled_coarsening", [](advise::SystemFacts& f) { f.levels[1].rows = 890; });
  show("stalled_coarsening", [](advise::SystemFacts& f) { f.coarse_solver = "2 sweeps"; });
  show("operator_complexity", [](advise::SystemFacts& f) { f.levels[1].nonzeros = 50000; });
  show("near_zero_diagonal", [](advise::SystemFacts& f) { f.levels[0].near_zero_diagonals = 1; });
  show("negative_diagonal", [](advise::SystemFacts& f) { f.levels[0].negative_diagonals = 900; });
  show("indefinite", [](advise::SystemFacts& f) { f.levels[0].negative_diagonals = 9; });
  show("positive_couplings", [](advise::SystemFacts& f) { f.levels[0].positive_rows = 900; });
  show("null_space", [](advise::SystemFacts& f) { f.coarse_solver = "direct, singular"; });
  show("inconsistent_rhs", [](advise::SystemFacts& f) {
    f.null_vectors = {{.vector = -1, .smallness = 0, .part_of_rhs = 1}};
  });
  show("undeclared_unknowns", [](advise::SystemFacts& f) { f.found_unknowns = 3; });
  show("nonsymmetric_matrix", [](advise::SystemFacts& f) {
    f.symmetric = false;
    f.asymmetry = 0.3;
  });
  show("chebyshev_nonsymmetric", [](advise::SystemFacts& f) {
    f.symmetric = false;
    f.asymmetry = 0.3;
  });
  return all;
}

TEST(Diagnosis, RecommendsNothingThatIsInForce) {
  for (const Shown& shown : shown_whatever_is_set()) {
    for (const char* method : {"classical", "aggregation", "air"}) {
      for (const std::string smoother : {"l1_gauss_seidel", "chebyshev"}) {
        Options options;
        options.method = method;
        options.smoother = smoother;
        const auto find = [&](const Options& o) { return advise::findings(shown.facts, o); };
        EXPECT_GE(options_until_nothing_is_left(find, options, shown.kind), 0) << shown.kind;
      }
    }
  }
}

// The facts and options of each kind are such that it is found at all, and something is advised.
TEST(Diagnosis, GoesOnToTheNextOption) {
  const auto advice = [](const Shown& shown, const Options& options) {
    const auto found = of_kind(advise::findings(shown.facts, options), shown.kind);
    return found.empty() ? std::string() : found.front().advice;
  };
  const auto all = shown_whatever_is_set();
  Options set;
  EXPECT_EQ(advice(all[0], set), "try `strength_threshold 0.125` or `aggressive_levels 1`");
  set.set("aggressive_levels", 1);
  EXPECT_EQ(advice(all[0], set), "try `strength_threshold 0.125`");
  set.set("strength_threshold", 0);
  EXPECT_EQ(advice(all[0], set),
            "what usually helps is set already: let `nodewise tune` look for more");
  set = {};
  set.set("max_row_sum", 1);
  EXPECT_EQ(advice(all[1], set),
            "where the solve is slow, try `strength_threshold 0.125` or `strength_measure "
            "absolute`");
  set.max_levels = 2;
  EXPECT_EQ(advice(all[1], set), "raise `max_levels` above 2");
  set = {};
  EXPECT_EQ(advice(all[2], set), "try `aggressive_levels 1` or `interpolation_truncation 0.1`");
  set.set("aggressive_levels", 1);  // all there are but the last
  EXPECT_EQ(advice(all[2], set), "try `interpolation_truncation 0.1`");
  set = {};
  set.method = "aggregation";
  EXPECT_EQ(advice(all[0], set), "try `aggregation_threshold 0.005`");
  EXPECT_EQ(advice(all[2], set),
            "try `aggregation_threshold 0`, `filter_prolongation` or `method classical`");
  set.set("aggregation_threshold", 0);
  set.set("filter_prolongation", true);
  EXPECT_EQ(advice(all[2], set), "try `method classical`");
  set = {};
  set.method = "air";
  EXPECT_EQ(advice(all[2], set),
            "try `aggressive_levels 1`, `restriction_distance 1` or `coarse_filter 0.01`");
  set = {};
  set.smoother = "l1_jacobi";
  EXPECT_EQ(advice(all[3], set), "take `preset direct` or `preset indefinite`");
  set = {};
  set.set("strength_measure", "absolute");
  EXPECT_EQ(advice(all[6], set), "");
  set = {};
  set.unknowns = 3;
  EXPECT_EQ(advice(all[9], set), "");
  set.unknowns = 1;
  set.method = "aggregation";
  EXPECT_EQ(advice(all[9], set),
            "try `unknowns 3`, with `coordinates` where the coordinates are at hand");
}

TEST(Diagnosis, SendsNobodyToTheSignsOfCoarseRows) {
  advise::SystemFacts facts;
  facts.coarse_solver = "direct";
  facts.levels = {{.rows = 900, .nonzeros = 5000},
                  {.rows = 90, .nonzeros = 500, .negative_diagonals = 2},
                  {.rows = 9, .nonzeros = 50, .negative_diagonals = 1}};
  const auto found = [&](std::optional<bool> symmetric, const std::string& kind) {
    facts.symmetric = symmetric;
    return of_kind(advise::findings(facts, {}), kind);
  };
  const auto of_nonsymmetric = found(false, "negative_diagonal");
  ASSERT_EQ(of_nonsymmetric.size(), 1U);
  EXPECT_EQ(of_nonsymmetric[0].level, 1);
  EXPECT_NE(of_nonsymmetric[0].advice.find("`max_levels 1`"), std::string::npos);
  EXPECT_TRUE(found(true, "negative_diagonal").empty());
  EXPECT_EQ(found(true, "indefinite").size(), 1U);
}

TEST(Diagnosis, RecommendsNoKrylovMethodThatIsTaken) {
  advise::SystemFacts facts;
  facts.coarse_solver = "direct";
  facts.levels = {{.rows = 900, .nonzeros = 5000, .negative_diagonals = 9}};
  facts.symmetric = true;
  const auto advice = [&](const char* method) {
    facts.krylov = described(method);
    return of_kind(advise::findings(facts, {}), "indefinite").at(0).advice;
  };
  EXPECT_EQ(advice(nullptr), "take `preset direct` or `preset indefinite`");
  EXPECT_EQ(advice("cg"), advice(nullptr));
  EXPECT_EQ(advice("minres"), advice(nullptr));
  EXPECT_EQ(advice("gmres"), "where the solve is slow, " + advice(nullptr));
  facts.coarse_solver = "";  // without multigrid
  EXPECT_EQ(advice("minres").find("--"), std::string::npos);
  EXPECT_EQ(advice("gmres").find("--"), std::string::npos);
}

TEST(Diagnosis, RecommendsAnotherSmootherForAnIndefinitePreconditioner) {
  const auto advice = [](const std::string& smoother, bool multigrid) {
    Options options;
    options.smoother = smoother;
    const advise::SolveFacts solve{solve::Outcome::indefinite_preconditioner, multigrid, 1};
    return advise::findings(solve, options).at(0).advice;
  };
  // With these it is the matrix that is not definite.
  EXPECT_EQ(advice("l1_gauss_seidel", true), "try `solver gmres` or `preset direct`");
  EXPECT_EQ(advice("l1_jacobi", true), "try `solver gmres` or `preset direct`");
  EXPECT_EQ(advice("chebyshev", true), "try `smoother l1_gauss_seidel` or `solver gmres`");
  EXPECT_EQ(advice("jacobi", true), "try `smoother l1_jacobi` or `solver gmres`");
  EXPECT_EQ(advice("jacobi", false), "try `solver gmres` or `preset direct`");
}

TEST(Diagnosis, IsTheSameOnAnyLayout) {
  DenseMatrix A = test::with_negated_rows(test::random_symmetric(40, 0.2, 0.8, 4),
                                          [](GlobalIndex i) { return i % 7 == 0; });
  for (GlobalIndex i = 0; i < 40; ++i) {
    for (const GlobalIndex j : {4, 11, 25}) {
      A(i, j) *= 1e-10;
      A(j, i) *= 1e-10;
    }
  }
  A(30, 30) = 1e-14;
  const advise::SystemFacts serial = advise::matrix_facts<double>(
      std::make_shared<const matrix::DistMatrix<double>>(test::serial(A)));
  EXPECT_EQ(serial.levels[0].near_zero_diagonals, 4);
  EXPECT_EQ(serial.levels[0].small_rows, 2);  // the third is coupled to row 30
  for (const Layout& layout : test::layouts_of(test_comm(), A.rows())) {
    const advise::SystemFacts facts = advise::matrix_facts<double>(
        std::make_shared<const matrix::DistMatrix<double>>(distribute(A, layout)));
    EXPECT_EQ(facts.levels[0].negative_diagonals, serial.levels[0].negative_diagonals);
    EXPECT_EQ(facts.levels[0].positive_rows, serial.levels[0].positive_rows);
    EXPECT_EQ(facts.levels[0].near_zero_diagonals, serial.levels[0].near_zero_diagonals);
    EXPECT_EQ(facts.levels[0].small_rows, serial.levels[0].small_rows);
  }
}

}  // namespace amg_diagnosis_test
}  // namespace nodewise::amg
