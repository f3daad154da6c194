// Systems of two fields: which rows are which, the preconditioner beside a dense reference on any
// layout, iterations that theorems bound, flow problems, and systems that are refused.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/solver/field_rows.hpp"
#include "nodewise/solver/field_split.hpp"
#include "nodewise/solver/solver.hpp"

#include "collective_error.hpp"
#include "dist_matrix_support.hpp"
#include "saddle_support.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solver_fields_test {

using solver::FieldOptions;
using solver::FieldRule;
using solver::SchurForm;
using solver::SplitForm;
using testing::HasSubstr;

constexpr SchurForm schur_forms[] = {SchurForm::simple, SchurForm::lsc, SchurForm::diagonal};
constexpr SplitForm split_forms[] = {SplitForm::upper, SplitForm::lower, SplitForm::full,
                                     SplitForm::diagonal};

/// The rows of the second field on all ranks, counted from the first.
std::vector<GlobalIndex> second_rows(const comm::Layout& layout, const solver::FieldRows& rows) {
  std::vector<GlobalIndex> mine;
  for (const LocalIndex i : rows.second) mine.push_back(layout.to_global(i) - layout.first());
  EXPECT_EQ(rows.first.size() + rows.second.size(), static_cast<std::size_t>(layout.n_local()));
  return mpi::concatenate_all<GlobalIndex>(layout.comm(), mine);
}

/// Symmetric, definite but for the constraints, which couple to few rows: F positive definite and
/// B of full rank.
SaddlePoint symmetric_saddle_point(Eigen::Index n, std::uint64_t seed) {
  SaddlePoint system = scattered(n, seed);
  system.F = (system.F + system.F.transpose()).eval() / 2;
  system.F.diagonal().array() += static_cast<double>(n);
  system.G = system.B.transpose();
  return system;
}

solver::Options fields_with(SchurForm schur, SplitForm split) {
  solver::Options options;
  options.set("preconditioner", "fields");
  auto& own = options.method.preconditioner.options<FieldOptions>();
  own.schur = schur;
  own.split = split;
  return options;
}

TEST(Fields, AreFoundByDiagonalEntriesThatDoNotCount) {
  for (const comm::Layout& layout : layouts_of(test_comm(), 41, 7)) {
    SaddlePoint system = scattered(41, 2);
    system.C.diagonal().setConstant(1e-6);  // tiny beside B
    const auto rows = solver::find_fields(*distributed(layout, system.matrix()));
    const std::vector<GlobalIndex> expected(system.second.begin(), system.second.end());
    EXPECT_EQ(second_rows(layout, rows), expected);
  }
}

TEST(Fields, OfSymmetricMatricesAreFoundBySigns) {
  const comm::Layout layout = uniform(41);
  for (const double sign : {1.0, -1.0}) {
    SaddlePoint system = symmetric_saddle_point(41, 2);
    system.C.diagonal().setConstant(-3);
    const Eigen::MatrixXd A = sign * system.matrix();
    const std::vector<GlobalIndex> expected(system.second.begin(), system.second.end());
    EXPECT_EQ(second_rows(layout, solver::find_fields(*distributed(layout, A))), expected);
  }
}

TEST(Fields, InterleavedAreTheLastUnknowns) {
  for (const comm::Layout& layout : layouts_of(test_comm(), 21, 5)) {
    const auto second = second_rows(layout, solver::interleaved_fields(layout, 3));
    EXPECT_THAT(second, testing::ElementsAre(2, 5, 8, 11, 14, 17, 20));
  }
}

TEST(FieldSplit, IsItsDenseReferenceInAllFormsOnAnyLayout) {
  for (const comm::Layout& layout : layouts_of(test_comm(), 41, 7)) {
    for (const bool symmetric : {false, true}) {
      const SaddlePoint system = symmetric ? symmetric_saddle_point(41, 4) : scattered(41, 4);
      const auto A = distributed(layout, system.matrix());
      const std::vector<double> x = hashed_vector(layout, 8);
      for (const SchurForm schur : schur_forms) {
        for (const SplitForm split : split_forms) {
          if (split == SplitForm::diagonal && !symmetric) continue;
          const FieldOptions form = {.schur = schur, .split = split};
          const auto map = solver::split_fields(A, form, {});
          std::vector<double> y(x.size());
          for (int time = 0; time < 2; ++time) map->apply(x, y);
          const Eigen::VectorXd expected = reference_of_split(system, form, whole(x));
          EXPECT_LE((whole(y) - expected).norm(), 1e-9 * expected.norm())
              << "schur " << int(schur) << ", split " << int(split);
          EXPECT_EQ(map->broken_symmetry().empty(), split == SplitForm::diagonal);
        }
      }
    }
  }
}

