// How a near null space is improved before it is aggregated. The list of ways is in the source
// file.
#pragma once

#include "nodewise/amg/near_null_space.hpp"
#include "nodewise/base/family.hpp"

namespace nodewise::amg {

/// What a relaxation of candidates is given.
template <class T>
struct CandidateCall {
  const matrix::DistMatrix<T>& A;
  NearNullSpace<T> vectors;
  int sweeps;
  double spectral_radius;  ///< of D^-1 A, where needs_spectral_radius
  bool by_points;          ///< the smoother treats the unknowns of a point together
};

template <class T>
using ImproveFunction = NearNullSpace<T> (*)(CandidateCall<T> call);

struct CandidateRelaxation : MethodInfo {
  Required<bool> needs_spectral_radius;
  Required<bool> is_same_on_any_ranks;
  Required<int> exchanges_a_sweep;  ///< of A, with as many values an entry as there are vectors
  Required<ImproveFunction<double>> in_double;
  Required<ImproveFunction<float>> in_float;

  template <class T>
  ImproveFunction<T> function() const;

  static Family<CandidateRelaxation>& family();
};

template <>
inline ImproveFunction<double> CandidateRelaxation::function<double>() const {
  return in_double;
}
template <>
inline ImproveFunction<float> CandidateRelaxation::function<float>() const {
  return in_float;
}

}  // namespace nodewise::amg
