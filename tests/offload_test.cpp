// Solves on a device, beside those of the host. `host` runs the kernels of a card.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/amg/cycle/mixed_precision_cycle.hpp"
#include "nodewise/io/machine_file.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/nodewise.hpp"
#include "nodewise/offload/cycle.hpp"

#include "collective_error.hpp"
#include "failing_piece.hpp"
#include "offload_support.hpp"

namespace nodewise::test {
namespace offload_test {

using device::Host;
using testing::HasSubstr;
using Matrix = matrix::DistMatrix<double>;
using Pointer = std::shared_ptr<const Matrix>;

Pointer problem(const char* name, int n, std::shared_ptr<const mpi::Comm> comm = test_comm()) {
  return problem_on(std::move(comm), name, n);
}

/// Collective. A solve on the host and one on the device take as many iterations, or one more or
/// fewer, with the same options: a preset is not chosen.
void expect_as_on_the_host(const Pointer& A, const Given& chosen, const Given& of_device = {}) {
  const PoisonedMemory poisoned;
  const Given given = join({{"preset", "default"}}, chosen);
  const std::vector<double> b = hashed_vector(A->rows(), 7);
  std::vector<double> on_host(b.size()), on_device(b.size());
  Solver host(A, options_of(given));
  const int iterations = host.solve(b, on_host).iterations();
  Solver device(A, options_of(join(join(given, of_device), {{"device", "host"}})));
  const auto& record = device.solve(b, on_device);
  EXPECT_TRUE(record.converged()) << record.report().diagnosis;
  EXPECT_NEAR(record.iterations(), iterations, 1);
  EXPECT_LE(relative_residual(*A, b, on_device), 1e-8);
  EXPECT_EQ(static_cast<int>(record.report().history.size()), record.iterations() + 1);
}

TEST(Offload, SolvesAsTheHostDoes) {
  const std::vector<Given> levels = {{{"smoother", "chebyshev"}},
                                     {{"smoother", "l1_jacobi"}},
                                     {{"smoother", "chebyshev"}, {"method", "aggregation"}},
                                     {{"smoother", "chebyshev"}, {"chebyshev_degree", "3"}}};
  for (const char* name : {"laplace7", "rotated_fe"}) {
    const Pointer A = problem(name, std::string(name) == "laplace7" ? 9 : 24);
    for (const Given& given : levels) {
      for (const char* precision : {"same", "single"}) {
        SCOPED_TRACE(std::string(name) + ", " + given.back().first + " " + given.back().second +
                     ", " + precision);
        expect_as_on_the_host(A, join(given, {{"precision", precision}}));
      }
    }
  }
}

TEST(Offload, SolvesByFlexibleConjugateGradientsToo) {
  expect_as_on_the_host(problem("laplace27", 8),
                        {{"smoother", "chebyshev"}, {"solver", "flexible_cg"}});
}

TEST(Offload, SweepsAsOftenAsAsked) {
  const Pointer A = problem("laplace27", 8);
  for (const auto& [before, after] :
       {std::pair("1", "0"), std::pair("0", "1"), std::pair("2", "2")}) {
    SCOPED_TRACE(std::string(before) + ", " + after);
    expect_as_on_the_host(A, {{"smoother", "chebyshev"},
                              {"pre_sweeps", before},
                              {"post_sweeps", after},
                              {"solver", "flexible_cg"}});
  }
}

TEST(Offload, ExchangesOnEveryRouteAndPlacement) {
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Pointer A = problem("laplace27", 8, comm);
    for (const char* route : {"direct", "two_step", "three_step"}) {
      SCOPED_TRACE(map.name + ", " + route);
      expect_as_on_the_host(A,
                            {{"smoother", "l1_jacobi"}, {"route", route}, {"precision", "same"}});
    }
  }
}

/// Two ranks to a node.
std::shared_ptr<const mpi::Comm> pairs() {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 2);
  return mpi::Comm::create(MPI_COMM_WORLD, nodes);
}

