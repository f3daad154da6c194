// Matrices with their entries at the same places.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::matrix {

/// Collective. Throws, on every rank, unless `now` has its entries where `before` has: with
/// dimension_mismatch where the layouts differ, with unsuitable_matrix, naming the first row of a
/// rank, where the places do. `what` begins the message. One agreement; reads the columns of both.
template <class T>
void require_same_pattern(const DistMatrix<T>& before, const DistMatrix<T>& now, const char* what);

}  // namespace nodewise::matrix
