// The solver as one object: the same as its pieces by hand, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/nodewise.hpp"
#include "nodewise/solve/block_ops.hpp"
#include "nodewise/solve/matrix_operator.hpp"
#include "nodewise/solver/adaptive_solve.hpp"
#include "nodewise/solver/method_choice.hpp"
#include "nodewise/solver/tune.hpp"

#include "collective_error.hpp"
#include "partition_support.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solver_test {

using testing::HasSubstr;

std::shared_ptr<const Matrix> problem(const char* name, int n) {
  GalleryOptions options;
  set_option(options, io::gallery_fields(), "problem", name);
  options.n = n;
  return shared(generate<double>(test_comm(), options));
}

std::shared_ptr<const Matrix> matrix_of(const comm::Layout& layout, const Entry& entry) {
  return shared(make_operator<double>(layout, entry).matrix());
}

/// The Laplacian of a periodic grid of 20 x 20 points, with a multiple of the identity.
Entry periodic_shifted(double shift) {
  return [shift, laplace = periodic_laplace(20, 1)](GlobalIndex i, GlobalIndex j) {
    return laplace(i, j) + (i == j ? shift : 0);
  };
}

/// What the pieces come to that `preset default` names.
solve::Report by_hand(const std::shared_ptr<const Matrix>& A, std::span<const double> b,
                      std::span<double> x) {
  amg::ProblemInfo<double> info;
  info.symmetric = true;
  const amg::Hierarchy<double> M(A, {}, info);
  return solve::cg<double>(solve::MatrixOperator<double>(A), &M, b, x, {});
}

/// A hierarchy that has lost too much, and asks for entries back.
amg::Options options_with_losses(const char* sparsification, bool adaptive) {
  amg::Options options;
  options.set("sparsification", sparsification);
  options.set("drop_tolerance", "1");
  options.set("max_coarse_rows", "20");
  options.set("adaptive", adaptive ? "true" : "false");
  options.set("adaptive_factor", "0.05");
  return options;
}

TEST(LostEntries, ComeBackWithoutANewStartWhereTheMethodBearsThat) {
  const auto A = problem("rotated_fe", 40);
  const std::vector<double> b = hashed_vector(A->rows(), 3);
  const solve::MatrixOperator<double> op(A);
  for (const solve::KrylovMethod& method : solve::KrylovMethod::family()) {
    if (method.minimises_residual && *method.name != std::string("gmres") &&
        *method.name != std::string("fgmres") && *method.name != std::string("gcr")) {
      continue;
    }
    SCOPED_TRACE(*method.name);
    amg::Hierarchy<double> M(A, options_with_losses("hybrid_galerkin", true));
    std::vector<double> x(b.size(), 0.0);
    std::vector<solver::EntriesBack> events;
    std::size_t n_solves = 0;
    const auto once = [&](const solve::Options& options, const solve::Observer& observe) {
      ++n_solves;
      return std::vector<solve::Report>{
          solve::solve_by<double>(method, op, &M, b, x, options, observe)};
    };
    std::vector<double> seen = {1.0};
    const auto reports = solver::solve_with_lost_entries(
        {A, &M, &M, method, {}}, once,
        [&](int iteration, double relative) {
          EXPECT_EQ(static_cast<std::size_t>(iteration), seen.size());
          seen.push_back(relative);
        },
        events);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_TRUE(reports[0].converged()) << reports[0].diagnosis;
    EXPECT_EQ(seen, reports[0].history);
    EXPECT_EQ(reports[0].history.size(), static_cast<std::size_t>(reports[0].iterations) + 1);
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(n_solves, method.needs_fixed_preconditioner ? 1 + events.size() : 1);
    for (const solver::EntriesBack& event : events) {
      EXPECT_EQ(event.iteration % 3, 0);
      EXPECT_EQ(event.levels.size(), 1U);
    }
  }
}

TEST(LostEntries, ComeBackForSeveralRightHandSidesAtOnce) {
  const auto A = problem("rotated_fe", 40);
  const int n_rhs = 3;
  const solver::RightHandSides rhs = solver::random_right_hand_sides(*A, 3, n_rhs);
  amg::Hierarchy<double> M(A, options_with_losses("hybrid_galerkin", true));
  std::vector<double> X(rhs.values.size(), 0.0);
  std::vector<solver::EntriesBack> events;
  const auto reports = solver::solve_all({A, &M, &M, "cg", {}}, rhs.values, X, n_rhs, {}, events);
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_FALSE(events.empty());
  for (const solve::Report& report : reports) {
    EXPECT_TRUE(report.converged()) << report.diagnosis;
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
  }
}

