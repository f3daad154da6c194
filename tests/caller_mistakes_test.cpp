// Mistakes of a caller, also on one rank alone, are errors on every rank and never a hang.
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "collective_error.hpp"
#include "smoother_support.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace caller_mistakes_test {

using testing::HasSubstr;

bool is_last() {
  return test_comm()->rank() == test_comm()->size() - 1;
}

std::shared_ptr<const matrix::DistMatrix<double>> small_matrix() {
  return std::make_shared<const matrix::DistMatrix<double>>(
      io::generate<double>(test_comm(), {.problem = "laplace5", .n = 12}));
}

/// Collective. Expects the same Error on every rank; returns its text.
template <class Work>
std::string same_error(ErrorCode code, Work&& work) {
  return expect_same_error(*test_comm(), code, std::forward<Work>(work));
}
constexpr ErrorCode invalid = ErrorCode::invalid_argument;

/// A change of options and what the error is to name.
template <class Options>
struct Mistake {
  std::function<void(Options&)> make;
  std::string name;
};

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<Mistake<amg::Options>> bad_amg_options() {
  using O = amg::Options;
  return {{[](O& o) { o.unknowns = 0; }, "unknowns"},
          {[](O& o) { o.max_levels = -2; }, "max_levels"},
          {[](O& o) { amg::classical_options(o).strength_threshold = nan; }, "strength_threshold"},
          {[](O& o) { amg::set_sor_weight(o, 2.5); }, "sor_weight"},
          {[](O& o) { amg::sweeps_of(o).pre_sweeps = -1; }, "pre_sweeps"},
          {[](O& o) {
             o.smoother = "jacobi";
             amg::set_jacobi_weight(o, nan);
           },
           "jacobi_weight"},
          {[](O& o) {
             o.smoother = "chebyshev";
             amg::set_chebyshev_degree(o, 0);
           },
           "chebyshev_degree"},
          {[](O& o) {
             o.method = "aggregation";
             o.method.options<amg::AggregationOptions>().aggregation_distance = 0;
           },
           "aggregation_distance"},
          {[](O& o) {
             o.method = "air";
             o.method.options<amg::AirOptions>().restriction_distance = 3;
           },
           "restriction_distance"}};
}

TEST(CallerMistakes, OptionsOfMultigridOutOfTheirRange) {
  const auto A = small_matrix();
  for (const auto& mistake : bad_amg_options()) {
    for (const bool on_one_rank : {false, true}) {
      amg::Options options;
      if (!on_one_rank || is_last()) mistake.make(options);
      EXPECT_THAT(same_error(invalid, [&] { amg::Hierarchy<double>(A, options); }),
                  HasSubstr(mistake.name));
    }
  }
}

TEST(CallerMistakes, OptionsOfMultigridThatDifferBetweenRanks) {
  if (test_comm()->size() == 1) GTEST_SKIP() << "needs several ranks";
  const auto A = small_matrix();
  using O = amg::Options;
  const Mistake<O> changes[] = {
      {[](O& o) { o.max_levels = 2; }, ""},
      {[](O& o) { o.set("coarsening", "pmis"); }, ""},
      {[](O& o) {
         o.route = {"direct", "three_step"};
       },
       ""},
      {[](O& o) { amg::classical_options(o).strength_threshold = 0.25000000000000006; }, ""}};
  for (const auto& change : changes) {
    amg::Options options;
    if (is_last()) change.make(options);
    EXPECT_EQ(same_error(invalid, [&] { amg::Hierarchy<double>(A, options); }),
              "multigrid setup: options and knowledge must be the same on every rank");
  }
  amg::Hierarchy<double> hierarchy(A, amg::Options{});
  const auto reuse = is_last() ? amg::Reuse::splitting : amg::Reuse::interpolation;
  EXPECT_THAT(same_error(invalid, [&] { hierarchy.rebuild(A, reuse); }),
              HasSubstr("multigrid rebuild"));
}

