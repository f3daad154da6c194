#include <algorithm>

#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"
#include "nodewise/amg/interpolate/strong_fine.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

namespace {

/// Whether point k depends on a point of the row.
template <class T>
bool depends_on_row(const CoarseLinks<T>& links, const RowBuilder<T>& row, LocalIndex k) {
  const auto cols = links.strong_cols(links.of(k));
  return std::any_of(cols.begin(), cols.end(), [&](LocalIndex c) { return row.has(c); });
}

}  // namespace

template <class T>
DistMatrix<T> modified_classical(const DistMatrix<T>& A, const Strength& strength,
                                 const Splitting& splitting, const Layout& coarse_points,
                                 const Rules& rules) {
  const auto formula = [](const Neighbourhood<T>& near) {
    return [&near](RowBuilder<T>& row, LocalIndex i) {
      add_near_points(near, row, i);
      weigh_row(near, row, i, [&](LocalIndex k, T a_ik) {
        if (!depends_on_row(near.links(), row, k)) return a_ik;
        share_out(near.links(), row, k, a_ik);
        return T{};
      });
    };
  };
  return by_rows(A, strength, splitting, coarse_points, rules, Signs::opposite, formula);
}

template DistMatrix<float> modified_classical(const DistMatrix<float>&, const Strength&,
                                              const Splitting&, const Layout&, const Rules&);
template DistMatrix<double> modified_classical(const DistMatrix<double>&, const Strength&,
                                               const Splitting&, const Layout&, const Rules&);

}  // namespace nodewise::amg::interpolate

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_modified_classical(const InterpolationCall<T>& call) {
  return interpolate::modified_classical(call.A, call.strength, call.splitting, call.coarse_points,
                                         call.rules);
}

void exchanges_of_modified_classical(const matrix::DistMatrix<double>& A, const Strength& strength,
                                     std::span<const LocalIndex> coarse_rows,
                                     std::span<const GlobalIndex> ranks,
                                     VirtualExchanges& exchanges) {
  interpolate::link_exchanges(interpolate::Signs::opposite, A, strength, coarse_rows, ranks,
                              exchanges);
}

}  // namespace

const InterpolationMethod& modified_classical_interpolation() {
  static const InterpolationMethod method = {
      {"modified_classical", "classical, with couplings of the sign opposite to the diagonal only",
       "De Sterck, Falgout, Nolting, Yang 2008, section 3"},
      false,
      exchanges_of_modified_classical,
      interpolate_by_modified_classical<double>,
      interpolate_by_modified_classical<float>,
      0};
  return method;
}

}  // namespace nodewise::amg
