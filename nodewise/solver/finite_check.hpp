// What preconditioners and the search for an order ask of every entry.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "nodewise/base/row_text.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::solver {

/// Local. The first of this rank's rows that has an entry which is not finite, counted from the
/// first of all; none where there is no such row.
inline std::optional<GlobalIndex> row_not_finite(const matrix::DistMatrix<double>& A) {
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    bool is_finite = true;
    matrix::for_each_entry(
        A, i, [&](LocalIndex, double value) { is_finite = is_finite && std::isfinite(value); });
    if (!is_finite) return A.rows().to_global(i) - A.rows().first();
  }
  return std::nullopt;
}

/// Collective: an agreement. Throws unsuitable_matrix on every rank, with the option that asks and
/// the row counted from 0, where an entry is not finite.
inline void require_finite_rows(const matrix::DistMatrix<double>& A, const std::string& option) {
  mpi::collectively(A.comm(), [&] {
    const std::optional<GlobalIndex> row = row_not_finite(A);
    if (!row) return;
    throw Error(ErrorCode::unsuitable_matrix,
                "`" + option + "`: " + row_text(*row) + ", has an entry that is not finite");
  });
}

/// Collective: an agreement. Throws unsuitable_matrix on every rank, with the row counted from 1,
/// where an entry is not finite.
inline void require_finite(const matrix::DistMatrix<double>& A, const char* preconditioner) {
  mpi::collectively(A.comm(), [&] {
    const std::optional<GlobalIndex> row = row_not_finite(A);
    if (!row) return;
    throw Error(ErrorCode::unsuitable_matrix,
                std::string("`preconditioner ") + preconditioner + "`: row " +
                    std::to_string(*row + 1) + " (counted from 1) has an entry that is not finite");
  });
}

}  // namespace nodewise::solver
