// The spectral radius of a matrix scaled by its diagonal, which polynomial smoothers and the
// smoothing of an aggregation's prolongator must know.
#pragma once

#include <array>
#include <vector>

#include "nodewise/amg/options.hpp"
#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

struct SpectrumOptions {
  int steps = 10;         ///< products with A; the estimate grows with their number
  bool symmetric = true;  ///< what A is: Lanczos then does, in three vectors; otherwise Arnoldi
  int seed = 0;           ///< of the random start
  /// Estimates the norm of |D|^-1/2 A |D|^-1/2 in place of the radius where A is not symmetric. It
  /// is not less: the largest singular value of what Arnoldi projects on, in as many steps. It is
  /// an estimate from below, not below that of the radius, and well short where a few rows make the
  /// norm.
  bool norm = false;
};

/// The square of a new direction, relative to that of the product it is left over from, below which
/// the vectors so far span an invariant subspace for all that matters. What is left is known to
/// about the precision of the vectors only: were it much smaller, its own length would be wrong.
inline constexpr double negligible_in_spectrum = 1e-5;

/// Local. What a hierarchy asks of a level's matrix, symmetric or not. With a smoothed restriction
/// it is the norm: I - w D^-1 A and I - w D^-1 A^T, w being 4/3 by the estimate, both multiply, and
/// where A is far from normal they stretch by a lot unless w is small enough for every vector.
SpectrumOptions spectrum_options(bool symmetric, const Options& options);

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

/// The same number for symmetric matrices with one pattern, in fewer products: Lanczos then starts
/// from the vector that one of them stretched most, mixed with the random one, so that what other
/// values stretch more elsewhere is found as well. It ends where the residual of the largest Ritz
/// pair is small, after options.steps products at the latest: about four where the values changed
/// little, seven where they are quite others.
template <class T>
class SpectralRadiusTracker {
 public:
  /// Collective. Takes the vector from A. Costs what spectral_radius() does and a product; keeps
  /// one vector, and until it returns one for each step.
  SpectralRadiusTracker(const matrix::DistMatrix<T>& A, const SpectrumOptions& options);

  /// Returns what spectral_radius() finds for the A of the constructor, to the last bit.
  double radius() const { return known_.front().radius; }
  /// Collective. That of another matrix, which estimate() returns for it from now on. One product.
  void remember(const matrix::DistMatrix<T>& A, double radius);
  /// Collective. From below, as spectral_radius() and about as good. Depends on A and on what is
  /// remembered alone. As many allreduces as spectral_radius() with as many steps.
  double estimate(const matrix::DistMatrix<T>& A) const;
  std::size_t memory_bytes() const { return extremal_.size() * sizeof(T); }

 private:
  /// A matrix is known by what the first step finds, to the last bit.
  struct Known {
    std::array<double, 3> mark;
    double radius;
  };

  SpectrumOptions options_;
  Array<T> extremal_;
  std::vector<Known> known_;
};

}  // namespace nodewise::amg
