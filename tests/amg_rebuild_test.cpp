// Setting a hierarchy up again for other values on the same pattern.
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "nodewise/amg/hierarchy.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/solve/krylov.hpp"
#include "nodewise/solve/matrix_operator.hpp"

#include "amg_support.hpp"
#include "collective_error.hpp"
#include "cycle_support.hpp"
#include "mpi_counter.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_rebuild_test {

using matrix::DistMatrix;
using matrix::Layout;
using test::counted;
using test::expect_same_error;
using test::MpiCalls;
using test::test_comm;

using Matrix = std::shared_ptr<const DistMatrix<double>>;

Matrix shared(DistMatrix<double> A) {
  return std::make_shared<const DistMatrix<double>>(std::move(A));
}

Options small_options() {
  Options options;
  options.max_coarse_rows = 6;
  return options;
}

/// Collective. D A D for a diagonal matrix D of positive numbers.
Matrix scaled(const DistMatrix<double>& A) {
  const auto factor = [](GlobalIndex i) {
    return 0.5 + hash_uniform(static_cast<std::uint64_t>(i), 3);
  };
  Array<double> on = A.on().vals, off = A.off().vals;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const double row = factor(A.rows().to_global(i));
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      on[p] *= row * factor(A.cols().to_global(A.on().cols[p]));
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      off[p] *= row * factor(A.ghosts()[static_cast<std::size_t>(A.off().cols[p])]);
    }
  }
  return shared(A.with_values(std::move(on), std::move(off)));
}

std::vector<double> applied(const Hierarchy<double>& hierarchy) {
  return test::one_cycle(hierarchy, 5);
}

template <class Values>
bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

void expect_same_bits(const DistMatrix<double>& A, const DistMatrix<double>& B) {
  EXPECT_EQ(A.on().cols, B.on().cols);
  EXPECT_EQ(A.off().cols, B.off().cols);
  EXPECT_TRUE(same_bits(A.on().vals, B.on().vals));
  EXPECT_TRUE(same_bits(A.off().vals, B.off().vals));
}

/// Calls f(comm, node of every rank, options) for placements and routes.
template <class F>
void for_each_route(const F& f) {
  for (const auto& map : test::node_maps(test_comm()->size())) {
    mpi::CommSettings settings;
    settings.allreduce = "mpi";  // so that agreements send nothing themselves
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank, settings);
    for (const comm::Route route : comm::RouteMethod::family()) {
      SCOPED_TRACE(testing::Message() << map.name << ", " << route.name());
      Options options = small_options();
      options.route = route;
      f(comm, map.node_of_rank, options);
    }
  }
}

TEST(Rebuild, WithTheSameValuesIsTheSameBitForBit) {
  for_each_route([](const auto& comm, const auto&, const Options& options) {
    const auto A = shared(io::generate<double>(comm, {.problem = "rotated_fe", .n = 12}));
    const Hierarchy<double> fresh(A, options);
    Hierarchy<double> hierarchy(A, options);
    const std::vector<double> expected = applied(fresh);
    ASSERT_GT(fresh.levels().size(), 2U);
    for (int step = 0; step < 3; ++step) {
      if (step == 1) {  // there and back
        hierarchy.rebuild(scaled(*A));
        EXPECT_NE(applied(hierarchy), expected);
      }
      hierarchy.rebuild(A);
      for (std::size_t l = 0; l < fresh.levels().size(); ++l) {
        expect_same_bits(*hierarchy.matrix(l), *fresh.matrix(l));
        EXPECT_EQ(hierarchy.matrix(l)->route(), fresh.matrix(l)->route());
      }
      EXPECT_TRUE(same_bits(applied(hierarchy), expected));
    }
  });
}

