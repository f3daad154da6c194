// Matrices of PETSc as the library has them.
#pragma once

#include <memory>
#include <petscmat.h>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::petsc {

using Matrix = matrix::DistMatrix<double>;

/// A matrix, with what the next one of its pattern can be made from.
struct TakenMatrix {
  std::shared_ptr<const Matrix> matrix;
  bool is_as_in_petsc = false;  ///< entries are in the order that PETSc has them in

  /// Collective. Copies the rows of A, which stay on their ranks, once: PETSc's AIJ has them split
  /// into columns of the rank and others as the library has, but may change or free them at any
  /// time. A format other than AIJ is converted to it before, a copy that is freed again. Throws
  /// on every rank unsupported where A does not show its entries, and unsuitable_matrix where it
  /// is not square in its layout or not assembled. Costs one sparse exchange and an allreduce.
  void take(Mat A, const std::shared_ptr<const mpi::Comm>& comm);

  /// Collective. The same for a matrix whose entries are at the places of the last one: values are
  /// all that is copied. Two allreduces; where it turns out that places must be others, take().
  void take_values(Mat A);
};

/// Rows of each point: what A's block size says, 1 where that is not known or is none that the
/// library has.
int block_size(Mat A);

}  // namespace nodewise::petsc
