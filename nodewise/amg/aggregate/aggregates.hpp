// Groups of points: each aggregate is a point of the coarse grid.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/comm/layout.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::aggregate {

inline constexpr GlobalIndex no_aggregate = -1;

/// A rank owns an aggregate if it owns its root; the members may be on any ranks.
struct Aggregates {
  comm::Layout layout;                ///< of the aggregates, in the order of their roots
  std::vector<GlobalIndex> of_point;  ///< of each of this rank's points, or no_aggregate
  std::vector<LocalIndex> roots;      ///< of this rank's aggregates, ascending
};

/// Which independent set, and what is known before.
struct SetOptions {
  int distance = 1;
  int seed = 0;  ///< of the weights
  /// Whether all strong connections go both ways, as of a symmetric matrix. The set is found in
  /// fewer exchanges then.
  bool both_ways = false;
  /// On one rank, the starts of ranges of points and the end of the last, which exchange as ranks.
  std::span<const GlobalIndex> blocks = {};
};

/// Collective. The points that are more than `distance` strong connections apart and within that of
/// every other point: 1 for each of this rank's points in the set. Points without a strong
/// connection are not in it. Weights are hashed from (global index, seed), so that the set does not
/// depend on the number of ranks. Each point passes on the largest weight it knows of, `distance`
/// times a round: Bell, Dalton, Olson, "Exposing fine-grained parallelism in algebraic multigrid
/// methods", 2012, algorithm 5; the square of the graph is never made. `distance` exchanges of G
/// and one allreduce a round; the rounds grow like the logarithm of the number of points. G and
/// `strength` should be symmetric: a point looks along its own connections only. What `prepare`
/// throws on one rank before that, all throw.
template <class T>
std::vector<std::uint8_t> maximal_independent_set(const matrix::DistMatrix<T>& G,
                                                  const Strength& strength, const SetOptions& set,
                                                  const std::function<void()>& prepare = {});

/// Collective. Makes aggregates around the points of maximal_independent_set(); they do not depend
/// on the number of ranks. In each of `distance` rounds points join the aggregate they are most
/// connected to (the sum of the moduli of G's strong entries), among equals the first. With the
/// distance 2: Bell, Dalton, Olson 2012, algorithm 6. Points without a strong connection are in no
/// aggregate. Costs one exchange of G a round after those of the set.
template <class T>
Aggregates independent_set_aggregates(const matrix::DistMatrix<T>& G, const Strength& strength,
                                      const SetOptions& set);

/// The rule by which a point joins one of the aggregates beside it.
enum class Joining {
  most_connected,  ///< the one it is most connected to, among equals the one with the lowest number
  first            ///< that of its first neighbour, by local index, that is in one
};

/// Collective. The aggregates of Vanek, Mandel, Brezina 1996, section 5.1, of each rank's points by
/// themselves: first whole neighbourhoods of which no point is taken, in the order of the points;
/// then what is left joins one of them; then neighbourhoods of what is still left. Points without a
/// strong connection on this rank or another are in no aggregate. Depends on the ranks. One
/// gathering of a number from each rank. On one rank, where `starts` is not empty, those of virtual
/// ranks, of which rank r has the points [starts[r], starts[r + 1]).
template <class T>
Aggregates standard_aggregates(const matrix::DistMatrix<T>& G, const Strength& strength,
                               std::span<const GlobalIndex> starts = {},
                               Joining joining = Joining::most_connected);

}  // namespace nodewise::amg::aggregate
