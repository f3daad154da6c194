#include "nodewise/amg/interpolate/far_row.hpp"
#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"

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

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_extended_i(const InterpolationCall<T>& call) {
  return interpolate::extended_i(call.A, call.strength, call.splitting, call.coarse_points,
                                 call.rules, call.symmetric);
}

void exchanges_of_extended_i(const matrix::DistMatrix<double>& A, const Strength& strength,
                             std::span<const LocalIndex> coarse_rows,
                             std::span<const GlobalIndex> ranks, VirtualExchanges& exchanges) {
  interpolate::link_exchanges(interpolate::Signs::opposite, A, strength, coarse_rows, ranks,
                              exchanges);
}

}  // namespace

const InterpolationMethod& extended_i_interpolation() {
  static const InterpolationMethod method = {
      {"extended_i", "from coarse points at distance two, with the part of the point itself",
       "De Sterck, Falgout, Nolting, Yang 2008, eq. 4.10"},
      false,
      exchanges_of_extended_i,
      interpolate_by_extended_i<double>,
      interpolate_by_extended_i<float>,
      6,
      true};
  return method;
}

}  // namespace nodewise::amg
