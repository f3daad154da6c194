// The two stages for reservoirs: beside a dense reference on any layout, on flow of three phases
// with units that differ by orders of magnitude, and systems that are refused.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodewise/solver/cpr.hpp"
#include "nodewise/solver/solver.hpp"

#include "aggregate_support.hpp"
#include "collective_error.hpp"
#include "saddle_support.hpp"
#include "solve_support.hpp"

namespace nodewise::test {
namespace solver_cpr_test {

using testing::HasSubstr;

/// Flow of three phases through nx x ny cells: a pressure and two saturations at each, two-point
/// fluxes with the mobility of the cell upstream, and permeabilities of four orders of magnitude.
/// Equations and pressures have units of their own.
class Reservoir {
 public:
  Reservoir(GlobalIndex nx, GlobalIndex ny, int pressure = 0)
      : nx_(nx), ny_(ny), pressure_(pressure) {}
  GlobalIndex rows() const { return 3 * nx_ * ny_; }

  template <class Emit>
  void row(GlobalIndex i, Emit&& emit) const {
    const GlobalIndex cell = i / 3;
    const int phase = static_cast<int>(i % 3);
    const double unit[3] = {1e3, 1, 1e-4};
    const auto scaled = [&](GlobalIndex col, double value) { emit(col, unit[phase] * value); };
    scaled(column(cell, 0), pressure_unit * 1e-3);
    scaled(column(cell, 1), phase == 0 ? 4.0 : phase == 2 ? -4.0 : 0.0);
    scaled(column(cell, 2), phase == 1 ? 4.0 : phase == 2 ? -4.0 : 0.0);
    const GlobalIndex x = cell % nx_, y = cell / nx_;
    if (x > 0) flux(cell, cell - 1, cell - 1, phase, scaled);
    if (x < nx_ - 1) flux(cell, cell + 1, cell, phase, scaled);
    if (y > 0) flux(cell, cell - nx_, cell - nx_, phase, scaled);
    if (y < ny_ - 1) flux(cell, cell + nx_, cell, phase, scaled);
  }

 private:
  static constexpr double pressure_unit = 1e-5;
  static double random(GlobalIndex cell, std::uint64_t seed) {
    return hash_uniform(static_cast<std::uint64_t>(cell), seed);
  }
  GlobalIndex column(GlobalIndex cell, int unknown) const {
    return 3 * cell + (unknown == 0 ? pressure_ : unknown <= pressure_ ? unknown - 1 : unknown);
  }
  static double permeability(GlobalIndex cell) { return std::pow(10.0, 4 * random(cell, 1) - 2); }

  /// What leaves a cell for a neighbour.
  template <class Emit>
  void flux(GlobalIndex cell, GlobalIndex neighbour, GlobalIndex upstream, int phase,
            Emit& emit) const {
    const double a = permeability(cell), b = permeability(neighbour);
    const double T = 2 * a * b / (a + b);
    const double mobility = 0.1 + 0.9 * random(upstream, 2 + static_cast<std::uint64_t>(phase));
    emit(column(cell, 0), pressure_unit * T * mobility);
    emit(column(neighbour, 0), -pressure_unit * T * mobility);
    const double carried = (upstream == cell ? 1 : -1) * T * 0.5;
    emit(column(upstream, 1), carried * (phase == 0 ? 1 : phase == 1 ? -0.1 : -0.6));
    emit(column(upstream, 2), carried * (phase == 1 ? 1 : phase == 0 ? -0.1 : -0.6));
  }

