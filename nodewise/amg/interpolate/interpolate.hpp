// The interpolation formulas of classical multigrid.
#pragma once

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg::interpolate {

/// The treatment of couplings to fine points that depend on no other. Relaxation alone removes
/// their error, as it does that of a boundary condition: `dropped`. Lumping them into the diagonal
/// takes it for that of the row's point (docs/decisions/hypre.md).
enum class ToIsolated { dropped, lumped };

/// The rules for the rows of every formula. Rows of more than max_entries (0: any number) keep the
/// largest weights. Entries below `truncation` times the row's largest are dropped. The others are
/// scaled to the sum the row had.
struct Rules {
  int max_entries = 0;
  double truncation = 0.0;
  ToIsolated to_isolated = ToIsolated::dropped;
};

// All are collective and make the prolongation P from the coarse points of `splitting` to all
// points; the row of a coarse point is that of the identity. Coarse points are numbered in the
// order of the fine ones, by `coarse_points`, the layout in which each rank owns as many as
// `splitting` has. C_i are the coarse points that i depends on, F_i the fine ones; a-bar_kj is a_kj
// where its sign is opposite to that of a_kk and 0 where it is not. A row without points to
// interpolate from is empty. They cost one exchange of A for vectors and one for records, and what
// a new matrix costs, unless they say otherwise.

/// Extended+i: De Sterck, Falgout, Nolting, Yang, "Distance-two interpolation for parallel
/// algebraic multigrid", 2008, eq. 4.10-4.11 (Bienz 2018, eq. 7.8-7.9). A fine point interpolates
/// from C_i and from the C_k of the k in F_i; its coupling to k is shared out among these points
/// and i itself. Where A is `symmetric`, be it up to rounding, a_ki is taken to be a_ik, which
/// spares a look into row k.
template <class T>
matrix::DistMatrix<T> extended_i(const matrix::DistMatrix<T>& A, const Strength& strength,
                                 const coarsen::Splitting& splitting,
                                 const comm::Layout& coarse_points, const Rules& rules,
                                 bool symmetric = false);

/// Extended (same paper): likewise, but nothing is shared out to i.
template <class T>
matrix::DistMatrix<T> extended(const matrix::DistMatrix<T>& A, const Strength& strength,
                               const coarsen::Splitting& splitting,
                               const comm::Layout& coarse_points, const Rules& rules);

/// Classical: Ruge, Stüben 1987, with the a_kj of any sign. The coupling to k in F_i is shared out
/// among C_i, or lumped into the diagonal where k is coupled to no point of C_i. For splittings
/// that give dependent fine points a coarse point in common.
template <class T>
matrix::DistMatrix<T> classical(const matrix::DistMatrix<T>& A, const Strength& strength,
                                const coarsen::Splitting& splitting,
                                const comm::Layout& coarse_points, const Rules& rules);

/// Modified classical: Bienz 2018, eq. 7.6 (De Sterck et al. 2008, section 3). Likewise with
/// a-bar_kj, and the coupling is lumped where C_i and C_k have no point in common. Where they have,
/// but all a-bar_kj are 0, it is left out, as the formula says and PyAMG does.
template <class T>
matrix::DistMatrix<T> modified_classical(const matrix::DistMatrix<T>& A, const Strength& strength,
                                         const coarsen::Splitting& splitting,
                                         const comm::Layout& coarse_points, const Rules& rules);

/// Standard: Stüben, "Algebraic multigrid (AMG): an introduction with applications", 1999, section
/// 7.2.1. The equations of the k in F_i are put into that of i for e_k; then the row interpolates
/// from C_i and the C_k, its weights scaled to the sum of all its couplings, whatever their signs.
/// `symmetric` as for extended_i(). One more exchange of A for vectors.
template <class T>
matrix::DistMatrix<T> standard(const matrix::DistMatrix<T>& A, const Strength& strength,
                               const coarsen::Splitting& splitting,
                               const comm::Layout& coarse_points, const Rules& rules,
                               bool symmetric = false);

/// Direct: Stüben 1999, section 7.2. From C_i, couplings of either sign scaled to the sum of all of
/// that sign; positive ones are lumped into the diagonal where C_i has none. One exchange of A for
/// vectors, none for records.
template <class T>
matrix::DistMatrix<T> direct(const matrix::DistMatrix<T>& A, const Strength& strength,
                             const coarsen::Splitting& splitting, const comm::Layout& coarse_points,
                             const Rules& rules);

/// One point: from the largest |a_ij| in C_i, with weight one; of several within a percent, between
/// which round-off would decide, from the one with the lowest number. Rules play no part. For
/// restrictions that are more than its transpose. One exchange of A for vectors, none for records.
template <class T>
matrix::DistMatrix<T> one_point(const matrix::DistMatrix<T>& A, const Strength& strength,
                                const coarsen::Splitting& splitting,
                                const comm::Layout& coarse_points, const Rules& rules);

/// Multipass: Stüben 1999, section 7.2.2, for aggressive coarsening. Points with coarse points in
/// C_i are interpolated directly; in each further pass those that depend on points which are done
/// are interpolated directly from these, and these by their own rows; but where all of them have
/// the sign opposite to the diagonal's, they are scaled to the sum of all couplings of either sign
/// (docs/decisions.md). Rules hold for the result. Each pass costs an exchange for vectors, one for
/// records, and an allreduce.
template <class T>
matrix::DistMatrix<T> multipass(const matrix::DistMatrix<T>& A, const Strength& strength,
                                const coarsen::Splitting& splitting,
                                const comm::Layout& coarse_points, const Rules& rules);

}  // namespace nodewise::amg::interpolate