TEST(Rebuild, WithOtherValuesMakesNewGalerkinProducts) {
  for_each_route([](const auto& comm, const auto&, const Options& options) {
    const auto A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 11}));
    Hierarchy<double> hierarchy(A, options);
    const Matrix old_coarse = hierarchy.matrix(1);
    const Array<double> old_values = old_coarse->on().vals;
    for (const Matrix& B : {scaled(*A), scaled(*scaled(*A))}) {
      hierarchy.rebuild(B);
      expect_same_bits(*hierarchy.matrix(0), *B);
      for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
        expect_same_bits(
            *hierarchy.matrix(l + 1),
            matrix::galerkin_product(*hierarchy.matrix(l), *hierarchy.interpolation(l)));
      }
    }
    EXPECT_TRUE(same_bits(old_coarse->on().vals, old_values));  // matrices do not change
  });
}

/// Collective. All values times a power of two, which no rounding sees.
Matrix quadrupled(const DistMatrix<double>& A) {
  Array<double> on = A.on().vals, off = A.off().vals;
  for (double& value : on) value *= 4;
  for (double& value : off) value *= 4;
  return shared(A.with_values(std::move(on), std::move(off)));
}

std::vector<Options> every_method() {
  Options hmis = small_options(), aggressive = hmis, aggregation = hmis, greedy = hmis, air = hmis,
          unknowns = hmis, single = hmis, smoothed = hmis;
  aggressive.set("aggressive_levels", 1);
  aggregation.method = "aggregation";
  aggregation.smoother = "chebyshev";
  greedy.method = "aggregation";
  greedy.set("aggregates", "standard");
  greedy.set("filter_prolongation", true);
  air.method = "air";
  smoothed.method = "aggregation";
  smoothed.set("restriction", "smoothed");
  unknowns.unknowns = 2;
  single.precision = Precision::single;
  return {hmis, aggressive, aggregation, greedy, air, unknowns, single, smoothed};
}

// Splittings do not change with the scale of the matrix: so what is computed anew on the old ones
// is what a new setup makes.
TEST(Rebuild, OnTheSplittingsIsTheNewSetupBitForBit) {
  for (Options options : every_method()) {
    SCOPED_TRACE(options.method.name());
    complete(options);
    const auto A = shared(io::generate<double>(test_comm(), {.problem = "rotated_fe", .n = 12}));
    Hierarchy<double> hierarchy(A, options);
    for (const Matrix& B : {quadrupled(*A), A}) {
      hierarchy.rebuild(B, Reuse::splitting);
      const Hierarchy<double> fresh(B, options);
      ASSERT_EQ(hierarchy.levels().size(), fresh.levels().size());
      ASSERT_GT(fresh.levels().size(), 1U);
      for (std::size_t l = 0; l < fresh.levels().size(); ++l) {
        expect_same_bits(*hierarchy.matrix(l), *fresh.matrix(l));
        EXPECT_EQ(hierarchy.levels()[l].nonzeros, fresh.levels()[l].nonzeros);
        EXPECT_EQ(hierarchy.levels()[l].traffic.messages_off_node,
                  fresh.levels()[l].traffic.messages_off_node);
        if (fresh.interpolation(l) == nullptr) continue;
        expect_same_bits(*hierarchy.interpolation(l), *fresh.interpolation(l));
        ASSERT_EQ(hierarchy.restriction(l) == nullptr, fresh.restriction(l) == nullptr);
        if (fresh.restriction(l) == nullptr) continue;
        expect_same_bits(*hierarchy.restriction(l), *fresh.restriction(l));
      }
      EXPECT_TRUE(same_bits(applied(hierarchy), applied(fresh)));
    }
  }
}

TEST(Rebuild, OnTheSplittingsHasInterpolationsOfTheNewValues) {
  for_each_route([](const auto& comm, const auto&, const Options& options) {
    const auto A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 11}));
    Hierarchy<double> hierarchy(A, options);
    const std::vector<LocalIndex> coarse(hierarchy.coarse_rows(0).begin(),
                                         hierarchy.coarse_rows(0).end());
    const Array<double> old_weights = hierarchy.interpolation(0)->on().vals;
    const Matrix B = scaled(*A);
    hierarchy.rebuild(B, Reuse::splitting);
    EXPECT_TRUE(std::equal(coarse.begin(), coarse.end(), hierarchy.coarse_rows(0).begin(),
                           hierarchy.coarse_rows(0).end()));
    const bool has_fine = coarse.size() < static_cast<std::size_t>(A->n_local());
    EXPECT_EQ(hierarchy.interpolation(0)->on().vals != old_weights, has_fine);
    for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
      EXPECT_EQ(hierarchy.matrix(l)->route(), options.route.on(static_cast<int>(l)));
      expect_same_bits(*hierarchy.matrix(l + 1),
                       matrix::galerkin_product(*hierarchy.matrix(l), *hierarchy.interpolation(l)));
    }
    // What keeps the interpolation goes on from there.
    const std::vector<double> expected = applied(hierarchy);
    hierarchy.rebuild(A);
    hierarchy.rebuild(B);
    EXPECT_TRUE(same_bits(applied(hierarchy), expected));
  });
}