TEST(Offload, ExchangesByEveryWayThatDataLeaveDevices) {
  const Pointer A = problem("laplace27", 6, pairs());
  for (const auto& method : offload::DeviceTransportMethod::family()) {
    SCOPED_TRACE(*method.name);
    const std::string& name = method.name;
    expect_as_on_the_host(A, {{"smoother", "l1_jacobi"}}, {{"device_transport", name.c_str()}});
  }
}

TEST(Offload, ChoosesByWhichWayDataLeaveByTheCostsOfAMachine) {
  const auto comm = pairs();
  const Pointer A = problem("laplace27", 8, comm);
  const auto ways = [&](const Given& given, const char* machine) {
    SolverOptions options = options_of(join({{"device", "host"}, {"route", "direct"}}, given));
    if (machine != nullptr) {
      options.amg.machine = std::make_shared<const model::Machine>(io::find_machine(machine));
    }
    Solver solver(A, options);
    const std::vector<double> b = hashed_vector(A->rows(), 1);
    std::vector<double> x(b.size(), 0);
    EXPECT_TRUE(solver.solve(b, x).converged());
    return solver.record().device->ways;
  };
  const auto named = ways({{"device_transport", "direct"}}, nullptr);
  const auto plain = ways({}, nullptr);
  const auto chosen = ways({}, "lassen-mvapich");
  if (comm->size() == 1) {
    EXPECT_TRUE(named.empty() && plain.empty() && chosen.empty());
    return;
  }
  ASSERT_FALSE(chosen.empty());
  EXPECT_EQ(named.front(), (offload::WayRecord{"direct", ""}));
  EXPECT_EQ(plain.front().name, "one_core");
  EXPECT_THAT(plain.front().reason, HasSubstr("no machine"));
  if (comm->topology().n_nodes() == 1) {
    EXPECT_THAT(chosen.front().reason, HasSubstr("one node"));
  } else {  // few messages of few bytes: quickest straight
    EXPECT_EQ(chosen.front().name, "direct");
    EXPECT_THAT(chosen.front().reason, HasSubstr("predicted"));
  }
}

TEST(Offload, SmoothesALastLevelThatIsNotSolved) {
  expect_as_on_the_host(
      problem("laplace7", 9),
      {{"smoother", "chebyshev"}, {"coarse_solve", "relaxation"}, {"max_levels", "2"}});
}

TEST(Offload, CyclesEqualThoseOfTheHost) {
  const PoisonedMemory poisoned;
  const Pointer A = problem("laplace27", 8);
  amg::Options options;
  options.set("smoother", "chebyshev");
  options.set("precision", "same");
  const amg::Hierarchy<double> hierarchy(A, options);
  offload::Card<Host> card;
  const amg::Cycle<double>& host = hierarchy.cycle().levels_in_own_precision();
  offload::Cycle<double, Host> cycle(card, host, offload::restrictions_of(host), {1, 1},
                                     [](const comm::Exchange& /*exchange*/,
                                        std::size_t /*item_bytes*/) { return offload::Leaving(); });
  const std::vector<double> b = hashed_vector(A->rows(), 3);
  std::vector<double> expected(b.size());
  hierarchy.apply(b, expected);
  for (int time = 0; time < 2; ++time) {  // the second from what the first has left
    card.queue.copy_in(cycle.b(), b.data(), b.size() * sizeof(double));
    cycle.run();
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(cycle.x()[i], expected[i], 1e-12);
  }
  EXPECT_GT(cycle.bytes(), 0u);
}

TEST(Offload, SolvesSystemsOfAFewRows) {
  for (const GlobalIndex n : {1, 2, 5}) {
    SCOPED_TRACE(n);
    for (const comm::Layout& layout : {uniform(n), on_last_rank(n)}) {
      const Pointer A = std::make_shared<const Matrix>(make_operator(layout, laplace).matrix());
      expect_as_on_the_host(A, {{"smoother", "chebyshev"}});
    }
  }
}

