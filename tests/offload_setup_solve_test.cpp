// Solves with levels that a device has set up, beside those of the host's.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/offload/setup_levels.hpp"

#include "collective_error.hpp"
#include "failing_piece.hpp"
#include "offload_setup_support.hpp"

namespace nodewise::test {
namespace offload_setup_solve_test {

using device::Host;
using testing::HasSubstr;
using namespace set_up_on_device;
using Matrix = matrix::DistMatrix<double>;
using Pointer = std::shared_ptr<const Matrix>;

const Given on_device = {{"device", "host"}, {"device_setup", "device"}};
const Given aggregation = {{"method", "aggregation"}, {"aggregates", "independent_set"}};
const Given classical = {{"method", "classical"}, {"coarsening", "pmis"}};

void expect_as_set_up_on_the_host(const Pointer& A, const Given& given) {
  const PoisonedMemory poisoned;
  const std::vector<double> b = hashed_vector(A->rows(), 7);
  std::vector<double> x(b.size()), y(b.size());
  Solver host(A, options_of(join({{"device", "host"}}, given)));
  const int iterations = host.solve(b, x).iterations();
  Solver device(A, options_of(join(on_device, given)));
  const auto& record = device.solve(b, y);
  EXPECT_EQ(device.hierarchy(), nullptr);
  EXPECT_TRUE(record.converged()) << record.report().diagnosis;
  EXPECT_NEAR(record.iterations(), iterations, 1);
  EXPECT_LE(relative_residual(*A, b, y), 1e-8);
  ASSERT_EQ(record.levels.size(), host.record().levels.size());
  EXPECT_EQ(record.levels.back().coarse_solver, host.record().levels.back().coarse_solver);
  EXPECT_DOUBLE_EQ(record.operator_complexity, host.record().operator_complexity);
  EXPECT_DOUBLE_EQ(record.grid_complexity, host.record().grid_complexity);
  EXPECT_GT(record.device->max_bytes, 0);
}

void expect_solves_as_set_up_on_the_host(const Given& method) {
  for (const auto& [name, A] : problems(test_comm())) {
    if (name == "parts") continue;  // singular
    for (const char* precision : {"same", "single"}) {
      for (const char* smoother : {"chebyshev", "l1_jacobi", "jacobi"}) {
        SCOPED_TRACE(name + ", " + precision + ", " + smoother);
        expect_as_set_up_on_the_host(
            A, join(method,
                    {{"precision", precision}, {"smoother", smoother}, {"preset", "default"}}));
      }
    }
  }
}

TEST(OffloadSetup, SolvesAsWithLevelsOfTheHost) {
  expect_solves_as_set_up_on_the_host(aggregation);
}

TEST(OffloadSetup, ExchangesOnEveryRouteAndPlacement) {
  for (const NodeMap& map : node_maps(test_comm()->size())) {
    const auto comm = mpi::Comm::create(MPI_COMM_WORLD, map.node_of_rank);
    const Pointer A = problem_on(comm, "laplace27", 8);
    for (const char* route : {"direct", "two_step", "three_step", "automatic"}) {
      for (const Given& method : {aggregation, classical}) {
        SCOPED_TRACE(map.name + ", " + route + ", " + method.front().second);
        expect_as_set_up_on_the_host(A, join(method, {{"smoother", "l1_jacobi"},
                                                      {"route", route},
                                                      {"setup_route", "two_step"},
                                                      {"precision", "same"}}));
      }
    }
  }
}

TEST(OffloadSetup, ExchangesByEveryWayThatDataLeaveDevices) {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 2);
  const Pointer A = problem_on(mpi::Comm::create(MPI_COMM_WORLD, nodes), "laplace27", 6);
  for (const auto& way : offload::DeviceTransportMethod::family()) {
    SCOPED_TRACE(*way.name);
    const std::string& name = way.name;
    for (const Given& method : {aggregation, classical}) {
      expect_as_set_up_on_the_host(
          A, join(method, {{"smoother", "l1_jacobi"}, {"device_transport", name.c_str()}}));
    }
  }
}

TEST(OffloadSetup, EndsTogetherWhereARankFails) {
  const Pointer A = problem_on(test_comm(), "laplace27", 6);
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size());
  for (const Given& method : {aggregation, classical}) {
    const auto run = [&] {
      std::fill(x.begin(), x.end(), 0.0);
      Solver solver(A, options_of(join(join(on_device, method), {{"max_coarse_rows", "10"}})));
      solver.solve(b, x);
      solver.rebuild(A);
      return solver.solve(b, x).converged();
    };
    expect_together([&] { run(); }, [&] { EXPECT_TRUE(run()); });
  }
}

TEST(OffloadSetup, SolvesByClassicalCoarseningAsWithLevelsOfTheHost) {
  expect_solves_as_set_up_on_the_host(classical);
}

TEST(OffloadSetup, SmoothesALastLevelThatIsNotSolved) {
  expect_as_set_up_on_the_host(
      problem_on(test_comm(), "laplace7", 9),
      join(aggregation, {{"coarse_solve", "relaxation"}, {"max_levels", "2"}}));
}

