// A level of a hierarchy, as its setup leaves it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"
#include "nodewise/amg/redistribute/active_ranks.hpp"
#include "nodewise/amg/sparsify/sparsify.hpp"
#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/recompute.hpp"

namespace nodewise::amg {

template <class T>
using MatrixPointer = std::shared_ptr<const matrix::DistMatrix<T>>;

/// A level during the setup.
template <class T>
struct Level {
  int depth = 0;
  /// Where this is the first level of a communicator of its own.
  std::optional<ActiveRanks> active;
  /// Of the finest level's communicator, those of this one's, ascending; empty: all.
  std::vector<int> ranks;
  std::vector<GlobalIndex> starts;  // of the rows of all those, where this level has not all
  // Likewise before they were moved, where the transfer from the level above is laid out so.
  std::vector<GlobalIndex> starts_before_move;
  /// Whether this rank has no part of the level: there is neither a matrix nor a transfer.
  bool is_elsewhere = false;
  /// Whether this rank has a copy of what another has for all.
  bool is_copy = false;
  MatrixPointer<T> A;  // of the solve
  /// Where A is what is left of the Galerkin matrix.
  std::optional<sparsify::LostEntries<T>> lost;
  GridTransfer<T> transfer;  // to the next level; no P on the last
  ProblemInfo<T> knowledge;
  bool solved_directly = false;
  // Of rebuild(), which makes the one that the level needs.
  std::unique_ptr<matrix::GalerkinProduct<T>> product;
  std::unique_ptr<matrix::RestrictedProduct<T>> restricted_product;
  std::unique_ptr<SpectralRadiusTracker<T>> radius;
  // P and R as the finest level's communicator sees them, once somebody has asked.
  mutable MatrixPointer<T> P_of_all, R_of_all;
};

template <class T>
using Levels = std::vector<std::unique_ptr<Level<T>>>;

}  // namespace nodewise::amg
