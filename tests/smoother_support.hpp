// Options of smoothers and cycles, set where the chosen ones have them.
#pragma once

#include "nodewise/amg/options.hpp"
#include "nodewise/amg/relax/chebyshev.hpp"
#include "nodewise/amg/relax/fc_jacobi.hpp"
#include "nodewise/amg/relax/gauss_seidel.hpp"
#include "nodewise/amg/relax/jacobi.hpp"

namespace nodewise::amg {

inline SweepCounts& sweeps_of(Options& options) {
  return options.cycle.options<SweepCounts>();
}
inline void set_sweeps(Options& options, int each) {
  if (options.cycle.has_options<SweepCounts>()) sweeps_of(options) = {each, each};
}

inline void set_order(Options& options, SweepOrder order) {
  relax::set_order(options.smoother, order);
}
inline SweepOrder order_of(const Options& options) {
  return relax::order_of(options.smoother);
}

inline void set_jacobi_weight(Options& options, double weight) {
  if (!options.smoother.has_options<relax::JacobiOptions>()) return;
  options.smoother.options<relax::JacobiOptions>().jacobi_weight = weight;
}
inline double jacobi_weight(const Options& options) {
  return relax::jacobi_weight(options.smoother);
}

inline void set_sor_weight(Options& options, double weight) {
  if (!options.smoother.has_options<relax::GaussSeidelOptions>()) return;
  options.smoother.options<relax::GaussSeidelOptions>().sor_weight = weight;
}
/// 1 where the smoother has none.
inline double sor_weight(const Options& options) {
  return options.smoother.has_options<relax::GaussSeidelOptions>()
             ? options.smoother.options<relax::GaussSeidelOptions>().sor_weight
             : 1.0;
}

inline void set_chebyshev_degree(Options& options, int degree) {
  if (!options.smoother.has_options<relax::ChebyshevOptions>()) return;
  options.smoother.options<relax::ChebyshevOptions>().chebyshev_degree = degree;
}

}  // namespace nodewise::amg
