// The cost of a sparse matrix-vector product by the plain model that the sparsification of coarse
// levels is judged by.
#pragma once

#include <span>

#include "nodewise/model/machine.hpp"

namespace nodewise::model {

/// The messages of one rank in a product.
struct ProductSends {
  double messages = 0;       ///< s_p
  double message_bytes = 0;  ///< n_p, the longest
};

/// Local. T = 2 c nnz_p + max_p s_p (alpha + beta n_p) (Bienz 2018, eq. 4.5), in seconds, with the
/// mean number nnz_p of nonzeros a rank and c seconds for a floating-point operation. All messages
/// count as messages between nodes; alpha and beta are those of the length of each rank's.
double product_s(const Machine& machine, double s_per_flop, double nonzeros_per_rank,
                 std::span<const ProductSends> ranks);

}  // namespace nodewise::model
