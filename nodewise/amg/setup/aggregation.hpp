// Coarsening by smoothed aggregation: groups of points become the points of the next level.
#pragma once

#include <optional>

#include "nodewise/amg/aggregate/aggregates.hpp"
#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/options.hpp"

namespace nodewise::amg {

/// Collective. Throws the same Error on every rank where aggregation cannot start from what is
/// given for the finest level: what require_whole_points() throws, and dimension_mismatch where the
/// near null space, or the left one, does not have the rows of A, or not the same number of
/// vectors; invalid_argument where one of the vectors is zero or not finite. Two allreduces, and
/// one for each of the spaces that is given.
template <class T>
void check_aggregation(const matrix::DistMatrix<T>& A, const ProblemInfo<T>& knowledge,
                       const Options& options);

/// Collective. The prolongation of a level as the options say: Vanek, Mandel, Brezina 1996; Bienz
/// 2018, section 7.2.2, algorithm 7.2. The graph of points, its strong connections, aggregates, the
/// tentative prolongator and its smoothing are functions of their own, in aggregate/; what each
/// costs in messages is said there. Without a near null space, the constant of each unknown is
/// taken. The next level has as many unknowns a point as there are vectors. Nothing is made where
/// there are no aggregates, or so many that the next level would have as many rows. The aggregates
/// are those of `earlier`, made of a matrix with the same rows, where there is one.
///
/// With restriction `smoothed` R^T is made of the left near null space, by A^T and on the same
/// aggregates, as P is of the near null space by A: (I - w D^-1 A^T) T_left, the left candidates
/// improved, and A^T filtered, where those of P are. That costs what P does once more, but for the
/// aggregates and the spectral radius, which A^T shares, and two transpositions; A^T is released.
template <class T>
GridTransfer<T> aggregation_transfer(const matrix::DistMatrix<T>& A,
                                     const ProblemInfo<T>& knowledge, const Options& options,
                                     const GridTransfer<T>* earlier = nullptr);

/// The points of a level and how they are connected.
template <class T>
struct PointGraph {
  std::optional<matrix::DistMatrix<T>> norms;  ///< where a point has several rows
  Strength strength;

  const matrix::DistMatrix<T>& matrix(const matrix::DistMatrix<T>& A) const {
    return norms ? *norms : A;
  }
};

/// The strength of connections, unless the options say it, for points of so many unknowns. Low
/// enough for the couplings of a 27-point stencil (1/26), and where several unknowns make a point
/// high enough to see that a beam's two materials are hardly connected; for classical strength what
/// is usual in classical coarsening.
double aggregation_threshold(int unknowns, const AggregationOptions& options);

/// Whether a level with so many of the rows of one with n is worth having.
bool is_worth_a_level(GlobalIndex n_coarse, GlobalIndex n);

/// Products for a radius that nothing but the weight of the prolongator's smoothing depends on: a
/// tenth of it makes no difference to the iterations. (Of a norm a tenth does.) With four, as many
/// iterations or fewer were needed, but they were no longer within two of PyAMG's.
inline constexpr int steps_for_smoothing = 6;

/// How a level with so many points of all ranks groups them; never automatic. Borders of ranks cut
/// standard aggregates, which makes small ones where a rank has few points, and then coarse levels
/// that are dense: laplace27, 32^3 points on 64 ranks, has an operator complexity of 1.8 instead of
/// 1.04.
Choice<AggregationMethod> aggregates_of_level(GlobalIndex n_points, int n_ranks,
                                              const AggregationOptions& options);

/// Collective. The first steps of aggregation_transfer().
template <class T>
PointGraph<T> point_graph(const matrix::DistMatrix<T>& A, int unknowns,
                          const AggregationOptions& options);
/// `starts` are those of the points of virtual ranks, if there are any.
template <class T>
aggregate::Aggregates aggregate_points(const matrix::DistMatrix<T>& G, const Strength& strength,
                                       std::span<const GlobalIndex> starts, bool both_ways,
                                       const Options& options);

}  // namespace nodewise::amg
