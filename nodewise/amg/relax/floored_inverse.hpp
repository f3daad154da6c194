// Inverses of pivots that may be singular.
#pragma once

#include <span>

namespace nodewise::amg::relax {

/// Local. Replaces a square block of up to kernels::max_block rows, row-major, by its inverse,
/// whereby pivots of its elimination (with complete pivoting) that are below `floor` are raised to
/// it, with their sign. Its entries must be finite. Returns whether any was raised.
bool invert_floored(std::span<double> block, int n, double floor);

}  // namespace nodewise::amg::relax
