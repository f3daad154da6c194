// The weights of direct interpolation.
#pragma once

#include "nodewise/amg/interpolate/neighbourhood.hpp"

namespace nodewise::amg::interpolate {

/// Local. Calls add(point, weight) for the points that i depends on strongly and chosen(point):
/// Stüben 1999, section 7.2, where the diagonal is taken to be positive: what he calls negative is
/// here what has the sign opposite to the diagonal's.
template <class T, class Chosen, class Add>
void direct_weights(const Neighbourhood<T>& near, LocalIndex i, const Chosen& chosen,
                    const Add& add) {
  T diagonal = near.diagonal(i);
  const auto is_opposite = [sign = diagonal < 0](T a) { return (a < 0) != sign; };
  T opposite{}, equal{}, chosen_opposite{}, chosen_equal{};
  near.for_each_entry(i, [&](LocalIndex k, LocalIndex, T a, bool strong) {
    if (k == i) return;
    (is_opposite(a) ? opposite : equal) += a;
    if (strong && chosen(k)) (is_opposite(a) ? chosen_opposite : chosen_equal) += a;
  });
  if (chosen_equal == T{}) diagonal += equal;
  const auto scale = [&](T all, T of_chosen) {
    return of_chosen == T{} || diagonal == T{} ? T{} : -all / (of_chosen * diagonal);
  };
  const T opposite_scale = scale(opposite, chosen_opposite);
  const T equal_scale = scale(equal, chosen_equal);
  near.for_each_entry(i, [&](LocalIndex k, LocalIndex, T a, bool strong) {
    if (k != i && strong && chosen(k)) add(k, a * (is_opposite(a) ? opposite_scale : equal_scale));
  });
}

}  // namespace nodewise::amg::interpolate
