// A coarse matrix without its small entries, and the way back.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nodewise/amg/sparsify/entry_worth.hpp"
#include "nodewise/amg/sparsify/minimal_pattern.hpp"
#include "nodewise/amg/sparsify/sparsification_method.hpp"

namespace nodewise::amg::sparsify {

template <class T>
using MatrixPointer = std::shared_ptr<const matrix::DistMatrix<T>>;

/// What a matrix lost: its dropped entries and, in their rows, the diagonal blocks as they were; or
/// the matrix, where others changed besides. Columns are this rank's, then ghost g of the matrix as
/// n_local + g.
template <class T>
struct LostEntries {
  kernels::Csr<T> rows;
  std::vector<T> worth;             ///< of each entry of the rows
  std::vector<T> of_sent;           ///< EntryWorth::of_sent
  MatrixPointer<T> whole;           ///< null where the rows tell all
  std::vector<Offset> set_aside;    ///< LumpedRows::set_aside
  int unknowns = 1;                 ///< rows of each point
  double tolerance = 0;             ///< by which they were dropped
  std::vector<GlobalIndex> ghosts;  ///< of the matrix
  comm::Pattern pattern;            ///< its direct one
  GlobalIndex nonzeros = 0;         ///< its, over all ranks

  std::size_t memory_bytes() const;
};

/// What is left of a matrix, and what it lost.
template <class T>
struct Sparsified {
  MatrixPointer<T> A;
  LostEntries<T> lost;
};

/// What the entries of a coarse matrix are dropped by.
template <class T>
struct DropRules {
  Choice<DropRule> drop = "entries";
  Choice<LumpingMethod> lumping = "diagonal";
  double tolerance = 0;
  int unknowns = 1;                     ///< rows of each point
  bool has_kept_vector = false;         ///< else constants are multiplied as before
  std::span<const T> kept_vector = {};  ///< of this rank's rows
  RowPlaces places;                     ///< without topology: those of the matrix's ranks
};

/// Local. The places of rules, with those of A's ranks where there are none.
template <class T>
RowPlaces places_for(const matrix::DistMatrix<T>& A, const DropRules<T>& rules);

/// What entries of a matrix are worth to one rule, and what the lumping has to know besides.
template <class T>
struct WeighedEntries {
  EntryWorth<T> worth;
  /// On this rank's rows, then on the ghosts; null: constants.
  std::shared_ptr<const std::vector<T>> kept_vector;
};

/// Collective. What several rules, which differ in drop, tolerance and places alone, say of the
/// entries of A, as sparsify() needs it for the tolerance and lower ones: beside what a
/// MinimalPattern costs, where one of them keeps that, and the rules, one reversed record exchange,
/// and an exchange and an agreement where there is a kept vector. A failure of this rank alone is
/// left in `failure`.
template <class T>
std::vector<WeighedEntries<T>> weighed(const MatrixPointer<T>& A, const Coarsening<T>& coarsening,
                                       std::span<const DropRules<T>> rules,
                                       std::optional<Error>& failure);

/// Collective. Drops what is worth less than the tolerance of the rules. See sparsify().
template <class T>
std::optional<Sparsified<T>> without_light(const MatrixPointer<T>& A, WeighedEntries<T> weighed,
                                           const DropRules<T>& rules, std::optional<Error> failure);

/// Collective. What is left of A, a square matrix on the direct route, without the entries that are
/// worth less than the tolerance (entry_worth()), which go where the lumping says; nothing where
/// all ranks keep all entries, and where a diagonal would lose more than half of its size. In a
/// system blocks go as a whole. Beside what a MinimalPattern costs, where the rule keeps that, and
/// the rule and the lumping, one reversed record exchange, an exchange where there is a kept
/// vector, and one allreduce; where points have several rows also the sparse exchange of a new
/// matrix. `failure` is an earlier one of this rank alone. Throws, on every rank, what failed on
/// any, and unsupported where the lumping does not take points.
template <class T>
std::optional<Sparsified<T>> sparsify(const MatrixPointer<T>& A, const Coarsening<T>& coarsening,
                                      const DropRules<T>& rules, std::optional<Error> failure = {});

/// Collective. The same for new values A of the matrix that `before` was made of: the same entries
/// go. For the old values it returns before.A, bit for bit. Costs what the lumping does, an
/// exchange where there is a kept vector, and an agreement.
template <class T>
Sparsified<T> sparsify_alike(const MatrixPointer<T>& A, const Sparsified<T>& before,
                             const DropRules<T>& rules);

/// Collective. The matrix with the entries back that a lower tolerance would have kept, on the
/// direct route, and what it still has lost; with all of them, and nothing lost, where the
/// tolerance is 0. The same as sparsify() would leave. Where the lumping changes the diagonal only:
/// what goes back is known to both its sides, so that nothing is sent but an allreduce, an exchange
/// where there is a kept vector, and the sparse exchange of a new matrix where points have several
/// rows. Throws unsupported, on every rank, for another lumping and a tolerance above 0.
template <class T>
Sparsified<T> with_entries_back(const matrix::DistMatrix<T>& left, const LostEntries<T>& lost,
                                const DropRules<T>& rules);

/// Local. The matrix before it lost entries, on the direct route.
template <class T>
MatrixPointer<T> restored(const matrix::DistMatrix<T>& left, const LostEntries<T>& lost);

}  // namespace nodewise::amg::sparsify
