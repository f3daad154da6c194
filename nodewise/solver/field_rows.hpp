// Which rows of a system are of which field.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::solver {

/// The field of each of this rank's rows, as a caller knows it.
struct RowFields {
  std::vector<std::int32_t> of_row;  ///< from 0 to below count
  int count = 0;                     ///< the same on every rank; 0: nothing is known

  /// Collective. Numbers that were read or given, one a row. Throws invalid_argument on every rank
  /// where one is no whole number from 0 to most_fields - 1, or a field below the highest is empty.
  static RowFields from_numbers(const comm::Layout& rows, std::span<const double> numbers);
};
inline constexpr int most_fields = 64;

/// The local rows of each field, ascending: those of momentum or of a quantity to be minimised, and
/// those of pressure, a constraint or a multiplier. A rank may have none of one.
struct FieldRows {
  std::vector<LocalIndex> first, second;
};

/// Collective. The second field are the rows whose diagonal entry is zero, missing or less than
/// 1e-4 of the largest other entry of its row; in a symmetric matrix also those whose diagonal
/// entry has the sign that fewer rows have, the negative one where they are as many. An agreement,
/// and what matrix::is_symmetric() costs. Throws unsuitable_matrix on every rank where either field
/// would be empty.
FieldRows find_fields(const matrix::DistMatrix<double>& A);

/// Local; throws the same Error on every rank. The second field is the last of `unknowns` rows that
/// come one after another at each point. Throws invalid_argument for less than two, and
/// unsuitable_matrix where the rows are not even one point.
FieldRows interleaved_fields(const comm::Layout& rows, int unknowns);

/// Local. The second field are all but field 0.
FieldRows given_fields(const RowFields& fields);

}  // namespace nodewise::solver
