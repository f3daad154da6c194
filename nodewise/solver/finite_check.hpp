// What a preconditioner asks of every entry before it is set up.
#pragma once

#include <cmath>
#include <string>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/row_entries.hpp"
#include "nodewise/mpi/agree.hpp"

namespace nodewise::solver {

/// Collective: an agreement. Throws unsuitable_matrix on every rank, with the row counted from 1,
/// where an entry is not finite.
inline void require_finite(const matrix::DistMatrix<double>& A, const char* preconditioner) {
  mpi::collectively(A.comm(), [&] {
    for (LocalIndex i = 0; i < A.n_local(); ++i) {
      matrix::for_each_entry(A, i, [&](LocalIndex, double value) {
        if (std::isfinite(value)) return;
        throw Error(ErrorCode::unsuitable_matrix,
                    std::string("`preconditioner ") + preconditioner + "`: row " +
                        std::to_string(A.rows().to_global(i) - A.rows().first() + 1) +
                        " (counted from 1) has an entry that is not finite");
      });
    }
  });
}

}  // namespace nodewise::solver