TEST(FieldSplit, OfInterleavedUnknownsKeepsTheEntriesOfTheSecondField) {
  const Eigen::Index n = 36;
  SaddlePoint system;
  for (Eigen::Index i = 0; i < n; ++i) (i % 3 == 2 ? system.second : system.first).push_back(i);
  system.F = hashed_matrix(24, 24, 1) + 20 * Eigen::MatrixXd::Identity(24, 24);
  system.G = hashed_matrix(24, 12, 2);
  system.B = hashed_matrix(12, 24, 3);
  system.C = hashed_matrix(12, 12, 4) - 9 * Eigen::MatrixXd::Identity(12, 12);
  amg::Options options;
  options.unknowns = 3;
  for (const comm::Layout& layout : layouts_of(test_comm(), n)) {
    for (const SplitForm split : {SplitForm::upper, SplitForm::full}) {
      const FieldOptions form = {.fields = FieldRule::interleaved, .split = split};
      const auto map = solver::split_fields(distributed(layout, system.matrix()), form, options);
      const std::vector<double> x = hashed_vector(layout, 8);
      std::vector<double> y(x.size());
      map->apply(x, y);
      const Eigen::VectorXd expected = reference_of_split(system, form, whole(x));
      EXPECT_LE((whole(y) - expected).norm(), 1e-9 * expected.norm());
    }
  }
}

// With exact inverses the preconditioned matrix has a minimal polynomial of degree 1 (full), 2
// (triangular) or 3 (diagonal): Murphy, Golub, Wathen 2000. With F its own diagonal `simple` and
// the commutator are the Schur complement.
TEST(FieldSplit, WithExactInversesNeedsAsManyIterationsAsTheTheoremSays) {
  SaddlePoint system = symmetric_saddle_point(90, 6);
  system.F = Eigen::MatrixXd(system.F.diagonal().asDiagonal());
  const Eigen::MatrixXd A = system.matrix();
  for (const comm::Layout& layout : {uniform(90), on_last_rank(90)}) {
    for (const SchurForm schur : {SchurForm::simple, SchurForm::lsc}) {
      for (const SplitForm split : split_forms) {
        Solver solver(distributed(layout, A), fields_with(schur, split));
        const std::vector<double> b = hashed_vector(layout, 1);
        std::vector<double> x(b.size(), 0);
        const solver::SolveRecord& record = solver.solve(b, x);
        const bool diagonal = split == SplitForm::diagonal;
        EXPECT_EQ(record.method.name(), diagonal ? "minres" : "gmres");
        EXPECT_TRUE(record.converged());
        EXPECT_EQ(record.report().iterations, diagonal ? 3 : split == SplitForm::full ? 1 : 2);
        const Eigen::VectorXd r = whole(b) - A * whole(x);
        EXPECT_LE(r.norm(), 1e-7 * whole(b).norm());
      }
    }
  }
}

struct Flow {
  double wind;
  SchurForm schur;
  SplitForm split;
  int most;  ///< iterations
};

