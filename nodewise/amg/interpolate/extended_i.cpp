#include "nodewise/amg/interpolate/far_row.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

template <class T>
DistMatrix<T> extended_i(const DistMatrix<T>& A, const Strength& strength,
                         const Splitting& splitting, const Layout& coarse_points,
                         const Rules& rules, bool symmetric) {
  const auto formula = [symmetric](const Neighbourhood<T>& near) {
    return FarRow<T, typename Neighbourhood<T>::EntriesBack>(near, {near, symmetric});
  };
  return by_rows(A, strength, splitting, coarse_points, rules, Signs::opposite, formula);
}

template DistMatrix<float> extended_i(const DistMatrix<float>&, const Strength&, const Splitting&,
                                      const Layout&, const Rules&, bool);
template DistMatrix<double> extended_i(const DistMatrix<double>&, const Strength&, const Splitting&,
                                       const Layout&, const Rules&, bool);

}  // namespace nodewise::amg::interpolate