TEST(CallerMistakes, ArgumentsOfASolveThatDifferBetweenRanks) {
  if (test_comm()->size() == 1) GTEST_SKIP() << "needs several ranks";
  const auto A = small_matrix();
  const solve::MatrixOperator<double> op(A);
  const amg::Hierarchy<double> hierarchy(A, amg::Options{});
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0.0);
  using O = solve::Options;
  const Mistake<O> changes[] = {{[](O& o) { o.tolerance = 1e-4; }, ""},
                                {[](O& o) { o.max_iterations = 3; }, ""}};
  for (const auto& change : changes) {
    solve::Options options;
    if (is_last()) change.make(options);
    for (const char* method : {"cg", "gmres"}) {
      same_error(invalid, [&] { solve::solve_by<double>(method, op, &hierarchy, b, x, options); });
    }
  }
  Choice<solve::KrylovMethod> gmres("gmres");
  if (is_last()) gmres.options<solve::GmresOptions>().restart = 7;
  same_error(invalid, [&] { solve::solve_by<double>(gmres, op, &hierarchy, b, x, {}); });
  const solve::Operator<double>* const M = is_last() ? nullptr : &hierarchy;
  EXPECT_EQ(same_error(invalid, [&] { solve::cg<double>(op, M, b, x, {}); }),
            "solve: method, options, preconditioner and kind of observer must be the same on "
            "every rank");
}

TEST(CallerMistakes, ObserversOfDifferentKinds) {
  if (test_comm()->size() == 1) GTEST_SKIP() << "needs several ranks";
  const auto A = small_matrix();
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0.0);
  solve::Observer observe = [](int, double) {};
  if (is_last()) observe = [](int, double) { return true; };
  const std::string text = "kind of observer must be the same on every rank";
  EXPECT_THAT(same_error(invalid, [&] { solve::cg<double>(op, nullptr, b, x, {}, observe); }),
              HasSubstr(text));
  EXPECT_THAT(
      same_error(invalid,
                 [&] { solve::simultaneous_cg<double>(op, nullptr, b, x, 1, {}, observe); }),
      HasSubstr(text));
  // Nobody but the first rank looking on is no difference.
  observe = {};
  if (test_comm()->is_root()) observe = [](int, double) {};
  EXPECT_TRUE(solve::cg<double>(op, nullptr, b, x, {}, observe).converged());
}

TEST(CallerMistakes, ASolutionThatOverlapsTheRightHandSide) {
  const auto A = small_matrix();
  const solve::MatrixOperator<double> op(A);
  const auto n = static_cast<std::size_t>(A->n_local());
  std::vector<double> workspace(2 * n, 1.0), apart(n);
  const std::span<const double> b = std::span(workspace).first(n);
  // On the last rank alone, by one entry where it has any.
  const std::span<double> x =
      is_last() ? std::span(workspace).subspan(n - (n > 0 ? 1 : 0), n) : std::span<double>(apart);
  const std::string text = "the solution overlaps the right-hand side";
  EXPECT_THAT(same_error(invalid, [&] { solve::gmres<double>(op, nullptr, b, x, {}); }),
              HasSubstr(text));
  EXPECT_THAT(
      same_error(invalid, [&] { solve::simultaneous_cg<double>(op, nullptr, b, x, 1, {}); }),
      HasSubstr(text));
  // Side by side is not over each other.
  EXPECT_TRUE(solve::cg<double>(op, nullptr, b, std::span(workspace).last(n), {}).converged());
}

