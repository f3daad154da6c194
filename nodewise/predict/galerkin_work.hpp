// The arithmetic of Galerkin products, by which a setup makes its coarse matrices.
#pragma once

#include <span>

#include "nodewise/base/types.hpp"
#include "nodewise/kernels/csr.hpp"

namespace nodewise::predict {

/// Local. The floating-point operations of A P and P^T (A P), a multiplication and an addition for
/// each product of two entries, on the rank that has most: rank r has the rows starts[r] ..
/// starts[r + 1] of both. Strength, splitting, interpolation and the like are not in it.
double galerkin_flops(const kernels::Csr<double>& A, const kernels::Csr<double>& P,
                      std::span<const GlobalIndex> starts);

}  // namespace nodewise::predict
