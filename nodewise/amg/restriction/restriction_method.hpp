// What the restriction of an aggregation says of itself. methods.cpp lists them.
#pragma once

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg {

struct Options;

/// Completes a transfer, which has its prolongation, by a restriction that is not the transposed
/// one. `unknowns` is the number of rows of a point.
template <class T>
using AddRestriction = void (*)(const matrix::DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                                int unknowns, const Options& options, GridTransfer<T>& transfer);

struct RestrictionMethod : MethodInfo {
  /// Whether it is the transposed prolongation, for which there is nothing to add.
  Required<bool> is_transposed;
  Required<AddRestriction<double>> in_double;
  Required<AddRestriction<float>> in_float;

  template <class T>
  AddRestriction<T> function() const;

  static Family<RestrictionMethod>& family();
};

template <>
inline AddRestriction<double> RestrictionMethod::function<double>() const {
  return in_double;
}
template <>
inline AddRestriction<float> RestrictionMethod::function<float>() const {
  return in_float;
}

}  // namespace nodewise::amg