// Where the method relies on it: such solves converge now and then, and stagnate or fail elsewhere.
TEST(CallerMistakes, APreconditionerThatIsNotSymmetricOrNotFixed) {
  const auto A = small_matrix();
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  const auto refusal = [&](const amg::Hierarchy<double>& M, const char* method) {
    std::vector<double> x(b.size(), 0.0);
    return same_error(invalid, [&] { solve::solve_by<double>(method, op, &M, b, x, {}, {}); });
  };
  const auto made_by = [&](const std::string& cycle, const char* method) {
    amg::Options options;
    options.cycle = cycle;
    options.method = method;
    return amg::Hierarchy<double>(A, options);
  };
  const auto f = made_by("f", "classical");
  const auto air = made_by("v", "air");
  for (const char* method : {"cg", "pipelined_cg", "enlarged_cg", "minres"}) {
    const std::string start =
        std::string("solve: ") + method + " needs a symmetric preconditioner, and ";
    EXPECT_EQ(refusal(f, method), start + "cycle f makes it another; leave that, or take gmres");
    EXPECT_EQ(refusal(air, method),
              start + "method air makes it another; leave that, or take gmres");
  }
  const auto k = made_by("k", "classical");
  EXPECT_THAT(refusal(k, "cg"), HasSubstr("cg needs a preconditioner that is the same map"));
  EXPECT_THAT(refusal(k, "cg"), HasSubstr("take flexible_cg or fgmres"));
  EXPECT_THAT(refusal(k, "bicgstab"), HasSubstr("; take fgmres"));
  for (const char* method : {"flexible_cg", "fgmres", "stationary"}) {
    std::vector<double> x(b.size(), 0.0);
    EXPECT_TRUE(solve::solve_by<double>(method, op, &k, b, x, {}, {}).converged());
  }
}

TEST(CallerMistakes, NoMatrixAndNoSuchLevel) {
  EXPECT_EQ(same_error(invalid, [] { amg::Hierarchy<double>(nullptr, amg::Options{}); }),
            "multigrid: there is no matrix");
  EXPECT_EQ(same_error(invalid, [] { solve::MatrixOperator<double>(nullptr); }),
            "solve: there is no matrix");
  amg::Hierarchy<double> hierarchy(small_matrix(), amg::Options{});
  EXPECT_EQ(same_error(invalid, [&] { hierarchy.rebuild(nullptr); }),
            "multigrid: there is no matrix");
  const std::size_t n_levels = hierarchy.levels().size();
  for (const auto& look : std::vector<std::function<void(std::size_t)>>{
           [&](std::size_t l) { (void)hierarchy.matrix(l); },
           [&](std::size_t l) { (void)hierarchy.interpolation(l); },
           [&](std::size_t l) { (void)hierarchy.restriction(l); },
           [&](std::size_t l) { (void)hierarchy.coarse_rows(l); }}) {
    EXPECT_NO_THROW(look(n_levels - 1));
    EXPECT_THAT(same_error(invalid, [&] { look(n_levels); }), HasSubstr("there is no level"));
  }
}

TEST(CallerMistakes, AMethodThatWasNotChosen) {
  const auto A = small_matrix();
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0.0);
  for (const char* others : {"cg", "auto"}) {
    const char* method = is_last() ? "auto" : others;
    EXPECT_THAT(
        same_error(invalid, [&] { solve::solve_by<double>(method, op, nullptr, b, x, {}); }),
        HasSubstr("no method was chosen"));
  }
}

TEST(CallerMistakes, AnObserverThatThrowsOnOneRank) {
  const auto A = small_matrix();
  const solve::MatrixOperator<double> op(A);
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0.0);
  const auto observe = [](int iteration, double) {
    if (iteration == 2 && is_last()) throw std::domain_error("of the caller");
    return true;
  };
  const auto solve = [&] { solve::cg<double>(op, nullptr, b, x, {}, observe); };
  if (is_last()) {
    EXPECT_THROW(solve(), std::domain_error);
  } else {
    EXPECT_THAT(error_of(solve).value().what(), HasSubstr("of the caller"));
  }
}

TEST(CallerMistakes, AnExceptionThatIsNoStandardOne) {
  same_error(ErrorCode::internal, [&] {
    mpi::collectively(*test_comm(), [] {
      if (is_last()) throw 42;
    });
  });
}

TEST(CallerMistakes, AModelProblemThatIsBadOrAnotherOnOneRank) {
  io::GalleryOptions options{.problem = "laplace5", .n = is_last() ? -1 : 9};
  const auto generate = [&] { io::generate<double>(test_comm(), options); };
  same_error(invalid, generate);
  if (test_comm()->size() == 1) return;
  options.n = is_last() ? 8 : 9;
  EXPECT_THAT(same_error(invalid, generate), HasSubstr("must be the same on every rank"));
}

