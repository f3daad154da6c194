#include "nodewise/amg/relax/floored_inverse.hpp"

#include <cmath>

#include <Eigen/LU>

#include "nodewise/kernels/bsr.hpp"

namespace nodewise::amg::relax {

namespace {

/// One type for blocks of all sizes, since each takes long to compile.
using PivotBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor,
                                 kernels::max_block, kernels::max_block>;

/// Local. `value` with at least the modulus `floor`; whether that is another.
bool raise(double& value, double floor) {
  if (std::abs(value) >= floor) return false;
  value = std::copysign(floor, value);
  return true;
}

}  // namespace

bool invert_floored(std::span<double> block, int n, double floor) {
  if (n == 1) {
    const bool raised = raise(block[0], floor);
    block[0] = 1 / block[0];
    return raised;
  }
  Eigen::Map<PivotBlock> values(block.data(), n, n);
  const Eigen::FullPivLU<PivotBlock> lu(values);
  PivotBlock factors = lu.matrixLU();
  bool raised = false;
  for (int k = 0; k < n; ++k) raised = raise(factors(k, k), floor) || raised;
  PivotBlock inverse = lu.permutationP() * PivotBlock::Identity(n, n);
  factors.triangularView<Eigen::UnitLower>().solveInPlace(inverse);
  factors.triangularView<Eigen::Upper>().solveInPlace(inverse);
  values = lu.permutationQ() * inverse;
  return raised;
}

}  // namespace nodewise::amg::relax
