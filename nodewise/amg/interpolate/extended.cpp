#include "nodewise/amg/interpolate/far_row.hpp"
#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"

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

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_extended(const InterpolationCall<T>& call) {
  return interpolate::extended(call.A, call.strength, call.splitting, call.coarse_points,
                               call.rules);
}

void exchanges_of_extended(const matrix::DistMatrix<double>& A, const Strength& strength,
                           std::span<const LocalIndex> coarse_rows,
                           std::span<const GlobalIndex> ranks, VirtualExchanges& exchanges) {
  interpolate::link_exchanges(interpolate::Signs::opposite, A, strength, coarse_rows, ranks,
                              exchanges);
}

}  // namespace

const InterpolationMethod& extended_interpolation() {
  static const InterpolationMethod method = {
      {"extended", "likewise, without the part of the point itself",
       "De Sterck, Falgout, Nolting, Yang 2008"},
      false,
      exchanges_of_extended,
      interpolate_by_extended<double>,
      interpolate_by_extended<float>,
      14};
  return method;
}

}  // namespace nodewise::amg
