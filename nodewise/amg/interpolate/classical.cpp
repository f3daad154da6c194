#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"
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

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_classical(const InterpolationCall<T>& call) {
  return interpolate::classical(call.A, call.strength, call.splitting, call.coarse_points,
                                call.rules);
}

void exchanges_of_classical(const matrix::DistMatrix<double>& A, const Strength& strength,
                            std::span<const LocalIndex> coarse_rows,
                            std::span<const GlobalIndex> ranks, VirtualExchanges& exchanges) {
  interpolate::link_exchanges(interpolate::Signs::all, A, strength, coarse_rows, ranks, exchanges);
}

}  // namespace

const InterpolationMethod& classical_interpolation() {
  static const InterpolationMethod method = {
      {"classical", "from coarse neighbours; couplings to fine ones are shared out among them",
       "Ruge, Stueben 1987"},
      false,
      exchanges_of_classical,
      interpolate_by_classical<double>,
      interpolate_by_classical<float>};
  return method;
}

}  // namespace nodewise::amg