TEST(Offload, BeginsAnywhereAndAnyNumberOfTimes) {
  const Pointer A = problem("laplace7", 8);
  Solver solver(A, options_of({{"device", "host"}}));
  EXPECT_EQ(solver.options().amg.smoother.name(), "chebyshev");
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x = hashed_vector(A->rows(), 2), again = x;
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_LE(relative_residual(*A, b, x), 1e-8);
  const int iterations = solver.record().iterations();
  EXPECT_TRUE(solver.solve(b, again).converged());
  EXPECT_EQ(solver.record().iterations(), iterations);
  EXPECT_EQ(again, x);
  EXPECT_EQ(solver.solve(b, again).iterations(), 0);  // it is the solution
  const std::vector<double> zero(b.size(), 0);
  EXPECT_TRUE(solver.solve(zero, x).converged());
  EXPECT_EQ(x, zero);
}

TEST(Offload, SolvesForSeveralRightHandSidesOneAfterAnother) {
  const Pointer A = problem("laplace7", 8);
  Solver solver(A, options_of({{"device", "host"}}));
  const std::vector<double> one = hashed_vector(A->rows(), 1), two = hashed_vector(A->rows(), 2);
  std::vector<double> B, X(2 * one.size(), 0), x(one.size(), 0);
  for (std::size_t i = 0; i < one.size(); ++i) {
    B.push_back(one[i]);
    B.push_back(two[i]);
  }
  EXPECT_TRUE(solver.solve_all(B, X, 2).converged());
  EXPECT_FALSE(solver.record().at_once);
  EXPECT_EQ(solver.record().reports.size(), 2u);
  EXPECT_TRUE(solver.solve(two, x).converged());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(X[2 * i + 1], x[i]);
}

TEST(Offload, TakesNewValues) {
  const Pointer A = problem("laplace7", 8);
  Solver solver(A, options_of({{"device", "host"}}));
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0), y(b.size(), 0);
  EXPECT_TRUE(solver.solve(b, x).converged());
  Array<double> on = A->on().vals, off = A->off().vals;
  for (double& value : on) value *= 4;
  for (double& value : off) value *= 4;
  solver.rebuild(std::make_shared<const Matrix>(A->with_values(std::move(on), std::move(off))));
  EXPECT_TRUE(solver.solve(b, y).converged());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(4 * y[i], x[i], 1e-6);
}

TEST(Offload, SaysWhatIsNotFinite) {
  const Pointer A = problem("laplace7", 6);
  Solver solver(A, options_of({{"device", "host"}}));
  std::vector<double> b = hashed_vector(A->rows(), 1), x(b.size(), 0);
  if (!b.empty()) b.front() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solver.solve(b, x).report().outcome, solve::Outcome::not_finite);
}

TEST(Offload, EndsWhereAMatrixIsNotDefinite) {
  // Half of the eigenvalues are negative: CG meets p.Ap <= 0 or an r.Mr <= 0, and says so.
  const auto A =
      std::make_shared<const Matrix>(make_operator(uniform(60), [](GlobalIndex i, GlobalIndex j) {
                                       return laplace(i, j) - (i == j ? 1.5 : 0.0);
                                     }).matrix());
  Solver solver(A, options_of({{"device", "host"},
                               {"solver", "cg"},
                               {"smoother", "l1_jacobi"},
                               {"max_levels", "1"},
                               {"coarse_solve", "relaxation"}}));
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0);
  const auto& report = solver.solve(b, x).report();
  EXPECT_TRUE(report.outcome == solve::Outcome::indefinite_matrix ||
              report.outcome == solve::Outcome::indefinite_preconditioner)
      << solve::to_string(report.outcome);
  EXPECT_NE(report.diagnosis, "");
}