/// The Laplacian of a grid of m x m points less a multiple of the identity: its smallest eigenvalue
/// is `rest` times what it was, so that couplings that are lost may take more.
std::shared_ptr<const Matrix> nearly_singular(GlobalIndex m, double rest) {
  const double half = std::sin(std::acos(-1.0) / 2 / static_cast<double>(m + 1));
  const double smallest = 8 * half * half;
  return matrix_of(uniform(m * m), [=](GlobalIndex i, GlobalIndex j) -> double {
    if (i == j) return 4 - (1 - rest) * smallest;
    const bool same_line = i / m == j / m;
    return (same_line && std::abs(i - j) == 1) || std::abs(i - j) == m ? -1 : 0;
  });
}

amg::Options options_without_guard() {
  amg::Options options = options_with_losses("non_galerkin", false);
  options.set("max_coarse_rows", "8");
  options.set("coarsening", "pmis");
  return options;
}

/// Solves by conjugate gradients; expects success, and returns what came back.
std::vector<solver::EntriesBack> expect_solved(const std::shared_ptr<const Matrix>& A,
                                               amg::Hierarchy<double>& M) {
  const std::vector<double> b = hashed_vector(A->rows(), 3);
  std::vector<double> x(b.size(), 0.0);
  std::vector<solver::EntriesBack> events;
  const auto reports = solver::solve_all({A, &M, &M, "cg", {}}, b, x, 1, {}, events);
  EXPECT_TRUE(reports.at(0).converged()) << reports.at(0).diagnosis;
  return events;
}

TEST(LostEntries, ComeBackInTheSetupWhereTheCoarsestMatrixIsIndefinite) {
  std::size_t n_back = 0;
  for (const GlobalIndex m : {32, 48}) {
    SCOPED_TRACE(m);
    const auto A = nearly_singular(m, 0.05);
    amg::Hierarchy<double> M(A, options_without_guard());
    EXPECT_EQ(M.levels().back().coarse_solver.find("indefinite"), std::string::npos);
    n_back += M.entries_back_in_setup().size();
    for (const auto& levels : M.entries_back_in_setup()) EXPECT_EQ(levels.size(), 1U);
    expect_solved(A, M);
  }
  EXPECT_GT(n_back, 0U);
}

TEST(LostEntries, ComeBackInASolveThatMeetsAnIndefinitePreconditioner) {
  std::size_t n_back = 0;
  for (const GlobalIndex m : {24, 28, 32, 36}) {
    SCOPED_TRACE(m);
    amg::Hierarchy<double> M(nearly_singular(m, 1), options_without_guard());
    const auto A = nearly_singular(m, 0.05);
    M.rebuild(A);  // whose coarsest matrix nobody looks at
    n_back += expect_solved(A, M).size();
  }
  EXPECT_GT(n_back, 0U);
}

TEST(LostEntries, AreNamedWhereASolveFails) {
  const auto A = problem("rotated_fe", 40);
  amg::Hierarchy<double> M(A, options_with_losses("sparse_galerkin", false));
  const std::vector<double> b = hashed_vector(A->rows(), 3);
  std::vector<double> x(b.size(), 0.0);
  std::vector<solver::EntriesBack> events;
  const auto reports =
      solver::solve_all({A, &M, &M, "cg", {.max_iterations = 2}}, b, x, 1, {}, events);
  EXPECT_THAT(reports.at(0).diagnosis, HasSubstr("a tolerance of 1 dropped"));
  EXPECT_TRUE(events.empty());
}

TEST(RightHandSides, LoseTheirMeans) {
  const auto A = problem("laplace5", 6);
  solver::RightHandSides rhs = solver::random_right_hand_sides(*A, 3, 2);
  for (std::size_t i = 0; i < rhs.values.size(); ++i) rhs.values[i] += i % 2 == 0 ? 100 : -7;
  solver::remove_constants(A->rows(), rhs);
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < rhs.values.size(); ++i) sums[i % 2] += rhs.values[i];
  mpi::sum_in_place<double>(A->comm(), sums);
  EXPECT_NEAR(sums[0], 0, 1e-11);
  EXPECT_NEAR(sums[1], 0, 1e-11);
}

