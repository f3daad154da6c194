// The entries of a coarse matrix that stay whatever their size.
#pragma once

#include <optional>
#include <span>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/sparsify/point_blocks.hpp"

namespace nodewise::amg::sparsify {

/// How a level is joined to the coarse matrix that is to be sparser.
template <class T>
struct Coarsening {
  /// The level's matrix: Galerkin's, or what is left of it.
  const matrix::DistMatrix<T>& A;
  const matrix::DistMatrix<T>& P;
  /// As in GridTransfer.
  std::span<const LocalIndex> coarse_rows;
  /// How the coarse rows got to other ranks; null where they did not.
  const comm::RowMove* move = nullptr;
  bool moves_columns = false;  ///< of P, too
  int unknowns = 1;            ///< rows of each point of the level
  int coarse_unknowns = 1;     ///< of each coarse point
};

/// The rows of a pattern, numbered as the coarse matrix's are; a point's is that of its first row.
/// Columns: this rank's, then ghosts[g] as n_local + g.
template <class T>
struct PatternRows {
  kernels::Csr<T> rows;
  std::vector<GlobalIndex> ghosts;
};

/// Collective. The rows of P^ ^T A P, P^ being the injection from the coarse points to the points
/// that they stand for (Falgout, Schroder 2014; Bienz 2018, algorithm 4.1). In an aggregation that
/// is the aggregate's root. With those of the transpose it is the minimal pattern of a coarse
/// matrix: a coarse point keeps what its fine point is joined to. One row exchange of A; where
/// coarse rows moved also that move and what making a DistMatrix costs. A failure of this rank
/// alone is left in `failure`.
template <class T>
PatternRows<T> injected_product(const Coarsening<T>& coarsening, std::optional<Error>& failure);

}  // namespace nodewise::amg::sparsify