// Without a solution residuals fall, and then rise along the null vector: the best x is kept.
TEST(Offload, LeavesTheBestOfItsIterates) {
  constexpr GlobalIndex n = 90;
  const auto ring = [](GlobalIndex i, GlobalIndex j) {
    const GlobalIndex apart = std::abs(i - j);
    return apart == 0 ? 2.0 : apart == 1 || apart == n - 1 ? -1.0 : 0.0;
  };
  const auto A = std::make_shared<const Matrix>(make_operator(uniform(n), ring).matrix());
  const std::vector<double> b = hashed_vector(A->rows(), 3);
  for (const char* iterations : {"20", "400"}) {
    Given given = {{"solver", "cg"},      {"smoother", "l1_jacobi"},
                   {"max_levels", "1"},   {"coarse_solve", "relaxation"},
                   {"precision", "same"}, {"max_iterations", iterations}};
    std::vector<double> here(b.size(), 0), there(b.size(), 0);
    const auto host = Solver(A, options_of(given)).solve(b, here).report();
    given.emplace_back("device", "host");
    const auto device = Solver(A, options_of(given)).solve(b, there).report();
    EXPECT_EQ(device.outcome, host.outcome) << device.diagnosis;
    EXPECT_LE(device.true_relative_residual, 1);
    EXPECT_LE(device.true_relative_residual, host.true_relative_residual + 0.02);
    EXPECT_NEAR(device.true_relative_residual, relative_residual(*A, b, there), 1e-9);
  }
}

TEST(Offload, HearsItsObserver) {
  const Pointer A = problem("laplace7", 8);
  Solver solver(A, options_of({{"device", "host"}}));
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0);
  int calls = 0;
  solver.solve(b, x, solve::Observer([&](int iteration, double) {
                 ++calls;
                 return iteration < 3;
               }));
  EXPECT_EQ(solver.record().report().outcome, solve::Outcome::interrupted);
  EXPECT_EQ(solver.record().iterations(), 3);
  EXPECT_GE(calls, 3);
}

TEST(Offload, RefusesWhatADeviceHasNotAndNamesWhatItHas) {
  const Pointer A = problem("laplace7", 6);
  const auto refusal = [&](const Given& given) {
    return expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
      const Solver solver(A, options_of(join({{"device", "host"}}, given)));
    });
  };
  EXPECT_THAT(refusal({{"smoother", "gauss_seidel"}}), HasSubstr("l1_jacobi"));
  EXPECT_THAT(refusal({{"solver", "fgmres"}}), HasSubstr("solver flexible_cg"));
  EXPECT_THAT(refusal({{"solver", "pipelined_cg"}}), HasSubstr("solver cg"));
  EXPECT_THAT(refusal({{"cycle", "w"}}), HasSubstr("cycle v"));
  EXPECT_THAT(refusal({{"redistribution", "ranks"}}), HasSubstr("redistribution none"));
  EXPECT_THAT(refusal({{"preconditioner", "jacobi"}}), HasSubstr("preconditioner amg"));
  EXPECT_THAT(refusal({{"device_map", "0,x"}}), HasSubstr("0,0,1,1"));
  EXPECT_THAT(refusal({{"sparsification", "hybrid_galerkin"}, {"adaptive", "true"}}),
              HasSubstr("adaptive"));
}

TEST(Offload, EndsTogetherWhereARankFailsAmidASolve) {
  const Pointer A = problem("laplace27", 6);
  Solver solver(A, options_of({{"device", "host"}}));
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0);
  const auto solve = [&] {
    std::fill(x.begin(), x.end(), 0.0);
    solver.solve(b, x);
  };
  expect_together(solve, [&] {
    solve();
    EXPECT_TRUE(solver.record().converged());
  });
}

TEST(Offload, RefusesACardWhereThereIsNone) {
  if (device::cuda_devices().count > 0) GTEST_SKIP() << "there is a card";
  const Pointer A = problem("laplace7", 6);
  const std::string text = expect_same_error(*test_comm(), ErrorCode::unsupported, [&] {
    const Solver solver(A, options_of({{"device", "cuda"}}));
  });
  EXPECT_THAT(text, HasSubstr("device cuda"));
}

TEST(Offload, AsksForNoMemoryInACycle) {
  const Pointer A = problem("laplace7", 8);
  Solver solver(A, options_of({{"device", "host"}}));
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size(), 0);
  solver.solve(b, x);
  const std::int64_t before = device::detail::allocations;
  solver.solve(b, x);
  EXPECT_EQ(device::detail::allocations, before);
}

}  // namespace offload_test
}  // namespace nodewise::test