TEST(Solver, DoesWhatItsPiecesDo) {
  const auto A = problem("laplace27", 8);
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size()), y(b.size());
  const solve::Report expected = by_hand(A, b, x);
  SolverOptions options;
  options.set("preset", "default");
  Solver solver(A, options);
  const auto result = solver.solve(b, y);
  EXPECT_TRUE(result.converged());
  EXPECT_EQ(result.report().method, "cg");
  EXPECT_EQ(result.iterations(), expected.iterations);
  EXPECT_EQ(y, x);
  EXPECT_EQ(result.rhs, solver::RhsKind::given);
  EXPECT_EQ(result.matrix.rows, A->rows().n_global());
  EXPECT_EQ(result.levels.size(), solver.hierarchy()->levels().size());
  expect_same_on_all_ranks(result.report());
}

// The caller's order, whatever rows the ranks have meanwhile.
TEST(Solver, DividesRowsAmongRanksAsAsked) {
  const auto A = problem("rotated_fe", 14);
  const int n_rhs = 2;
  std::vector<double> b = hashed_vector(A->rows(), 4);
  const std::vector<double> more = hashed_vector(A->rows(), 5);
  b.insert(b.end(), more.begin(), more.end());
  std::vector<std::pair<std::string, std::string>> choices;  // of partition and placement
  for (const partition::PartitionMethod& method : partition::PartitionMethod::family()) {
    if (is_here(method)) choices.emplace_back(method.name, "pair_exchange");
  }
  for (const partition::PlacementMethod& method : partition::PlacementMethod::family()) {
    for (const char* of : {"none", "strided"}) choices.emplace_back(of, method.name);
  }
  for (const auto& [of_rows, of_parts] : choices) {
    SCOPED_TRACE(of_rows + ", " + of_parts);
    SolverOptions options;
    options.set("partition", of_rows);
    options.set("placement", of_parts);
    options.set("tolerance", "1e-12");
    Solver solver(A, options);
    EXPECT_TRUE(solver.layout() == A->rows());
    std::vector<double> x(b.size(), 0), product(b.size());
    EXPECT_TRUE(solver.solve_all(b, x, n_rhs).converged());
    matrix::multiply<double>(*A, x, product, n_rhs);
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(product[i], b[i], 1e-9);
    Array<double> on = A->on().vals, off = A->off().vals;
    for (double& value : on) value *= 2;
    for (double& value : off) value *= 2;
    solver.rebuild(shared(A->with_values(std::move(on), std::move(off))));
    std::vector<double> y(b.size(), 0);
    EXPECT_TRUE(solver.solve_all(b, y, n_rhs).converged());
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(2 * y[i], x[i], 1e-8);
  }
}

TEST(Solver, MovesNearNullSpacesWithTheRows) {
  const auto A = problem("beam", 2);
  solver::Problem known;
  known.near_null_space = amg::constant_vectors<double>(A->rows(), 3);
  const std::vector<double> b = hashed_vector(A->rows(), 4);
  for (const char* partition : {"none", "strided", "contiguous"}) {
    SCOPED_TRACE(partition);
    SolverOptions options;
    options.set("method", "aggregation");
    options.set("unknowns", "3");
    options.set("partition", partition);
    Solver solver(A, options, known);
    std::vector<double> x(b.size(), 0), product(b.size());
    const solver::SolveRecord& record = solver.solve(b, x);
    EXPECT_TRUE(record.converged());
    matrix::multiply<double>(*A, x, product);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      difference += (product[i] - b[i]) * (product[i] - b[i]);
      size += b[i] * b[i];
    }
    EXPECT_LE(mpi::sum(A->comm(), difference), 1e-15 * mpi::sum(A->comm(), size));
  }
}

TEST(Solver, ChoosesPresetAndMethodByTheMatrix) {
  Solver symmetric(problem("laplace27", 10));
  EXPECT_NE(symmetric.record().preset.name, "");
  EXPECT_NE(symmetric.record().preset.rule, "");
  EXPECT_TRUE(symmetric.record().matrix.symmetric);
  Solver other(problem("convection2d", 24));
  EXPECT_FALSE(other.record().matrix.symmetric);
  const std::vector<double> b = hashed_vector(other.matrix()->rows(), 2);
  std::vector<double> x(b.size());
  const auto result = other.solve(b, x);
  EXPECT_TRUE(result.converged());
  EXPECT_EQ(result.report().method, "gmres");
}

