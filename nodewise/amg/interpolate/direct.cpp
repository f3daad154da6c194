#include "nodewise/amg/interpolate/by_rows.hpp"
#include "nodewise/amg/interpolate/direct_weights.hpp"
#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"

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

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_direct(const InterpolationCall<T>& call) {
  return interpolate::direct(call.A, call.strength, call.splitting, call.coarse_points, call.rules);
}

void exchanges_of_direct(const matrix::DistMatrix<double>&, const Strength&,
                         std::span<const LocalIndex>, std::span<const GlobalIndex>,
                         VirtualExchanges& exchanges) {
  interpolate::number_exchanges(exchanges);
}

}  // namespace

const InterpolationMethod& direct_interpolation() {
  static const InterpolationMethod method = {
      {"direct", "from coarse neighbours by their couplings alone", "Stueben 1999, section 7.2"},
      false,
      exchanges_of_direct,
      interpolate_by_direct<double>,
      interpolate_by_direct<float>,
      3};
  return method;
}

}  // namespace nodewise::amg
