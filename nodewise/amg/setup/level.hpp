// A level of a hierarchy, as its setup leaves it.
#pragma once

#include <memory>
#include <vector>

#include "nodewise/amg/grid_transfer.hpp"
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
  MatrixPointer<T> A;
  GridTransfer<T> transfer;  // to the next level; no P on the last
  ProblemInfo<T> knowledge;
  bool solved_directly = false;
  // Of rebuild(), which makes the one that the level needs.
  std::unique_ptr<matrix::GalerkinProduct<T>> product;
  std::unique_ptr<matrix::RestrictedProduct<T>> restricted_product;
  std::unique_ptr<SpectralRadiusTracker<T>> radius;
};

template <class T>
using Levels = std::vector<std::unique_ptr<Level<T>>>;

}  // namespace nodewise::amg
