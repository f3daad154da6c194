// Where the entries go that a coarse matrix loses. methods.cpp lists the ways.
#pragma once

#include <optional>
#include <vector>

#include "nodewise/amg/sparsify/entry_worth.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg::sparsify {

struct LumpingMethod;

template <class T>
struct LumpingCall {
  const matrix::DistMatrix<T>& A;
  /// A method may find that more has to stay.
  EntryWorth<T>& worth;
  T tolerance;  ///< what is worth less goes
  KeptVector<T> kept_vector;
  const Choice<LumpingMethod>& method;
  std::optional<Error>& failure;  ///< of this rank alone
  RowPlaces places;
  /// With new values of a matrix whose entries went before: LumpedRows::set_aside of then.
  const std::vector<Offset>* set_aside = nullptr;
};

/// What is left of a rank's rows: its columns, then ghost g of the matrix as n_local + g. A column
/// may occur twice: values add up.
template <class T>
struct LumpedRows {
  kernels::Csr<T> rows;
  /// Whether a diagonal here would lose its sign or more than half of its size, so that the matrix
  /// is better left as it is.
  bool loses_diagonal = false;
  /// Blocks that the method has to know again with new values, ascending.
  std::vector<Offset> set_aside = {};
};

template <class T>
using Lump = LumpedRows<T> (*)(const LumpingCall<T>& call);

struct LumpingMethod : MethodInfo {
  /// Whether what a row drops changes its diagonal alone, so that it can be put back locally.
  Required<bool> changes_diagonal_only;
  /// Whether it takes points of several rows.
  Required<bool> takes_points;
  /// Whether what is worth just the tolerance goes, too.
  Required<bool> drops_equal;
  /// Whether it leaves the same on any number of ranks.
  Required<bool> is_same_on_any_ranks;
  /// Collective.
  Required<Lump<double>> in_double;
  Required<Lump<float>> in_float;

  template <class T>
  Lump<T> function() const;

  static Family<LumpingMethod>& family();
};

template <>
inline Lump<double> LumpingMethod::function<double>() const {
  return in_double;
}
template <>
inline Lump<float> LumpingMethod::function<float>() const {
  return in_float;
}

/// The options of lumping `strong`.
struct StrongLumpingOptions {
  double lumping_threshold = 0.25;
};

/// The options of lumping `hypre`.
struct HypreLumpingOptions {
  double hypre_lumping_threshold = 0.333 * 0.25;
  double hypre_lumping_row_sum = 0.9;
};

}  // namespace nodewise::amg::sparsify