TEST(Solver, LeavesWhatIsGivenToThePreset) {
  SolverOptions by_name;
  by_name.set("preset", "anisotropic");
  by_name.set("strength_threshold", "0.25");
  SolverOptions by_member;
  by_member.method.preset = "anisotropic";
  by_member.amg.set("strength_threshold", 0.125);
  const auto A = problem("laplace5", 16);
  EXPECT_EQ(Solver(A, by_name).options().amg.get("strength_threshold"), "0.25");
  EXPECT_EQ(Solver(A, by_member).options().amg.get("strength_threshold"), "0.125");
  by_name.set("strength_threshold", "0.3");
  EXPECT_EQ(by_name.get("strength_threshold"), "0.3");
  EXPECT_EQ(by_name.given.size(), 2U);
}

TEST(Solver, LeavesRoutesAndRanksOfLevelsToCostsOnSeveralNodes) {
  std::vector<int> nodes;
  for (int r = 0; r < test_comm()->size(); ++r) nodes.push_back(r / 2);
  const auto comm = mpi::Comm::create(MPI_COMM_WORLD, nodes);
  const auto A = shared(generate<double>(comm, {.problem = "rotated_fe", .n = 40}));
  const auto chosen = [&](const SolverOptions& options) {
    const Solver solver(A, options);
    const amg::Options& amg = solver.options().amg;
    return std::pair(amg.get("route"), amg.get("redistribution"));
  };
  SolverOptions options;
  const bool has_network = test_comm()->size() > 2;
  EXPECT_EQ(chosen(options).first, has_network ? "automatic" : "direct");
  EXPECT_EQ(chosen(options).second, has_network ? "automatic" : "none");
  options.set("redistribution", "none");
  EXPECT_EQ(chosen(options).second, "none");
  options.placement_is_given = true;
  EXPECT_EQ(chosen(options).first, "direct");
}

TEST(Solver, SetsOptionsWhenTheirMethodIsChosen) {
  SolverOptions options;
  options.set("coarse_filter", "0.125");
  EXPECT_THROW(options.get("coarse_filter"), Error);
  const auto A = problem("laplace5", 16);
  options.set("preset", "default");
  EXPECT_THROW(Solver(A, options), Error);
  options.set("method", "air");
  EXPECT_EQ(options.get("coarse_filter"), "0.125");
  EXPECT_EQ(options.get("smoother"), "fc_jacobi");
  EXPECT_THROW(options.set("coarse_filter", "7"), Error);
}

TEST(Solver, SolvesForSeveralRightHandSides) {
  const auto A = problem("laplace7", 8);
  const solver::RightHandSides rhs = solver::random_right_hand_sides(*A, 5, 3);
  for (const char* method : {"cg", "gmres"}) {
    SolverOptions options;
    options.set("solver", method);
    Solver solver(A, options);
    std::vector<double> X(rhs.values.size());
    const auto result = solver.solve_all(rhs.values, X, rhs.count);
    ASSERT_EQ(result.reports.size(), 3U);
    EXPECT_EQ(result.at_once, std::string(method) == "cg");
    EXPECT_TRUE(result.converged());
    for (std::size_t c = 0; c < 3; ++c) {
      const auto n = static_cast<std::size_t>(A->n_local());
      std::vector<double> b(n), x(n), of_all(n);
      solve::get_column<double>(rhs.values, 3, c, b);
      solve::get_column<double>(X, 3, c, of_all);
      EXPECT_EQ(solver.solve(b, x).iterations(), result.reports[c].iterations);
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], of_all[i], 1e-6);
    }
  }
}

TEST(Solver, IsRebuiltForNewValues) {
  const comm::Layout layout = uniform(400);
  const auto A = matrix_of(layout, periodic_shifted(0.25));
  const auto B = matrix_of(layout, periodic_shifted(0.75));
  SolverOptions options;
  options.set("preset", "default");
  Solver solver(A, options);
  const std::vector<double> b = hashed_vector(A->rows(), 3);
  std::vector<double> first(b.size()), again(b.size()), other(b.size());
  const int iterations = solver.solve(b, first).iterations();
  solver.rebuild(B);
  EXPECT_TRUE(solver.solve(b, other).converged());
  EXPECT_NE(other, first);
  solver.rebuild(A);
  EXPECT_EQ(solver.solve(b, again).iterations(), iterations);
  EXPECT_EQ(again, first);
  for (const char* preconditioner : {"jacobi", "none"}) {
    options.set("preconditioner", preconditioner);
    Solver plain(A, options);
    plain.rebuild(B);
    std::vector<double> x(b.size());
    EXPECT_TRUE(plain.solve(b, x).converged());
    EXPECT_NEAR(whole(x)[0], whole(other)[0], 1e-5);
  }
}