TEST(CallerMistakes, RowsThatAreNoRows) {
  const comm::Layout layout = uniform(3 * test_comm()->size());
  using Block = matrix::RowBlock<double>;
  const std::function<void(Block&)> mistakes[] = {
      [](Block& b) { b.rows.cols[0] = 1'000'000; }, [](Block& b) { b.rows.cols[0] = -1; },
      [](Block& b) { b.rows.row_ptr[3] = 4; },      [](Block& b) { b.rows.row_ptr[1] = 3; },
      [](Block& b) { b.rows.vals.resize(1); },      [](Block& b) { b.rows.row_ptr.resize(2); }};
  for (const auto& mistake : mistakes) {
    Block block{kernels::Csr<double>(3, 3), 3, {}};
    block.rows.cols.resize(3);
    block.rows.vals.resize(3);
    for (LocalIndex i = 0; i < 3; ++i) {
      block.rows.row_ptr[static_cast<std::size_t>(i) + 1] = i + 1;
      block.rows.cols[static_cast<std::size_t>(i)] = i;
      block.rows.vals[static_cast<std::size_t>(i)] = 1;
    }
    if (is_last()) mistake(block);
    same_error(ErrorCode::dimension_mismatch,
               [&] { matrix::DistMatrix<double>(layout, layout, std::move(block)); });
  }
}

TEST(CallerMistakes, VectorsOfTheWrongLength) {
  const auto A = small_matrix();
  const amg::Hierarchy<double> hierarchy(A, amg::Options{});
  const auto n = static_cast<std::size_t>(A->n_local());
  std::vector<double> x(n + 1), y(n);
  const auto refuses = [](const auto& work) {
    const std::optional<Error> error = error_of(work);
    return error && error->code() == ErrorCode::dimension_mismatch;
  };
  EXPECT_TRUE(refuses([&] { matrix::multiply<double>(*A, x, y); }));
  EXPECT_TRUE(refuses([&] { matrix::multiply_add<double>(*A, x, y); }));
  EXPECT_TRUE(refuses([&] { matrix::multiply_transposed<double>(*A, x, y); }));
  EXPECT_TRUE(refuses([&] { matrix::residual<double>(*A, x, y, y); }));
  EXPECT_TRUE(refuses([&] { matrix::multiply<double>(*A, y, y, 2); }));
  EXPECT_TRUE(refuses([&] { matrix::multiply<double>(*A, y, y, 0); }));
  EXPECT_TRUE(refuses([&] { hierarchy.apply(x, y); }));
}

TEST(CallerMistakes, LayoutsThatDifferBetweenRanks) {
  const int size = test_comm()->size();
  if (size == 1) GTEST_SKIP() << "needs several ranks";
  const comm::Layout everywhere = uniform(4 * size);
  const auto identity = [](const comm::Layout& rows, const comm::Layout& cols) {
    matrix::RowBlock<double> block;
    block.rows = matrix::Csr<double>(rows.n_local(), 0);
    block.n_owned_cols = cols.n_local();
    matrix::DistMatrix<double>(rows, cols, std::move(block));
  };
  std::vector<GlobalIndex> starts(everywhere.starts().begin(), everywhere.starts().end());
  --starts[1];
  const comm::Layout other = is_last() ? comm::Layout(test_comm(), starts) : everywhere;
  const std::string text = "matrix: its layouts must be the same on every rank";
  EXPECT_EQ(same_error(invalid, [&] { identity(other, everywhere); }), text);
  EXPECT_EQ(same_error(invalid, [&] { identity(everywhere, other); }), text);
}

TEST(CallerMistakes, RangesThatNoIndexCounts) {
  std::vector<GlobalIndex> starts(static_cast<std::size_t>(test_comm()->size()) + 1,
                                  std::numeric_limits<GlobalIndex>::min());
  starts.back() = std::numeric_limits<GlobalIndex>::max();
  same_error(ErrorCode::index_overflow, [&] { comm::Layout(test_comm(), starts); });
}

}  // namespace caller_mistakes_test
}  // namespace nodewise::test
