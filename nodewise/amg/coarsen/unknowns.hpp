// Systems of equations whose unknowns are coarsened each by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// The unknown that each of this rank's rows belongs to.
using Unknowns = std::vector<std::int32_t>;

/// Local. Returns the unknowns of interleaved rows, those of a point together: row i belongs to
/// unknown i mod n, counted from the first row of all. Throws invalid_argument, the same on every
/// rank, where the rows are not whole points.
Unknowns interleaved_unknowns(const comm::Layout& rows, int n);

/// Collective. The entries of A that couple a row with one of the same unknown: what the strength
/// of connection, the splitting and the interpolation of unknown-based multigrid look at (Ruge,
/// Stüben 1987, section 5.4.2). It has the route of A. One exchange of A for vectors, and what a
/// new matrix costs.
template <class T>
matrix::DistMatrix<T> same_unknown_part(const matrix::DistMatrix<T>& A, const Unknowns& unknowns);

}  // namespace nodewise::amg