TEST(Solver, ChoosesAnewWhereANewMatrixIsNotSymmetric) {
  const comm::Layout layout = uniform(300);
  const auto matrix = [&](double upper) {
    return matrix_of(layout, [=](GlobalIndex i, GlobalIndex j) {
      return j == i + 1 ? upper : laplace(i, j) + (i == j ? 0.1 : 0);
    });
  };
  Solver solver(matrix(-1));
  EXPECT_EQ(solver.record().method.name(), "cg");
  solver.rebuild(matrix(-0.5));
  EXPECT_EQ(solver.record().method.name(), "gmres");
  const std::vector<double> b = hashed_vector(layout, 3);
  std::vector<double> x(b.size());
  EXPECT_TRUE(solver.solve(b, x).converged());
}

TEST(Solver, RefusesOnEveryRankWithOneMessage) {
  const auto A = problem("laplace5", 12);
  const mpi::Comm& comm = *test_comm();
  const auto refused = [&](const SolverOptions& options) {
    return expect_same_error(comm, ErrorCode::invalid_argument, [&] { Solver(A, options); });
  };
  SolverOptions out_of_range;
  out_of_range.krylov.max_iterations = comm.rank() == comm.size() - 1 ? -1 : 50;
  EXPECT_THAT(refused(out_of_range), HasSubstr("max_iterations"));
  SolverOptions contradiction;
  contradiction.set("solver", "cg");
  contradiction.set("sweep_order", "forward");
  EXPECT_THAT(refused(contradiction), HasSubstr("`solver gmres`"));
  if (comm.size() > 1) {
    SolverOptions different;
    different.set("max_levels", comm.is_root() ? "3" : "4");
    EXPECT_THAT(refused(different), HasSubstr("options"));
  }
  SolverOptions named;
  EXPECT_THROW(named.set("strength_treshold", "0.5"), Error);
  EXPECT_THROW(named.set("strength_threshold", "2"), Error);
  expect_same_error(comm, ErrorCode::unsuitable_matrix, [&] {
    const comm::Layout none = uniform(0);
    Assembler<double> entries(none, none);
    Solver(shared(entries.finish()));
  });
}

TEST(Solver, RefusesVectorsThatDoNotFit) {
  const auto A = problem("laplace5", 12);
  const mpi::Comm& comm = *test_comm();
  Solver solver(A);
  std::vector<double> b(static_cast<std::size_t>(A->n_local()), 1.0), x(b.size());
  if (comm.rank() == 0) x.push_back(0);
  expect_same_error(comm, ErrorCode::dimension_mismatch, [&] { solver.solve(b, x); });
  x.resize(b.size());
  expect_same_error(comm, ErrorCode::invalid_argument, [&] { solver.solve_all(b, x, 0); });
  expect_same_error(comm, ErrorCode::dimension_mismatch,
                    [&] { solver.rebuild(problem("laplace5", 13)); });
  EXPECT_TRUE(solver.solve(b, x).converged());
}

TEST(Solver, ReportsAsJson) {
  const auto A = problem("laplace7", 8);
  Solver solver(A);
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size());
  const auto result = solver.solve(b, x);
  const auto json = nlohmann::json::parse(report::solve_json(result));
  EXPECT_EQ(json["solve"]["iterations"], result.iterations());
  EXPECT_EQ(json["solve"]["converged"], true);
  EXPECT_EQ(json["right_hand_side"], "given");
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["options"]["max-levels"], 25);
  EXPECT_EQ(json["hierarchy"]["levels"].size(), result.levels.size());
  EXPECT_EQ(json["machine"]["ranks"], test_comm()->size());
}

TEST(Solver, SaysWhatStandsInTheWay) {
  const comm::Layout layout = uniform(200);
  const auto A = matrix_of(layout, [](GlobalIndex i, GlobalIndex j) {
    return i == j ? (i % 2 ? 3.0 : -3.0) : laplace(i, j);
  });
  SolverOptions options;
  options.set("max_iterations", "5");
  Solver solver(A, options);
  const std::vector<double> b(static_cast<std::size_t>(layout.n_local()), 1.0);
  std::vector<double> x(b.size());
  const auto result = solver.solve(b, x);
  EXPECT_FALSE(result.findings.empty());
  EXPECT_NO_THROW(report::solve_json(result));
}