TEST(FieldSplit, SolvesFlowProblemsWhoseFieldsAreOnDifferentRanks) {
  // Pressures are the last rows: ranks have velocities or pressures.
  for (const Flow& flow : {Flow{0, SchurForm::simple, SplitForm::full, 70},
                           Flow{0, SchurForm::simple, SplitForm::diagonal, 160},
                           Flow{0, SchurForm::automatic, SplitForm::upper, 22},
                           Flow{0, SchurForm::lsc, SplitForm::lower, 22},
                           Flow{0, SchurForm::automatic, SplitForm::diagonal, 45},
                           Flow{0, SchurForm::diagonal, SplitForm::upper, 22},
                           Flow{0, SchurForm::diagonal, SplitForm::diagonal, 45},
                           Flow{4, SchurForm::simple, SplitForm::upper, 90},
                           Flow{4, SchurForm::automatic, SplitForm::upper, 22},
                           Flow{4, SchurForm::lsc, SplitForm::full, 22}}) {
    const MarkerAndCell problem(20, flow.wind);
    const comm::Layout layout = uniform(problem.rows());
    const auto A = distributed(layout, problem);
    Solver solver(A, fields_with(flow.schur, flow.split));
    std::vector<double> b(static_cast<std::size_t>(layout.n_local()));
    solve::MatrixOperator<double>(A).apply(hashed_vector(layout, 3), b);
    std::vector<double> x(b.size(), 0);
    const solver::SolveRecord& record = solver.solve(b, x);
    std::string name = "wind " + std::to_string(int(flow.wind)) + ", schur " +
                       std::to_string(int(flow.schur)) + ", split " +
                       std::to_string(int(flow.split));
    EXPECT_TRUE(record.converged()) << name;
    EXPECT_LE(record.report().iterations, flow.most) << name;
    RecordProperty(name, record.report().iterations);
    const Eigen::VectorXd r = whole(b) - dense(problem) * whole(x);
    EXPECT_LE(r.norm(), 2e-8 * whole(b).norm()) << name;
    expect_same_on_all_ranks(record.report());
  }
}

/// P^-1 x with exact inverses where fields are eliminated one after the other, `simple`.
Eigen::VectorXd reference_of_fields(const Eigen::MatrixXd& A, const std::vector<double>& fields,
                                    SplitForm split, const Eigen::VectorXd& x) {
  SaddlePoint s;
  std::vector<double> left;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    (fields[i] > 0 ? s.second : s.first).push_back(static_cast<Eigen::Index>(i));
    if (fields[i] > 0) left.push_back(fields[i] - 1);
  }
  if (left.empty()) return A.inverse() * x;
  s.F = A(s.first, s.first), s.G = A(s.first, s.second);
  s.B = A(s.second, s.first), s.C = A(s.second, s.second);
  const Eigen::MatrixXd E = s.F.diagonal().cwiseInverse().asDiagonal() * s.G;
  const auto solve_second = [&](const Eigen::VectorXd& b) {
    return reference_of_fields(s.C - s.B * E, left, split, b);
  };
  Eigen::VectorXd y(x.size());
  if (split == SplitForm::upper) {
    y(s.second) = solve_second(x(s.second));
    y(s.first) = s.F.inverse() * (x(s.first) - s.G * y(s.second));
    return y;
  }
  y(s.first) = s.F.inverse() * x(s.first);
  y(s.second) = solve_second(x(s.second) - s.B * y(s.first));
  if (split == SplitForm::full) y(s.first) -= E * y(s.second);
  return y;
}

/// Field i % n_fields of each row i.
solver::RowFields in_turn(const comm::Layout& layout, int n_fields) {
  std::vector<double> fields;
  for (LocalIndex i = 0; i < layout.n_local(); ++i) {
    fields.push_back(static_cast<double>((layout.to_global(i) - layout.first()) % n_fields));
  }
  return solver::RowFields::from_numbers(layout, fields);
}

