// Some rows and columns of a matrix as a matrix.
#pragma once

#include "nodewise/comm/subset.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Collective. The entries of A in these rows, of A.rows(), and these columns, of A.cols(), laid
/// out and numbered as the subsets are; stored zeros are kept. No row leaves its rank. One exchange
/// of A, by which the numbers of columns come, and what making a DistMatrix costs. The result's own
/// exchange is `direct`.
template <class T>
DistMatrix<T> submatrix(const DistMatrix<T>& A, const comm::Subset& rows, const comm::Subset& cols);

}  // namespace nodewise::matrix