TEST(Solver, TakesCoordinatesAndNearNullSpaces) {
  GalleryOptions beam;
  set_option(beam, io::gallery_fields(), "problem", "beam");
  beam.n = 2;
  const auto A = shared(generate<double>(test_comm(), beam));
  SolverOptions options;
  options.set("unknowns", "3");
  solver::Problem known;
  known.coordinates = io::point_coordinates(A->rows(), beam);
  known.dimensions = 3;
  Solver solver(A, options, known);
  EXPECT_EQ(solver.options().get("method"), "aggregation");
  const std::vector<double> b = hashed_vector(A->rows(), 1);
  std::vector<double> x(b.size()), y(b.size());
  const int iterations = solver.solve(b, x).iterations();
  solver::Problem vectors;
  vectors.near_null_space = amg::rigid_body_modes<double>(A->rows(), 3, known.coordinates);
  EXPECT_EQ(Solver(A, options, vectors).solve(b, y).iterations(), iterations);
  EXPECT_EQ(x, y);
}

TEST(Tune, TriesCombinationsAndNamesTheFastest) {
  const auto A = problem("laplace9", 16);
  const solver::RightHandSides rhs = solver::with_known_solution(*A);
  SolverOptions given;
  given.set("strength_threshold", "0.3");
  int begun = 0;
  solver::TuneObservers observe;
  observe.begin = [&](std::size_t k, std::size_t, const solver::Trial&) {
    EXPECT_EQ(k, static_cast<std::size_t>(begun++));
  };
  const solver::TuneResult result =
      solver::tune(A, rhs.values, given, {60, 4}, {}, solver::summarize(*A), observe);
  EXPECT_EQ(begun, 4);
  ASSERT_EQ(result.trials.size(), 4U);
  ASSERT_NE(result.best(), nullptr);
  for (const solver::Trial& trial : result.trials) {
    for (const auto& option : trial.options) EXPECT_NE(option.first, "strength_threshold");
  }
  const std::vector<solver::Trial>& trials = result.trials;
  for (std::size_t k = 1; k < trials.size() && trials[k].converged; ++k) {
    EXPECT_LE(trials[k - 1].total(), trials[k].total());
  }
}

// What a device cannot run is not tried, and what runs is measured there.
TEST(Tune, TriesOnADeviceWhatThatCanDo) {
  const auto A = problem("laplace7", 10);
  const solver::RightHandSides rhs = solver::with_known_solution(*A);
  SolverOptions given;
  given.set("device", "host");
  const solver::TuneResult result =
      solver::tune(A, rhs.values, given, {60, 30}, {}, solver::summarize(*A), {});
  EXPECT_GT(result.trials.size(), 5U);
  const auto has = [](const solver::Trial& trial, const char* name) {
    return std::any_of(trial.options.begin(), trial.options.end(),
                       [&](const auto& option) { return option.first == name; });
  };
  for (const solver::Trial& trial : result.trials) {
    EXPECT_EQ(trial.reason, "") << (trial.options.empty() ? "" : trial.options.front().first);
    EXPECT_EQ(trial.method, "cg");
    EXPECT_FALSE(has(trial, "cycle") || has(trial, "preconditioner"));
  }
  given.set("smoother", "gauss_seidel");
  const solver::TuneResult refused =
      solver::tune(A, rhs.values, given, {60, 30}, {}, solver::summarize(*A), {});
  ASSERT_EQ(refused.trials.size(), 1U);
  EXPECT_NE(refused.trials.front().reason.find("smoother gauss_seidel"), std::string::npos);
}

TEST(RightHandSides, KnowTheirSolution) {
  const auto A = problem("laplace5", 10);
  const solver::RightHandSides ones = solver::with_known_solution(*A);
  const auto error = solver::solution_error(A->rows(), ones, ones.known_solution);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->relative, 0);
  const auto singular = matrix_of(uniform(50), neumann(50));
  const solver::RightHandSides consistent = solver::with_known_solution(*singular);
  EXPECT_EQ(consistent.kind, solver::RhsKind::consistent);
  std::vector<double> shifted = consistent.known_solution;
  for (double& value : shifted) value += 3;
  const auto modulo = solver::solution_error(singular->rows(), consistent, shifted);
  ASSERT_TRUE(modulo.has_value());
  EXPECT_TRUE(modulo->modulo_constants);
  EXPECT_LT(modulo->relative, 1e-12);
  const solver::RightHandSides random = solver::random_right_hand_sides(*A, 7, 2);
  EXPECT_FALSE(solver::solution_error(A->rows(), random, {}).has_value());
}

}  // namespace solver_test
}  // namespace nodewise::test