TEST(OffloadSetup, ChoosesThePrecisionOfTheHost) {
  for (const char* name : {"laplace7", "rotated_fe"}) {
    const Pointer A = problem_on(test_comm(), name, 20);
    const Given given = join(aggregation, {{"device", "host"}, {"precision", "auto"}});
    const Solver host(A, options_of(given));
    const Solver device(A, options_of(join(given, {{"device_setup", "device"}})));
    EXPECT_EQ(device.record().precision.single, host.record().precision.single);
    EXPECT_EQ(device.record().precision.reason, host.record().precision.reason);
  }
}

TEST(OffloadSetup, SaysWhatItTookByItself) {
  Solver solver(problem_on(test_comm(), "laplace7", 6), options_of(on_device));
  const auto& set = solver.record().device->set;
  const auto has = [&](const char* name, const char* value) {
    return std::find(set.begin(), set.end(), NamedValue(name, value)) != set.end();
  };
  EXPECT_TRUE(has("method", "aggregation"));
  EXPECT_TRUE(has("aggregates", "independent_set"));
  const auto& preset = solver.record().preset;  // agrees, and has the rest
  EXPECT_EQ(preset.name, "card");
  EXPECT_THAT(preset.reason, HasSubstr("; solved on a device"));
  EXPECT_TRUE(preset.kept.empty());
  EXPECT_EQ(preset.set,
            (std::vector<NamedValue>{{"smoother", "chebyshev"}, {"precision", "single"}}));
}

TEST(OffloadSetup, IsRebuiltByItsSolver) {
  const Pointer A = problem_on(test_comm(), "laplace27", 9);
  const Pointer B = with_other_values(*A);
  Solver solver(A, options_of(on_device));
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size());
  const int before = solver.solve(b, x).iterations();
  for (const Pointer& next : {B, A}) {
    std::fill(x.begin(), x.end(), 0.0);
    solver.rebuild(next);
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_LE(relative_residual(*next, b, x), 1e-8);
  }
  EXPECT_EQ(solver.record().iterations(), before);
  const Pointer other = problem_on(test_comm(), "laplace7", 9);
  EXPECT_THROW(solver.rebuild(other), Error);
}

TEST(OffloadSetup, RefusesWhatItHasNotAndNamesWhatItHas) {
  const Pointer A = problem_on(test_comm(), "laplace7", 6);
  const auto refusal = [&](const Given& given) {
    return expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                             [&] { const Solver solver(A, options_of(join(on_device, given))); });
  };
  amg::Options air;
  air.set("method", "air");
  const std::string text = expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                             [&] { offload::check_for_setup(air, {}); });
  EXPECT_THAT(text, HasSubstr("method classical or aggregation"));
  EXPECT_THAT(refusal({{"method", "classical"}, {"coarsening", "hmis"}}),
              HasSubstr("coarsening pmis"));
  EXPECT_THAT(refusal({{"method", "classical"}, {"interpolation", "direct"}}),
              HasSubstr("interpolation extended_i"));
  EXPECT_THAT(refusal({{"method", "classical"}, {"aggressive_levels", "1"}}),
              HasSubstr("aggressive_levels 0"));
  EXPECT_THAT(refusal({{"aggregates", "standard"}}), HasSubstr("aggregates independent_set"));
  EXPECT_THAT(refusal({{"aggregates", "auto"}}), HasSubstr("aggregates independent_set"));
  EXPECT_THAT(refusal({{"unknowns", "3"}}), HasSubstr("device_setup host"));
  EXPECT_THAT(refusal({{"candidate_sweeps", "2"}}), HasSubstr("candidate_sweeps 0"));
  EXPECT_THAT(refusal({{"filter_prolongation", "true"}}), HasSubstr("filter_prolongation false"));
  EXPECT_THAT(refusal({{"aggregation_strength", "classical"}}),
              HasSubstr("aggregation_strength symmetric"));
  EXPECT_THAT(refusal({{"sparsification", "non_galerkin"}}), HasSubstr("sparsification none"));
  EXPECT_THAT(refusal({{"smoother", "gauss_seidel"}}), HasSubstr("l1_jacobi"));
}

TEST(OffloadSetup, RefusesMatricesAsTheHostDoes) {
  const comm::Layout rows = comm::Layout::uniform(test_comm(), 30);
  const auto expect_refused = [&](const Entry& entry) {
    const Pointer A = std::make_shared<const Matrix>(make_operator(rows, entry).matrix());
    EXPECT_THROW(Solver(A, options_of(join(on_device, {{"solver", "cg"}}))), Error);
  };
  expect_refused(
      [](GlobalIndex i, GlobalIndex j) { return i == 3 || j == 3 ? 0.0 : laplace(i, j); });
  expect_refused([](GlobalIndex i, GlobalIndex j) {
    return i == 3 && j == 3 ? std::numeric_limits<double>::infinity() : laplace(i, j);
  });
  expect_refused([](GlobalIndex i, GlobalIndex j) { return i == j + 1 ? -0.5 : laplace(i, j); });
}

}  // namespace offload_setup_solve_test
}  // namespace nodewise::test
