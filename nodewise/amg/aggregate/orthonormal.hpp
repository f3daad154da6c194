// The QR factorisation of a few columns, as aggregation needs it.
#pragma once

#include <cstddef>
#include <span>

namespace nodewise::amg::aggregate {

/// Local. The factor R (k x k, row-major, no negative diagonal entry) of `rows` (m x k, row-major),
/// which become Q, by modified Gram-Schmidt. A column that the ones before it explain up to
/// `tolerance` of its length becomes zero, as does its row of R: Q R is then still what `rows`
/// were, up to that.
void factorise(std::span<double> rows, std::size_t k, double tolerance, std::span<double> R);

/// Local. The row of Q that belongs to a row of Q R: `row` becomes row R^-1, zero where R has a
/// zero row.
void divide_by_factor(std::span<double> row, std::span<const double> R);

}  // namespace nodewise::amg::aggregate