// A matrix times 4 is solved as well as the matrix: all parts of the cycle know the new values.
TEST(Rebuild, RenewsSmoothersAndCoarseSolver) {
  for (const std::string kind : {"l1_gauss_seidel", "gauss_seidel", "l1_jacobi", "jacobi"}) {
    for (const int max_levels : {2, 25}) {  // the last level is swept over, or solved directly
      Options options = small_options();
      options.smoother = kind;
      options.max_levels = max_levels;
      const int n = max_levels == 2 ? 40 : 12;
      const auto A = shared(io::generate<double>(test_comm(), {.problem = "laplace5", .n = n}));
      Hierarchy<double> hierarchy(A, options);
      const std::vector<double> before = applied(hierarchy);
      hierarchy.rebuild(quadrupled(*A));
      std::vector<double> after = applied(hierarchy);
      for (double& value : after) value *= 4;
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-13);
    }
  }
}

/// Collective. The Laplacian A of n x n points with a coefficient that varies smoothly.
Matrix with_coefficients(const DistMatrix<double>& A, int n) {
  const auto at = [&](GlobalIndex i) { return 1 + 0.8 * std::sin(6.0 * double(i % n) / n); };
  Array<double> on = A.on().vals, off = A.off().vals;
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    const GlobalIndex row = A.rows().to_global(i);
    double before = 0, after = 0;  // the sum of the couplings
    const auto couple = [&](double& value, GlobalIndex column) {
      before += value;
      after += value *= (at(row) + at(column)) / 2;
    };
    double* diagonal = nullptr;
    for (Offset k = A.on().begin(i); k < A.on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (A.on().cols[p] == i) {
        diagonal = &on[p];
      } else {
        couple(on[p], A.cols().to_global(A.on().cols[p]));
      }
    }
    for (Offset k = A.off().begin(i); k < A.off().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      couple(off[p], A.ghosts()[static_cast<std::size_t>(A.off().cols[p])]);
    }
    *diagonal = at(row) * (*diagonal + before) - after;
  }
  return shared(A.with_values(std::move(on), std::move(off)));
}

int iterations(const Matrix& A, const Hierarchy<double>& M) {
  std::vector<double> x(static_cast<std::size_t>(A->n_local()), 0.0), b = x;
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = hash_uniform(static_cast<std::uint64_t>(A->rows().begin()) + i, 8) - 0.5;
  }
  const auto report = solve::cg<double>(solve::MatrixOperator<double>(A), &M, b, x, {});
  EXPECT_TRUE(report.converged()) << report.diagnosis;
  return report.iterations;
}

// Chebyshev needs the spectral radius of every level, which a rebuild follows in fewer products.
TEST(Rebuild, SolvesWithChebyshevAsANewSetupDoes) {
  const int n = 18;
  const auto A = shared(io::generate<double>(test_comm(), {.problem = "laplace9", .n = n}));
  Array<double> on = A->on().vals, off = A->off().vals;
  for (double& value : on) value *= 3;
  for (double& value : off) value *= 3;
  const Matrix tripled = shared(A->with_values(std::move(on), std::move(off)));
  for (const char* method : {"classical", "aggregation"}) {
    Options options = small_options();
    options.smoother = "chebyshev";
    options.method = method;
    Hierarchy<double> hierarchy(A, options);
    const std::vector<double> first = applied(hierarchy);
    for (const Matrix& B : {with_coefficients(*A, n), tripled, A}) {
      hierarchy.rebuild(B);
      EXPECT_LE(std::abs(iterations(B, hierarchy) - iterations(B, Hierarchy<double>(B, options))),
                1);
    }
    EXPECT_TRUE(same_bits(applied(hierarchy), first));
  }
}

