// Which algorithms the communication of all ranks takes by itself, and why.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/run/records.hpp"
#include "nodewise/solve/krylov.hpp"

namespace nodewise::solver {

/// Collective; an allreduce, and those of agreements. What a solve by `method` with this matrix
/// does on its finest level.
run::CollectiveChoices explain_collectives(const matrix::DistMatrix<double>& A,
                                           const Choice<solve::KrylovMethod>& method, int n_rhs);

}  // namespace nodewise::solver
