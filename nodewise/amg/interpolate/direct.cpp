#include "nodewise/amg/interpolate/by_rows.hpp"
#include "nodewise/amg/interpolate/direct_weights.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

template <class T>
DistMatrix<T> direct(const DistMatrix<T>& A, const Strength& strength, const Splitting& splitting,
                     const Layout& coarse_points, const Rules& rules) {
  Neighbourhood<T> near(A, strength, splitting, coarse_points, Signs::all, rules.to_isolated);
  near.share_coarse_points();
  return {A.rows(), coarse_points, [&] {
            near.number_points();
            const auto is_coarse = [&](LocalIndex k) { return near.coarse_number(k) >= 0; };
            return rows_of(near, near.columns(), rules, [&] {
              return [&, weights = DirectWeights<T>(near, PositiveSum::apart)](
                         RowBuilder<T>& row, LocalIndex i) mutable {
                if (!weights.choose(i, is_coarse)) return;
                weights.for_each(
                    [&](LocalIndex k, T weight) { row.add(near.coarse_number(k), weight); });
              };
            });
          }};
}

template DistMatrix<float> direct(const DistMatrix<float>&, const Strength&, const Splitting&,
                                  const Layout&, const Rules&);
template DistMatrix<double> direct(const DistMatrix<double>&, const Strength&, const Splitting&,
                                   const Layout&, const Rules&);

}  // namespace nodewise::amg::interpolate
