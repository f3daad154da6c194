// How one sweep runs through the rows.
#pragma once

#include <vector>

#include "nodewise/base/options.hpp"

namespace nodewise::amg {

/// How one sweep of a smoother whose directions differ runs through the rows.
enum class SweepOrder {
  automatic,             ///< forward_backward for a symmetric matrix, alternating for another
  forward_backward,      ///< forward before the coarse correction, backward after it
  symmetric,             ///< forward, then backward, both times: twice the work of one exchange
  alternating,           ///< the same, with the newest values of other ranks for the way back, too
  forward,               ///< forward before and after: not for conjugate gradients
  backward,              ///< backward before and after: not for conjugate gradients
  coarse_fine,           ///< coarse points first before the coarse correction, last after it
  coarse_fine_symmetric  ///< the same, with a symmetric sweep through each kind of points
};

/// Whether the order is one of coarse and fine points.
inline bool goes_by_points(SweepOrder order) {
  return order == SweepOrder::coarse_fine || order == SweepOrder::coarse_fine_symmetric;
}
/// Whether a sweep goes both ways before the coarse correction, and after it.
inline bool goes_both_ways(SweepOrder order) {
  return order == SweepOrder::symmetric || order == SweepOrder::alternating;
}
/// Whether sweeps run the same way before the coarse correction and after it, and so differ from
/// their transposes.
inline bool goes_one_way(SweepOrder order) {
  return order == SweepOrder::forward || order == SweepOrder::backward;
}

/// What `automatic` stands for.
inline SweepOrder resolved(SweepOrder order, bool symmetric) {
  if (order != SweepOrder::automatic) return order;
  return symmetric ? SweepOrder::forward_backward : SweepOrder::alternating;
}

/// The field of that name in the options of a smoother.
template <class S>
Field<S> sweep_order_field(SweepOrder S::*member) {
  return field(
             "sweep_order", member, "How sweeps run through the rows",
             std::vector<Word>{
                 {"automatic", "forward_backward for a symmetric matrix, alternating for another"},
                 {"forward_backward", "forward before the coarse correction, backward after it"},
                 {"symmetric", "forward, then backward, both times, in one exchange"},
                 {"alternating",
                  "the same in two exchanges, with the newest values for the way back"},
                 {"forward", "forward before and after: not for conjugate gradients"},
                 {"backward", "backward before and after: not for conjugate gradients"},
                 {"coarse_fine",
                  "coarse points first before the coarse correction, last after it; by rows, with "
                  "method "
                  "classical"},
                 {"coarse_fine_symmetric",
                  "the same, with a symmetric sweep through each kind of points"}})
      .affecting(Affects::exchanges);
}

}  // namespace nodewise::amg
