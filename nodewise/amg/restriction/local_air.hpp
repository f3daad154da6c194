// Restriction for nonsymmetric problems.
#pragma once

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::restriction {

/// The most fine points whose equations are used to build a restriction row: a system for each row
/// is solved directly. At distance one the largest couplings count first.
inline constexpr std::size_t max_points = 128;

/// The size of the neighbourhoods, and what is kept.
struct AirLimits {
  int distance = 2;
  double threshold = 0.05;
  double truncation = 0;  ///< weights below this fraction of the row's largest are dropped
};

/// Collective. Local approximate ideal restriction (lAIR): Manteuffel, Münzenmaier, Ruge,
/// Southworth, "Nonsymmetric reduction-based algebraic multigrid", SIAM J. Sci. Comput. 41, 2019,
/// section 3. Row i of R has 1 at the coarse point i and r_ij at the fine points j of a
/// neighbourhood N_i such that (R A)_ik = 0 for all k in N_i:
///
///     sum over j in N_i of r_ij a_jk = -a_ik  for all k in N_i.
///
/// N_i are the fine points that i depends on with |a_ij| > threshold max_k |a_ik|, and for distance
/// 2 the fine points that those depend on, too. If N_i were all fine points R would be the ideal
/// restriction -A_cf A_ff^-1. Weights that are dropped are not made up for: constants need no exact
/// restriction, and the others solve their equations as they are. The same to the last bit on any
/// number of ranks and of threads.
///
/// R's rows are laid out by `coarse_points`, its columns by A.rows(). Costs one exchange of A for
/// vectors and one for records, for distance 2 the discovery of a pattern and one exchange for
/// records more, and what a new matrix costs. Throws invalid_argument for another distance.
template <class T>
matrix::DistMatrix<T> local_air(const matrix::DistMatrix<T>& A, const coarsen::Splitting& splitting,
                                const comm::Layout& coarse_points, const AirLimits& limits);

}  // namespace nodewise::amg::restriction
