// What a pass over a matrix tells of it.
#pragma once

#include "cli/inputs/system.hpp"
#include "cli/inspect_record.hpp"

namespace nodewise::cli {

/// Collective. One pass over the entries, of any matrix, and some reductions.
MatrixSurvey survey_matrix(const Matrix& A);

/// Collective. The number of entries in the longest row.
GlobalIndex longest_row(const Matrix& A);

}  // namespace nodewise::cli
