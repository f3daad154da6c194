// The rows of a rank together with rows of others that are near them.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Which rows of other ranks a rank has as well, and what brings their entries of a vector.
struct RowOverlap {
  std::vector<GlobalIndex> ghosts;  ///< these rows, ascending
  /// Its exchange brings the entries of vectors for `ghosts`, in one exchange of the matrix's route
  /// and transport; the matrix itself where its own does. Null without ghosts on any rank.
  std::shared_ptr<const DistMatrix<double>> carrier;
};

/// Collective. The rows that are up to `layers` couplings away from this rank's, for a square
/// matrix; with blocks of `block` rows, whole blocks. For one layer and blocks of one row no
/// messages but an agreement; else a pattern is found for each layer, and rows are fetched for each
/// but the last. Throws, the same on every rank, index_overflow where there are too many.
RowOverlap find_overlap(const std::shared_ptr<const DistMatrix<double>>& A, int layers, int block);

/// Collective. This rank's rows and behind them those of the overlap, with the columns among both,
/// numbered alike, ascending; others are left out. One row exchange, none without a carrier. Throws
/// as fetch_rows() does.
Csr<double> rows_with_overlap(const DistMatrix<double>& A, const RowOverlap& overlap);

}  // namespace nodewise::matrix
