// Where incomplete factors have entries.
#pragma once

#include "nodewise/kernels/csr.hpp"

namespace nodewise::amg::relax {

/// Local. The pattern of the incomplete factors L and U of a square matrix with fill up to a level,
/// in one matrix without values, columns ascending, its diagonal whole: ILU(k), Saad 2003,
/// algorithm 10.6. An entry of A has level 0; one that elimination makes of two others has the sum
/// of their levels and 1. `A` needs no values, and its columns need not ascend.
kernels::Csr<double> fill_pattern(const kernels::Csr<double>& A, int levels);

}  // namespace nodewise::amg::relax
