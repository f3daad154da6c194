// How far a matrix, scaled by its diagonal, stretches a vector: what polynomial smoothers and the
// smoothing of an aggregation's prolongator must know.
#pragma once

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

struct SpectrumOptions {
  int steps = 10;         ///< products with A; the estimate grows with their number
  bool symmetric = true;  ///< what A is: Lanczos then does, in three vectors; otherwise Arnoldi
  int seed = 0;           ///< of the random start
};

/// Collective. An estimate of the spectral radius of |D|^-1 A, D being the diagonal of A, which is
/// that of D^-1 A where D has one sign. Rows with a zero diagonal are left out. The same number on
/// every rank, and up to round-off on any number of ranks: the start is hashed from global indices.
/// A symmetric matrix is never overestimated; ten steps are a few percent short, so that whoever
/// needs a bound adds a tenth. 0 for a matrix without rows; an A whose products overflow gives what
/// was found before they did.
///
/// Lanczos (in the inner product of |D|): Golub, Van Loan, "Matrix computations", 2013, algorithm
/// 10.1.1, the norm of the next vector from what is known before it is made; a step costs one
/// exchange of A and one allreduce. Arnoldi, algorithm 10.5.1, each step orthogonalised twice: a
/// step costs one exchange and two allreduces, and keeps a vector.
template <class T>
double spectral_radius(const matrix::DistMatrix<T>& A, const SpectrumOptions& options = {});

}  // namespace nodewise::amg