/// Messages this rank sends when the exchange brings ghosts.
std::int64_t messages(const DistMatrix<double>& A) {
  std::int64_t messages = 0;
  for (const comm::Stage& stage : A.exchange().plan().stages) {
    messages += static_cast<std::int64_t>(stage.send_ranks.size());
  }
  return messages;
}

/// Messages this rank sends when the exchange runs in reverse.
std::int64_t reversed_messages(const DistMatrix<double>& P) {
  std::int64_t messages = 0;
  for (const comm::Stage& stage : P.exchange().plan().stages) {
    messages += static_cast<std::int64_t>(stage.recv_ranks.size());
  }
  return messages;
}

TEST(Rebuild, SendsTheValuesOfPartialRowsAndNothingElse) {
  for_each_route([](const auto& comm, const auto& nodes, const Options& options) {
    const auto A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 11}));
    const auto B = scaled(*A);
    for (const bool is_told_of_symmetry : {true, false}) {
      ProblemInfo<double> knowledge;
      if (is_told_of_symmetry) knowledge.symmetric = true;
      Hierarchy<double> hierarchy(A, options, knowledge);
      EXPECT_EQ(counted(nodes, [&] { hierarchy.rebuild(B); }).synchronous, 0);  // plans
      const MpiCalls calls = counted(nodes, [&] { hierarchy.rebuild(A); });
      EXPECT_EQ(calls.synchronous, 0);
      std::int64_t expected = is_told_of_symmetry ? 0 : reversed_messages(*hierarchy.matrix(0));
      for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
        expected += reversed_messages(*hierarchy.interpolation(l));
        expected += messages(*hierarchy.matrix(l));  // for the smoother: how large rows are
      }
      EXPECT_EQ(calls.messages(), expected);
    }
  });
}

// Half of a matrix says nothing of the other half when that is no longer its mirror image.
TEST(Rebuild, SeesWhetherOtherValuesAreSymmetric) {
  const auto comm = test_comm();
  const auto A = shared(io::generate<double>(comm, {.problem = "laplace9", .n = 14}));
  Array<double> on = A->on().vals;
  for (LocalIndex i = 0; i < A->n_local(); ++i) {
    for (Offset k = A->on().begin(i); k < A->on().end(i); ++k) {
      const auto p = static_cast<std::size_t>(k);
      if (A->on().cols[p] > i) on[p] *= 0.5;
    }
  }
  const auto B = shared(A->with_values(std::move(on), A->off().vals));
  for (const Reuse reuse : {Reuse::interpolation, Reuse::splitting}) {
    Options options = small_options();
    set_order(options, SweepOrder::forward_backward);
    options.set("strength_measure", "opposite_sign");
    options.cycle = "k";  // on which symmetry depends, so that it is looked for
    Hierarchy<double> found(A, options);
    const std::vector<double> first = applied(found);
    ProblemInfo<double> nothing;
    nothing.symmetric = false;
    Hierarchy<double> told(A, options, nothing);
    found.rebuild(B, reuse);
    told.rebuild(B, reuse);
    const std::vector<double> x = applied(found), expected = applied(told);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      difference = std::max(difference, std::abs(x[i] - expected[i]));
      size = std::max(size, std::abs(expected[i]));
    }
    EXPECT_LE(difference, 1e-10 * size);
    found.rebuild(A, reuse);
    EXPECT_TRUE(same_bits(applied(found), first));
  }
}

