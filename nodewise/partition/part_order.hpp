// The rows of a whole matrix in the order of their parts, as virtual ranks have them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::partition {

/// The rows of one part after another, those of a part in their order: as
/// comm::RowMove::to_owners() numbers them.
struct PartOrder {
  std::vector<GlobalIndex> starts;  ///< part p has the new rows [starts[p], starts[p + 1])
  std::vector<LocalIndex> rows;     ///< the old row of each new one

  /// Local. What is `width` numbers for each old row, for the new ones.
  template <class T>
  std::vector<T> in_order(std::span<const T> values, std::size_t width = 1) const {
    std::vector<T> ordered;
    ordered.reserve(values.size());
    for (const LocalIndex row : rows) {
      const auto from = values.subspan(static_cast<std::size_t>(row) * width, width);
      ordered.insert(ordered.end(), from.begin(), from.end());
    }
    return ordered;
  }
};

/// Local. owners: a part for each row of a matrix that this rank has all rows of.
PartOrder order_of_parts(std::span<const int> owners, int n_parts);

/// Collective, for a square matrix on one rank, the only one. Q A Q^T, whose rows and columns are
/// in that order.
matrix::DistMatrix<double> in_order(const matrix::DistMatrix<double>& A, const PartOrder& order);

}  // namespace nodewise::partition
