// Two-stage Gauss-Seidel against the same series for dense matrices.
#include <gtest/gtest.h>

#include "nodewise/amg/cycle/smoother.hpp"
#include "nodewise/amg/relax/two_stage_gauss_seidel.hpp"

#include "amg_support.hpp"

namespace nodewise::amg {
namespace amg_two_stage_test {

using relax::Direction;
using relax::Sweep;
using test::DenseMatrix;
using test::distribute;
using test::dot;
using test::expect_near;
using test::gathered;
using test::hashed;
using test::layouts_of;
using test::part_of;
using test::test_comm;

Choice<relax::SmootherMethod> two_stage(int inner_sweeps) {
  Choice<relax::SmootherMethod> smoother("two_stage_gauss_seidel");
  smoother.options<relax::TwoStageOptions>().inner_sweeps = inner_sweeps;
  return smoother;
}

/// x after a sweep: the triangles are those of each rank's own rows.
DenseMatrix swept(const DenseMatrix& A, const matrix::Layout& layout, int inner_sweeps,
                  bool forward, const DenseMatrix& b, DenseMatrix x) {
  const DenseMatrix r = b - A * x;
  DenseMatrix y(b.rows());
  for (int k = 0; k <= inner_sweeps; ++k) {
    const DenseMatrix before = y;
    for (GlobalIndex i = 0; i < A.rows(); ++i) {
      double sum = r[i];
      for (GlobalIndex j = 0; j < A.rows(); ++j) {
        const bool is_in_triangle = forward ? j < i : j > i;
        if (is_in_triangle && layout.owner(i) == layout.owner(j)) sum -= A(i, j) * before[j];
      }
      y[i] = A(i, i) != 0 ? sum / A(i, i) : 0;
    }
  }
  for (GlobalIndex i = 0; i < A.rows(); ++i) x[i] += y[i];
  return x;
}

TEST(TwoStageGaussSeidel, IsTheSeries) {
  DenseMatrix values = test::random_matrix(30, 0.2, 0.2, 6);
  for (GlobalIndex i = 0; i < 30; i += 7) values(i, i) = 0;  // rows that are left alone
  const DenseMatrix b = hashed(30, 1), start = hashed(30, 2), zero(30);
  for (const matrix::Layout& layout : layouts_of(test_comm(), 30)) {
    const auto A = distribute(values, layout);
    for (const int inner : {0, 1, 2, 5}) {
      const auto relaxation = relax::make_relaxation(A, two_stage(inner));
      std::vector<double> x = part_of(layout, start);
      relaxation->first_sweep(part_of(layout, b), x);
      expect_near(gathered(layout.comm(), x), swept(values, layout, inner, true, b, zero), 1e-12,
                  "from zero");
      for (const bool forward : {true, false}) {
        x = part_of(layout, start);
        relaxation->sweep(forward ? Direction::forward : Direction::backward, part_of(layout, b),
                          x);
        expect_near(gathered(layout.comm(), x), swept(values, layout, inner, forward, b, start),
                    1e-12, forward ? "forward" : "backward");
      }
    }
  }
}

// With as many inner sweeps as rows the series ends, at the triangular solve.
TEST(TwoStageGaussSeidel, BecomesGaussSeidel) {
  const DenseMatrix values = test::random_symmetric(20, 0.2, 0.2, 4);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), 20));
  const std::vector<double> b = part_of(A.rows(), hashed(20, 1));
  std::vector<double> x(b.size()), expected(b.size());
  relax::make_relaxation(A, two_stage(20))->first_sweep(b, x);
  relax::make_relaxation(A, Choice<relax::SmootherMethod>("gauss_seidel"))
      ->first_sweep(b, expected);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-12);
}

// What conjugate gradients need: <M b, c> = <b, M c> for the sweeps before and after.
TEST(TwoStageGaussSeidel, BothWaysIsSymmetric) {
  const DenseMatrix values = test::random_symmetric(40, 0.1, 0.2, 4);
  const auto A = distribute(values, matrix::Layout::uniform(test_comm(), values.rows()));
  Options options;
  options.smoother = two_stage(2);
  options.set("sweep_order", "forward_backward");
  const Smoother<double> smoother(A, options);
  const auto apply = [&](const DenseMatrix& b) {
    std::vector<double> x(static_cast<std::size_t>(A.n_local()));
    smoother.solve_approximately(2, part_of(A.rows(), b), x);
    return gathered(A.comm(), x);
  };
  const DenseMatrix b = hashed(values.rows(), 1);
  const DenseMatrix c = hashed(values.rows(), 2);
  EXPECT_NEAR(dot(apply(b), c), dot(b, apply(c)), 1e-11);
}

}  // namespace amg_two_stage_test
}  // namespace nodewise::amg