TEST(FieldSplit, OfGivenFieldsIsItsDenseReferenceHoweverManyTheyAre) {
  const Eigen::Index n = 43;
  const Eigen::MatrixXd A = hashed_matrix(n, n, 5) + 20 * Eigen::MatrixXd::Identity(n, n);
  for (const comm::Layout& layout : layouts_of(test_comm(), n)) {
    const std::vector<double> x = hashed_vector(layout, 8);
    for (const int n_fields : {2, 3, 5}) {
      const solver::RowFields known = in_turn(layout, n_fields);
      EXPECT_EQ(known.count, n_fields);
      std::vector<double> fields(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = double(int(i) % n_fields);
      for (const SplitForm split : {SplitForm::upper, SplitForm::lower, SplitForm::full}) {
        const auto map = solver::split_fields(distributed(layout, A), {.split = split}, {}, known);
        std::vector<double> y(x.size());
        for (int time = 0; time < 2; ++time) map->apply(x, y);
        const Eigen::VectorXd expected = reference_of_fields(A, fields, split, whole(x));
        EXPECT_LE((whole(y) - expected).norm(), 1e-9 * expected.norm())
            << n_fields << " fields, split " << int(split);
      }
    }
  }
}

std::string refused_fields(const std::vector<double>& numbers) {
  const comm::Layout layout = uniform(static_cast<GlobalIndex>(numbers.size()));
  return expect_same_error(*test_comm(), ErrorCode::invalid_argument, [&] {
    const auto begin = numbers.begin() + (layout.begin() - layout.first());
    solver::RowFields::from_numbers(layout, std::vector<double>(begin, begin + layout.n_local()));
  });
}

TEST(FieldSplit, RefusesFieldsThatAreNone) {
  EXPECT_THAT(refused_fields({0, 1, 1, 0.5, 0}),
              HasSubstr("the field of row 4 (counted from 1) is 0.5, and is to be a whole number"));
  EXPECT_THAT(refused_fields({0, 1, 1, 0, -1}), HasSubstr("row 5 (counted from 1) is -1"));
  EXPECT_THAT(refused_fields({0, 1, std::numeric_limits<double>::quiet_NaN()}), HasSubstr("row 3"));
  EXPECT_THAT(refused_fields({0, 64, 1}), HasSubstr("from 0 to 63"));
  EXPECT_THAT(refused_fields({0, 3, 1, 3}), HasSubstr("no row is of field 2, where there are"));
  const comm::Layout layout = uniform(6);
  const auto A = distributed(layout, Eigen::MatrixXd::Identity(6, 6));
  const auto refuse = [&](ErrorCode code, const FieldOptions& form, int n_fields) {
    return expect_same_error(*test_comm(), code,
                             [&] { solver::split_fields(A, form, {}, in_turn(layout, n_fields)); });
  };
  EXPECT_THAT(refuse(ErrorCode::unsuitable_matrix, {}, 1), HasSubstr("all rows are of one field"));
  EXPECT_THAT(refuse(ErrorCode::invalid_argument, {.schur = SchurForm::lsc}, 3),
              HasSubstr("`schur lsc` is for two fields, and there are 3"));
  EXPECT_THAT(refuse(ErrorCode::invalid_argument, {.fields = FieldRule::interleaved}, 2),
              HasSubstr("leaves no choice of `fields`"));
  solver::Problem problem;
  problem.fields = in_turn(layout, 2);
  const std::string other = expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                              [&] { Solver(A, solver::Options(), problem); });
  EXPECT_THAT(other, HasSubstr("is for `preconditioner fields`"));
}

TEST(FieldSplit, SolvesWithVelocitiesOfEachDirectionAndPressures) {
  for (const double wind : {0.0, 4.0}) {
    const MarkerAndCell problem(20, wind);
    const comm::Layout layout = uniform(problem.rows());
    const auto A = distributed(layout, problem);
    std::vector<double> fields;
    for (LocalIndex i = 0; i < layout.n_local(); ++i) {
      const GlobalIndex row = layout.to_global(i) - layout.first();
      fields.push_back(row < problem.n_velocities() / 2 ? 0 : row < problem.n_velocities() ? 1 : 2);
    }
    solver::Problem known;
    known.fields = solver::RowFields::from_numbers(layout, fields);
    for (const char* partition : {"none", "strided"}) {
      solver::Options options = fields_with(SchurForm::automatic, SplitForm::upper);
      options.set("partition", partition);
      Solver solver(A, options, known);
      std::vector<double> b(static_cast<std::size_t>(layout.n_local()));
      solve::MatrixOperator<double>(A).apply(hashed_vector(layout, 3), b);
      std::vector<double> x(b.size(), 0);
      const solver::SolveRecord& record = solver.solve(b, x);
      EXPECT_TRUE(record.converged());
      EXPECT_LE(record.report().iterations, 90) << wind << " " << partition;
      const Eigen::VectorXd r = whole(b) - dense(problem) * whole(x);
      EXPECT_LE(r.norm(), 2e-8 * whole(b).norm());
    }
  }
}

