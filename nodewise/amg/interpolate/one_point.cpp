#include <cmath>

#include "nodewise/amg/interpolate/by_rows.hpp"
#include "nodewise/amg/interpolate/interpolation_method.hpp"
#include "nodewise/amg/interpolate/link_messages.hpp"

namespace nodewise::amg::interpolate {

using coarsen::Splitting;
using comm::Layout;
using matrix::DistMatrix;

namespace {

/// Couplings of this fraction of the largest count as equally large.
constexpr double equally_large = 0.99;

/// The coarse number of the point to interpolate from; negative where there is none.
template <class T>
LocalIndex chosen_point(const Neighbourhood<T>& near, LocalIndex i) {
  T largest{};
  const auto for_each_candidate = [&](const auto& f) {
    near.for_each_entry(i, [&](LocalIndex, LocalIndex c, T value, bool strong) {
      if (c >= 0 && strong) f(c, std::abs(value));
    });
  };
  for_each_candidate([&](LocalIndex, T size) { largest = std::max(largest, size); });
  const T bound = static_cast<T>(equally_large) * largest;
  LocalIndex chosen = -1;
  for_each_candidate([&](LocalIndex c, T size) {
    if (size < bound) return;
    const matrix::GhostNumbering& columns = near.columns();
    if (chosen < 0 || columns.global(c) < columns.global(chosen)) chosen = c;
  });
  return chosen;
}

}  // namespace

template <class T>
DistMatrix<T> one_point(const DistMatrix<T>& A, const Strength& strength,
                        const Splitting& splitting, const Layout& coarse_points, const Rules&) {
  Neighbourhood<T> near(A, strength, splitting, coarse_points, Signs::all, ToIsolated::dropped);
  near.share_coarse_points();
  return {A.rows(), coarse_points, [&] {
            near.number_points();
            const auto weigh = [&](RowBuilder<T>& row, LocalIndex i) {
              const LocalIndex c = chosen_point(near, i);
              if (c < 0) return;
              row.add(c, T{1});
            };
            return rows_of(near, near.columns(), {}, [&] { return weigh; });
          }};
}

template DistMatrix<float> one_point(const DistMatrix<float>&, const Strength&, const Splitting&,
                                     const Layout&, const Rules&);
template DistMatrix<double> one_point(const DistMatrix<double>&, const Strength&, const Splitting&,
                                      const Layout&, const Rules&);

}  // namespace nodewise::amg::interpolate

namespace nodewise::amg {

namespace {

template <class T>
matrix::DistMatrix<T> interpolate_by_one_point(const InterpolationCall<T>& call) {
  return interpolate::one_point(call.A, call.strength, call.splitting, call.coarse_points,
                                call.rules);
}

void exchanges_of_one_point(const matrix::DistMatrix<double>&, const Strength&,
                            std::span<const LocalIndex>, std::span<const GlobalIndex>,
                            VirtualExchanges& exchanges) {
  interpolate::number_exchanges(exchanges);
}

}  // namespace

const InterpolationMethod& one_point_interpolation() {
  static const InterpolationMethod method = {
      {"one_point", "from the coarse neighbour of the largest coupling, with weight one", ""},
      true,
      exchanges_of_one_point,
      interpolate_by_one_point<double>,
      interpolate_by_one_point<float>};
  return method;
}

}  // namespace nodewise::amg
