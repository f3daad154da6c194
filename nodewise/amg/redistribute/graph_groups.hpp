// Groups of ranks that have most to do with each other.
#pragma once

#include <vector>

#include "nodewise/amg/redistribute/group_method.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Collective. What all ranks send to which in a product with a matrix, which must take the direct
/// route: a concatenation of as many numbers. O(messages of all ranks) memory.
template <class T>
std::vector<RankCoupling> rank_couplings(const matrix::DistMatrix<T>& A);

}  // namespace nodewise::amg
