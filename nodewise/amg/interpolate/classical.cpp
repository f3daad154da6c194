#include "nodewise/amg/interpolate/strong_fine.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

template <class T>
DistMatrix<T> classical(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting, const Layout& coarse_points,
                        const Rules& rules) {
  const auto formula = [](const Neighbourhood<T>& near) {
    return [&near](RowBuilder<T>& row, LocalIndex i) {
      add_near_points(near, row, i);
      weigh_row(near, row, i,
                [&](LocalIndex k, T a_ik) { return share_out(near.links(), row, k, a_ik); });
    };
  };
  return by_rows(A, strength, splitting, coarse_points, rules, Signs::all, formula);
}

template DistMatrix<float> classical(const DistMatrix<float>&, const Strength&, const Splitting&,
                                     const Layout&, const Rules&);
template DistMatrix<double> classical(const DistMatrix<double>&, const Strength&, const Splitting&,
                                      const Layout&, const Rules&);

}  // namespace nodewise::amg::interpolate
