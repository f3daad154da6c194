#include "nodewise/amg/interpolate/far_row.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

template <class T>
DistMatrix<T> extended(const DistMatrix<T>& A, const Strength& strength, const Splitting& splitting,
                       const Layout& coarse_points, const Rules& rules) {
  const auto formula = [](const Neighbourhood<T>& near) {
    const auto nothing_back = [](LocalIndex, LocalIndex, T) { return T{}; };
    return FarRow<T, decltype(nothing_back)>(near, nothing_back);
  };
  return by_rows(A, strength, splitting, coarse_points, rules, Signs::opposite, formula);
}

template DistMatrix<float> extended(const DistMatrix<float>&, const Strength&, const Splitting&,
                                    const Layout&, const Rules&);
template DistMatrix<double> extended(const DistMatrix<double>&, const Strength&, const Splitting&,
                                     const Layout&, const Rules&);

}  // namespace nodewise::amg::interpolate