TEST(RebuildErrors, LeaveTheHierarchyAsItWas) {
  const auto comm = test_comm();
  const auto A = shared(io::generate<double>(comm, {.problem = "laplace5", .n = 9}));
  Hierarchy<double> hierarchy(A, small_options());
  const std::vector<double> expected = applied(hierarchy);
  const auto refused = [&](ErrorCode code, const Matrix& B) {
    const std::string text = expect_same_error(*comm, code, [&] { hierarchy.rebuild(B); });
    EXPECT_TRUE(same_bits(applied(hierarchy), expected));
    return text;
  };
  Array<double> on = A->on().vals;
  if (comm->rank() == comm->size() - 1) on.back() = std::numeric_limits<double>::quiet_NaN();
  const auto text =
      refused(ErrorCode::unsuitable_matrix, shared(A->with_values(on, A->off().vals)));
  EXPECT_NE(text.find("row 80, counted from 0, has an entry that is not a finite number"),
            std::string::npos)
      << text;
  const auto other = io::generate<double>(comm, {.problem = "laplace9", .n = 9});
  EXPECT_NE(refused(ErrorCode::unsuitable_matrix, shared(other)).find("row 0, counted from 0,"),
            std::string::npos);
  const auto larger = io::generate<double>(comm, {.problem = "laplace5", .n = 10});
  refused(ErrorCode::dimension_mismatch, shared(larger));
  hierarchy.rebuild(scaled(*A));
  EXPECT_NE(applied(hierarchy), expected);
  hierarchy.rebuild(A);
  EXPECT_TRUE(same_bits(applied(hierarchy), expected));
}

// A Neumann problem has a singular coarse matrix, a shifted one has not.
TEST(Rebuild, ReportsTheCoarseSolverAnew) {
  const auto comm = test_comm();
  const GlobalIndex n = 12;
  const Layout layout = Layout::uniform(comm, n);
  const auto chain = [&](double shift) {
    return shared(matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, auto&& emit) {
      emit(i, (i == 0 || i + 1 == n ? 1.0 : 2.0) + shift);
      if (i > 0) emit(i - 1, -1.0);
      if (i + 1 < n) emit(i + 1, -1.0);
    }));
  };
  Hierarchy<double> hierarchy(chain(0.0), {});
  EXPECT_EQ(hierarchy.levels().back().coarse_solver, "direct, singular");
  hierarchy.rebuild(chain(0.5));
  EXPECT_EQ(hierarchy.levels().back().coarse_solver, "direct");
}

// A hierarchy that is left as it is serves a matrix that changes slowly: what converges is the
// residual of the new one.
TEST(Rebuild, IsNotNeededForAMatrixThatChangesLittle) {
  const auto A = shared(io::generate<double>(test_comm(), {.problem = "laplace9", .n = 30}));
  const Hierarchy<double> M(A, small_options());
  const auto n = static_cast<std::size_t>(A->n_local());
  std::vector<double> b(n), residual(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = hash_uniform(i, 7) - 0.5;
  int last = 0;
  for (const double change : {0.0, 0.05, 0.5}) {
    Array<double> on = A->on().vals;
    for (LocalIndex i = 0; i < A->n_local(); ++i) {
      for (Offset k = A->on().begin(i); k < A->on().end(i); ++k) {
        const auto p = static_cast<std::size_t>(k);
        if (A->on().cols[p] == i) on[p] *= 1 + change * hash_uniform(p, 3);
      }
    }
    const Matrix B = shared(A->with_values(std::move(on), Array<double>(A->off().vals)));
    std::vector<double> x(n, 0.0);
    const auto report = solve::cg<double>(solve::MatrixOperator<double>(B), &M, b, x, {});
    EXPECT_TRUE(report.converged()) << report.diagnosis;
    EXPECT_GE(report.iterations, last);
    last = report.iterations;
    EXPECT_LE(last, 30);
    matrix::residual(*B, std::span<const double>(x), std::span<const double>(b),
                     std::span<double>(residual));
    double squares[] = {0, 0};
    for (std::size_t i = 0; i < n; ++i) {
      squares[0] += residual[i] * residual[i];
      squares[1] += b[i] * b[i];
    }
    mpi::sum_in_place(*test_comm(), std::span<double>(squares));
    EXPECT_LE(std::sqrt(squares[0] / squares[1]), 1e-8);
  }
}

}  // namespace amg_rebuild_test
}  // namespace nodewise::amg