  GlobalIndex nx_, ny_;
  int pressure_;
};

std::shared_ptr<const matrix::DistMatrix<double>> on(const comm::Layout& layout,
                                                     const Reservoir& reservoir) {
  return std::make_shared<const matrix::DistMatrix<double>>(
      matrix::matrix_from_rows<double>(layout, layout, [&](GlobalIndex i, const auto& emit) {
        reservoir.row(i - layout.first(),
                      [&](GlobalIndex col, double value) { emit(layout.first() + col, value); });
      }));
}

Eigen::MatrixXd dense(const Reservoir& reservoir) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(reservoir.rows(), reservoir.rows());
  for (GlobalIndex i = 0; i < reservoir.rows(); ++i) {
    reservoir.row(i, [&](GlobalIndex j, double value) { A(i, j) += value; });
  }
  return A;
}

/// Both stages with an exact first one; sweeps see what other ranks own as the first stage left it.
Eigen::VectorXd reference_of_cpr(const Eigen::MatrixXd& A, int pressure, const comm::Layout& layout,
                                 const Eigen::VectorXd& b) {
  const Eigen::Index n = A.rows(), points = n / 3;
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(points, n), E = Eigen::MatrixXd::Zero(n, points);
  Eigen::MatrixXd lower = Eigen::MatrixXd::Zero(n, n), upper = lower, D = lower;
  const auto rank_of = [&](Eigen::Index i) { return layout.owner(layout.first() + i); };
  for (Eigen::Index p = 0; p < points; ++p) {
    const Eigen::MatrixXd inverse = A.block(3 * p, 3 * p, 3, 3).inverse();
    W.block(p, 3 * p, 1, 3) = inverse.row(pressure) / inverse(pressure, pressure);
    E(3 * p + pressure, p) = 1;
    for (Eigen::Index q = 0; q < points; ++q) {
      if (rank_of(3 * p) != rank_of(3 * q)) continue;
      if (q <= p) lower.block(3 * p, 3 * q, 3, 3) = A.block(3 * p, 3 * q, 3, 3);
      if (q >= p) upper.block(3 * p, 3 * q, 3, 3) = A.block(3 * p, 3 * q, 3, 3);
      if (q == p) D.block(3 * p, 3 * q, 3, 3) = A.block(3 * p, 3 * q, 3, 3);
    }
  }
  const Eigen::VectorXd x = E * (W * A * E).partialPivLu().solve(W * b);
  const Eigen::VectorXd middle = D * lower.partialPivLu().solve(b - A * x);
  return x + upper.partialPivLu().solve(middle);
}

solver::Options cpr_with(int pressure) {
  solver::Options options;
  options.set("preconditioner", "cpr");
  options.set("unknowns", "3");
  options.set("cpr_unknown", std::to_string(pressure));
  return options;
}

TEST(Cpr, IsItsDenseReferenceOnAnyLayout) {
  for (const comm::Layout& layout : layouts_of_points(24, 3)) {
    for (const int pressure : {0, 2}) {
      const Reservoir reservoir(6, 4, pressure);
      amg::Options options;
      options.unknowns = 3;
      const auto map = solver::reduce_to_pressure(on(layout, reservoir), {pressure}, options);
      const std::vector<double> x = hashed_vector(layout, 8);
      std::vector<double> y(x.size());
      for (int time = 0; time < 2; ++time) map->apply(x, y);
      const Eigen::VectorXd expected =
          reference_of_cpr(dense(reservoir), pressure, layout, whole(x));
      EXPECT_LE((whole(y) - expected).norm(), 1e-8 * expected.norm());
    }
  }
}

TEST(Cpr, SolvesFlowOfThreePhases) {
  const Reservoir reservoir(40, 30, 0);
  const comm::Layout layout = comm::uniform_points(test_comm(), reservoir.rows(), 3);
  const auto A = on(layout, reservoir);
  Solver solver(A, cpr_with(0));
  std::vector<double> b(static_cast<std::size_t>(layout.n_local()));
  solve::MatrixOperator<double>(A).apply(hashed_vector(layout, 3), b);
  std::vector<double> x(b.size(), 0);
  const solver::SolveRecord& record = solver.solve(b, x);
  EXPECT_TRUE(record.converged());
  EXPECT_EQ(record.method.name(), "gmres");
  EXPECT_LE(record.report().iterations, 30);
  RecordProperty("iterations", record.report().iterations);
  expect_same_on_all_ranks(record.report());
  std::vector<double> Ax(b.size());
  solve::MatrixOperator<double>(A).apply(x, Ax);
  EXPECT_LE((whole(b) - whole(Ax)).norm(), 2e-8 * whole(b).norm());
  // Other values.
  auto other = std::make_shared<const matrix::DistMatrix<double>>(A->with_type<double>(-2));
  const int before = record.report().iterations;
  solver.rebuild(other);
  std::fill(x.begin(), x.end(), 0.0);
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_NEAR(solver.record().report().iterations, before, 1);
}

TEST(Cpr, FindsDenseBlocks) {
  Eigen::MatrixXd A = hashed_matrix(24, 24, 3) + 20 * Eigen::MatrixXd::Identity(24, 24);
  for (Eigen::Index i = 0; i < 24; ++i) {
    for (Eigen::Index j = 0; j < 24; ++j) {
      if (std::abs(i / 3 - j / 3) > 1) A(i, j) = 0;
    }
  }
  const comm::Layout layout = comm::uniform_points(test_comm(), 24, 6);
  const std::vector<double> x = hashed_vector(layout, 8);
  std::vector<double> found(x.size()), given(x.size());
  amg::Options three;
  three.unknowns = 3;
  const auto matrix = distributed(layout, A);
  solver::reduce_to_pressure(matrix, {}, {})->apply(x, found);
  solver::reduce_to_pressure(matrix, {}, three)->apply(x, given);
  EXPECT_EQ(found, given);
}

TEST(Cpr, RefusesWithOneMessageOnAllRanks) {
  const Reservoir reservoir(6, 4);
  const comm::Layout layout = comm::uniform_points(test_comm(), reservoir.rows(), 3);
  const auto refused = [&](const Eigen::MatrixXd& A, int unknowns, int pressure, ErrorCode code) {
    amg::Options options;
    options.unknowns = unknowns;
    return expect_same_error(*test_comm(), code, [&] {
      solver::reduce_to_pressure(distributed(layout, A), {pressure}, options);
    });
  };
  const Eigen::MatrixXd good = dense(reservoir);
  Eigen::MatrixXd bad = good;
  bad(31, 5) = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refused(bad, 3, 0, ErrorCode::unsuitable_matrix),
              HasSubstr("row 32 (counted from 1)"));
  EXPECT_THAT(refused(good, 3, 3, ErrorCode::invalid_argument), HasSubstr("cpr_unknown 3"));
  EXPECT_THAT(refused(good, 8, 0, ErrorCode::invalid_argument), HasSubstr("at most 6"));
  EXPECT_THAT(
      refused(Eigen::MatrixXd(good.diagonal().asDiagonal()), 1, 0, ErrorCode::invalid_argument),
      HasSubstr("say so with `unknowns`"));
}

}  // namespace solver_cpr_test
}  // namespace nodewise::test
