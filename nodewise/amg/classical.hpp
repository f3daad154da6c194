// Coarsening in the classical way: some of a level's points are those of the next.
#pragma once

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/transfer.hpp"

namespace nodewise::amg {

/// Collective. Strength of connection, splitting and interpolation of a level, as the options say.
/// Messages take the route of A's exchange; what each step costs its function says.
template <class T>
Transfer<T> classical_transfer(const matrix::DistMatrix<T>& A, const Knowledge<T>& knowledge,
                               const Options& options);

}  // namespace nodewise::amg
