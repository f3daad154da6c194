// What an interpolation says of itself. methods.cpp lists them.
#pragma once

#include <optional>
#include <span>

#include "nodewise/amg/interpolate/interpolate.hpp"
#include "nodewise/base/answer.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg {

class VirtualExchanges;
struct InterpolationMethod;

/// What an interpolation is given.
template <class T>
struct InterpolationCall {
  const Choice<InterpolationMethod>& method;  ///< with the options that are its own
  const matrix::DistMatrix<T>& A;
  const Strength& strength;
  const coarsen::Splitting& splitting;
  const comm::Layout& coarse_points;
  const interpolate::Rules& rules;
  bool symmetric;  ///< whether A is known to be, up to rounding
};

template <class T>
using InterpolateFunction = matrix::DistMatrix<T> (*)(const InterpolationCall<T>& call);

/// Adds the exchanges over the plans of A, which is on one rank, to make the prolongation of
/// virtual ranks that begin at `ranks`.
using InterpolationExchanges = void (*)(const matrix::DistMatrix<double>& A,
                                        const Strength& strength,
                                        std::span<const LocalIndex> coarse_rows,
                                        std::span<const GlobalIndex> ranks,
                                        VirtualExchanges& exchanges);

struct InterpolationMethod : MethodInfo {
  /// Whether a row has one entry at most, so that there is nothing to truncate.
  Required<bool> has_one_entry_a_row;
  Required<Answer<InterpolationExchanges>> exchanges;
  Required<InterpolateFunction<double>> in_double;
  Required<InterpolateFunction<float>> in_float;
  std::optional<int> hypre_interp_type = {};  ///< of HYPRE_BoomerAMGSetInterpType()
  /// Whether devices make the same one (device/extended_i.hpp).
  bool runs_on_devices = false;

  template <class T>
  InterpolateFunction<T> function() const;

  static Family<InterpolationMethod>& family();
};

template <>
inline InterpolateFunction<double> InterpolationMethod::function<double>() const {
  return in_double;
}
template <>
inline InterpolateFunction<float> InterpolationMethod::function<float>() const {
  return in_float;
}

}  // namespace nodewise::amg
