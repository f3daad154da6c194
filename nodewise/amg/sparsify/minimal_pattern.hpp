// The entries of a coarse matrix that stay whatever their size.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/sparsify/point_blocks.hpp"
#include "nodewise/matrix/row_exchange.hpp"

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
  /// P's rows for ghosts that have all of A's among them, where they are at hand; else null.
  std::shared_ptr<const matrix::FetchedRows<T>> fetched = {};
  std::span<const GlobalIndex> fetched_for = {};
};

/// The rows of P^ ^T A P, P^ being the injection from the coarse points to the points that they
/// stand for (Falgout, Schroder 2014; Bienz 2018, algorithm 4.1). In an aggregation that is the
/// aggregate's root. With those of the transpose it is the minimal pattern of a coarse matrix: a
/// coarse point keeps what its fine point is joined to. A row is made when it is asked for.
template <class T>
class MinimalPattern {
 public:
  /// Without rows.
  MinimalPattern() = default;
  /// Collective. Where P's rows are not at hand one row exchange of A; where coarse rows moved also
  /// that move and what making a DistMatrix costs. A failure of this rank alone is left in
  /// `failure`. What the coarsening refers to must outlive it.
  MinimalPattern(const Coarsening<T>& coarsening, std::optional<Error>& failure);

  /// The columns that no coarse row is of here; some need not be in the pattern.
  std::span<const GlobalIndex> ghosts() const { return ghosts_; }

  /// Local. Calls f(column) for the entries of a point's row, once or more for each: this rank's
  /// columns, then ghosts()[g] as n_local + g.
  template <class F>
  void for_each_column(LocalIndex point, F&& f) const {
    const LocalIndex k = point * coarse_unknowns_;
    if (moved_) return visit(*moved_, k, 0, f);
    const LocalIndex first = coarse_rows_[static_cast<std::size_t>(k)];
    const matrix::DistMatrix<T>& P = *P_;
    for (LocalIndex i = first; i < first + unknowns_; ++i) {
      matrix::for_each_entry(*A_, i, [&](LocalIndex j, T) {
        if (j >= P.n_local()) {
          const LocalIndex ghost = j - P.n_local();
          visit(fetched_->rows, places_.empty() ? ghost : places_[static_cast<std::size_t>(ghost)],
                0, f);
          return;
        }
        visit(P.on(), j, 0, f);
        if (P.n_ghosts() > 0) visit(P.off(), j, P.cols().n_local(), f);
      });
    }
  }

 private:
  template <class F>
  static void visit(const kernels::Csr<T>& rows, LocalIndex i, LocalIndex shift, F&& f) {
    for (auto p = static_cast<std::size_t>(rows.begin(i));
         p < static_cast<std::size_t>(rows.end(i)); ++p) {
      f(rows.cols[p] + shift);
    }
  }
  kernels::Csr<T> make_rows() const;
  void move_rows(const Coarsening<T>& coarsening, const std::optional<Error>& failure);

  const matrix::DistMatrix<T>* A_ = nullptr;
  const matrix::DistMatrix<T>* P_ = nullptr;
  std::span<const LocalIndex> coarse_rows_;
  int unknowns_ = 1, coarse_unknowns_ = 1;
  std::shared_ptr<const matrix::FetchedRows<T>> fetched_;
  std::vector<LocalIndex> places_;  // of A's ghosts among the fetched rows; empty: the same
  std::vector<GlobalIndex> ghosts_;
  std::optional<kernels::Csr<T>> moved_;  // where the coarse rows moved
};

}  // namespace nodewise::amg::sparsify