TEST(FieldSplit, TakesANegativeSystemAndAStabilizedOneBySigns) {
  const MarkerAndCell problem(20, 0, 0.25);
  const comm::Layout layout = uniform(problem.rows());
  const auto A = distributed(layout, problem);
  int iterations[2] = {};
  for (const double sign : {1.0, -1.0}) {
    const auto signed_A =
        std::make_shared<const matrix::DistMatrix<double>>(A->with_type<double>(sign));
    Solver solver(signed_A, fields_with(SchurForm::simple, SplitForm::diagonal));
    std::vector<double> b(static_cast<std::size_t>(layout.n_local()));
    solve::MatrixOperator<double>(signed_A).apply(hashed_vector(layout, 3), b);
    std::vector<double> x(b.size(), 0);
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_EQ(solver.record().method.name(), "minres");
    iterations[sign < 0] = solver.record().report().iterations;
  }
  EXPECT_EQ(iterations[0], iterations[1]);
}

TEST(FieldSplit, SolvesWithNewValues) {
  const comm::Layout layout = uniform(60);
  const SaddlePoint system = scattered(60, 5);
  Solver solver(distributed(layout, system.matrix()),
                fields_with(SchurForm::simple, SplitForm::full));
  SaddlePoint next = system;
  next.F *= 3;
  next.B *= -0.5;
  solver.rebuild(distributed(layout, next.matrix()));
  const std::vector<double> x = hashed_vector(layout, 8);
  std::vector<double> y(x.size());
  solver.precondition(x, y, 1);
  const FieldOptions form = {.schur = SchurForm::simple, .split = SplitForm::full};
  const Eigen::VectorXd expected = reference_of_split(next, form, whole(x));
  EXPECT_LE((whole(y) - expected).norm(), 1e-9 * expected.norm());
}

std::string refused(const Eigen::MatrixXd& A, const FieldOptions& form,
                    ErrorCode code = ErrorCode::unsuitable_matrix) {
  const comm::Layout layout = uniform(A.rows());
  return expect_same_error(*test_comm(), code,
                           [&] { solver::split_fields(distributed(layout, A), form, {}); });
}

TEST(FieldSplit, RefusesWithOneMessageOnAllRanks) {
  const SaddlePoint good = scattered(41, 2);
  EXPECT_THAT(refused(good.F, {}), HasSubstr("no second field"));
  EXPECT_THAT(
      refused(Eigen::MatrixXd(good.F - Eigen::MatrixXd(good.F.diagonal().asDiagonal())), {}),
      HasSubstr("no first field"));
  EXPECT_THAT(refused(good.F, {.fields = FieldRule::interleaved}, ErrorCode::invalid_argument),
              HasSubstr("needs `unknowns`"));
  Eigen::MatrixXd A = good.matrix();
  A(23, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refused(A, {}), HasSubstr("row 24 (counted from 1) has an entry that is not finite"));
  SaddlePoint decoupled = good;
  decoupled.B.row(3).setZero();
  EXPECT_THAT(refused(decoupled.matrix(), {}),
              HasSubstr("row " + std::to_string(good.second[3] + 1) +
                        " (counted from 1) is zero in the Schur complement"));
  SaddlePoint stabilized = symmetric_saddle_point(41, 2);
  stabilized.C.diagonal().setConstant(-1);
  EXPECT_THAT(refused(stabilized.matrix(), {.schur = SchurForm::lsc}),
              HasSubstr("take `schur simple`"));
}

TEST(FieldSplit, IsRefusedByMethodsForSymmetricOnes) {
  const comm::Layout layout = uniform(60);
  const auto A = distributed(layout, symmetric_saddle_point(60, 2).matrix());
  solver::Options options = fields_with(SchurForm::simple, SplitForm::upper);
  options.set("solver", "minres");
  const std::string text = expect_same_error(*test_comm(), ErrorCode::invalid_argument,
                                             [&] { Solver solver(A, options); });
  EXPECT_THAT(text, HasSubstr("`split upper` makes the preconditioner nonsymmetric, which minres "
                              "cannot use: take `split diagonal`, or take `solver gmres`"));
}

}  // namespace solver_fields_test
}  // namespace nodewise::test
