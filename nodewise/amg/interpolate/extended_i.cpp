#include "nodewise/amg/interpolate/strong_fine.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

template <class T>
DistMatrix<T> extended_i(const DistMatrix<T>& A, const Strength& strength,
                         const Splitting& splitting, const Layout& coarse_points,
                         const Limits& limits) {
  const auto formula = [](const Neighbourhood<T>& near) {
    return [&near, cursors = near.cursors()](RowBuilder<T>& row, LocalIndex i) mutable {
      add_near_and_far_points(near, row, i);
      weigh_row(near, row, i, ToIsolated::dropped, [&](LocalIndex k, T a_ik) {
        return share_out(near.links(), row, k, a_ik, near.entry_back(k, i, cursors));
      });
    };
  };
  return by_rows(A, strength, splitting, coarse_points, limits, Signs::opposite, formula);
}

template DistMatrix<float> extended_i(const DistMatrix<float>&, const Strength&, const Splitting&,
                                      const Layout&, const Limits&);
template DistMatrix<double> extended_i(const DistMatrix<double>&, const Strength&, const Splitting&,
                                       const Layout&, const Limits&);

}  // namespace nodewise::amg::interpolate
