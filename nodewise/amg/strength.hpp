// Strength of connection.
#pragma once

#include <cstdint>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Marks the strong entries of a matrix: on[k] is 1 where entry k of A.on() is strong, off[k]
/// likewise for A.off(). The diagonal is never strong.
struct Strength {
  Array<std::uint8_t> on;
  Array<std::uint8_t> off;
};

/// Local. Row i depends strongly on j when -a_ij > threshold max_k(-a_ik), with the signs turned
/// round where a_ii < 0 (Ruge, Stüben 1987). A row whose sum exceeds max_row_sum |a_ii| is
/// dominated by its diagonal and depends strongly on nothing; max_row_sum = 1 switches that off.
template <class T>
Strength strength_of_connection(const matrix::DistMatrix<T>& A, double threshold,
                                double max_row_sum);

}  // namespace nodewise::amg
