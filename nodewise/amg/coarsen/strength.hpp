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

/// The measure that is compared with the largest of its row.
enum class StrengthMeasure {
  automatic,      ///< opposite_sign for a symmetric matrix, absolute for another
  opposite_sign,  ///< -a_ij, or a_ij where a_ii < 0: entries of the diagonal's sign are weak
  absolute        ///< |a_ij|
};

/// Local. Row i depends strongly on j when m_ij > threshold max_k m_ik, m being the measure: for
/// opposite_sign the classical one of Ruge, Stüben 1987. `automatic` must have been resolved. A row
/// whose sum exceeds max_row_sum |a_ii| is dominated by its diagonal and depends strongly on
/// nothing; max_row_sum = 1 switches that off.
template <class T>
Strength strength_of_connection(const matrix::DistMatrix<T>& A, double threshold,
                                double max_row_sum,
                                StrengthMeasure measure = StrengthMeasure::opposite_sign);

}  // namespace nodewise::amg
