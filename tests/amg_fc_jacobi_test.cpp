// Relaxation of the fine points, then of the coarse ones, against the same for dense matrices.
#include <functional>

#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/relax/fc_jacobi.hpp"

#include "amg_support.hpp"
#include "smoother_support.hpp"

namespace nodewise::amg {
namespace amg_fc_jacobi_test {

using relax::Direction;
using test::coarse_rows;
using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::expect_near;
using test::gathered;
using test::hashed;
using test::is_coarse;
using test::layouts_of;
using test::part_of;
using test::test_comm;

/// One Jacobi sweep over the rows of one kind.
DenseMatrix jacobi(const DenseMatrix& A, bool of_coarse, const DenseMatrix& b,
                   const DenseMatrix& x) {
  const DenseMatrix r = b - A * x;
  DenseMatrix next = x;
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    if (is_coarse(i) == of_coarse && A(i, i) != 0) next[i] += r[i] / A(i, i);
  }
  return next;
}

struct Sweeps {
  int fine, coarse;
};
constexpr Sweeps all_sweeps[] = {{2, 1}, {1, 0}, {0, 1}, {3, 2}, {0, 0}};

DenseMatrix reference(const DenseMatrix& A, Sweeps sweeps, bool forward, const DenseMatrix& b,
                      DenseMatrix x) {
  for (const bool of_coarse : {!forward, forward}) {
    for (int k = 0; k < (of_coarse ? sweeps.coarse : sweeps.fine); ++k) {
      x = jacobi(A, of_coarse, b, x);
    }
  }
  return x;
}

std::vector<test::NamedMatrix> matrices() {
  std::vector<test::NamedMatrix> all = test::level_matrices();
  DenseMatrix holes = test::random_matrix(30, 0.2, 0.2, 6);
  for (GlobalIndex i = 0; i < 30; i += 4) holes(i, i) = 0;
  all.push_back({"zero diagonals", holes});
  return all;
}

TEST(FcJacobi, EqualsSweepsOnDenseMatrices) {
  for (const auto& [name, values] : matrices()) {
    const DenseMatrix b = hashed(values.rows(), 1);
    const DenseMatrix start = hashed(values.rows(), 2);
    for (const matrix::Layout& layout : layouts_of(test_comm(), values.rows(), 77)) {
      const auto A = distribute(values, layout);
      for (const Sweeps sweeps : all_sweeps) {
        const relax::FcJacobi<double> relaxation(A, coarse_rows(layout), sweeps.fine,
                                                 sweeps.coarse);
        const std::vector<double> mine = part_of(layout, b);
        for (const bool forward : {true, false}) {
          std::vector<double> x = part_of(layout, start);
          relaxation.sweep(forward ? Direction::forward : Direction::backward, mine, x);
          expect_near(gathered(A.comm(), x), reference(values, sweeps, forward, b, start), 1e-13,
                      name);
        }
        std::vector<double> x(mine.size(), 1e3);
        relaxation.first_sweep(mine, x);
        const DenseMatrix expected = reference(values, sweeps, true, b, DenseMatrix(values.rows()));
        expect_near(gathered(A.comm(), x), expected, 1e-13, name);
      }
    }
  }
}

// Without a splitting, as on a last level, all points are fine.
TEST(FcJacobi, WithoutCoarsePointsIsJacobi) {
  const DenseMatrix values = test::random_matrix(30, 0.2, 0.2, 6);
  const DenseMatrix b = hashed(values.rows(), 1);
  const DenseMatrix start = hashed(values.rows(), 2);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  DenseMatrix expected = start;
  for (int k = 0; k < 2; ++k) {
    const DenseMatrix r = b - values * expected;
    for (GlobalIndex i = 0; i < b.rows(); ++i) expected[i] += r[i] / values(i, i);
  }
  Options options;
  options.smoother = "fc_jacobi";
  const auto relaxation = relax::make_relaxation(A, options.smoother);
  std::vector<double> x = part_of(A.rows(), start);
  relaxation->sweep(Direction::forward, part_of(A.rows(), b), x);
  expect_near(gathered(A.comm(), x), expected, 1e-13, "");
}

// What conjugate gradients need: <M b, c> = <b, M c> for the sweeps before and after.
TEST(FcJacobi, BothWaysIsSymmetric) {
  const DenseMatrix values = test::random_symmetric(40, 0.1, 0.2, 4);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  Options options;
  options.smoother = "fc_jacobi";
  set_order(options, SweepOrder::forward_backward);
  const std::vector<LocalIndex> rows = coarse_rows(A.rows());
  const Smoother<double> smoother(A, options, {.coarse_rows = rows});
  const auto apply = [&](const DenseMatrix& b) {
    std::vector<double> x(static_cast<std::size_t>(A.n_local()));
    smoother.solve_approximately(2, part_of(A.rows(), b), x);
    return gathered(A.comm(), x);
  };
  const DenseMatrix b = hashed(values.rows(), 1);
  const DenseMatrix c = hashed(values.rows(), 2);
  EXPECT_NEAR(dot(apply(b), c), dot(b, apply(c)), 1e-12);
}

}  // namespace amg_fc_jacobi_test
}  // namespace nodewise::amg
