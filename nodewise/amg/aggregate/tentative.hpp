// The tentative prolongator: each aggregate's part of the near null space, made orthonormal.
#pragma once

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/near_null_space.hpp"

namespace nodewise::amg::aggregate {

template <class T>
struct Tentative {
  matrix::DistMatrix<T> prolongator;
  NearNullSpace<T> coarse_near_null_space;  ///< which the prolongator maps to B
};

/// Collective. With k vectors in B, columns k a .. k a + k - 1 of the prolongator are the factor Q
/// of B's rows in aggregate a, and the factors R are the coarse near null space: their product is B
/// in all rows of aggregates (Vanek, Mandel, Brezina 1996, algorithm 3). Other rows are empty. B
/// has `unknowns` rows for each point. R has no negative diagonal entry, so that the factors are
/// the same but for round-off on any number of ranks.
///
/// Where a column of B is within an aggregate a combination of those before it, to ten digits (five
/// in single precision), or the aggregate has too few rows for it, the column of Q and the row of R
/// are zero. The coarse matrix then has a zero row and column: see with_unit_rows().
///
/// Costs the messages of a new matrix and, along its pattern, which is empty where no aggregate
/// spans ranks, a reversed row exchange (the rows of B go to the aggregate's rank) and an exchange
/// of k values an entry (R comes back).
template <class T>
Tentative<T> tentative_prolongator(const Aggregates& aggregates, int unknowns,
                                   const comm::Layout& rows, const NearNullSpace<T>& B);

/// Collective. Returns a coarse matrix whose rows of zeros are filled: such a row with a stored
/// diagonal entry gets the diagonal entry of the largest modulus among those of its point
/// (`unknowns` rows), 1 where all are zero. For the zero columns of a tentative prolongator this
/// changes no solution, since the right-hand side is zero there as well, and no division by the
/// diagonal needs a check. The same is done for `empty_columns`, local rows in ascending order
/// whose columns are zero: with a restriction of its own a row may have entries there, and its
/// equation is then that of an unknown which no other equation sees. One allreduce; an agreement
/// more where there are such rows, otherwise A itself.
template <class T>
matrix::DistMatrix<T> with_unit_rows(const matrix::DistMatrix<T>& A, int unknowns,
                                     std::span<const LocalIndex> empty_columns = {});

}  // namespace nodewise::amg::aggregate
