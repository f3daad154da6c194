#include "nodewise/amg/relax/relaxation.hpp"

#include "nodewise/amg/relax/chebyshev.hpp"
#include "nodewise/amg/relax/gauss_seidel.hpp"
#include "nodewise/amg/relax/ilu0.hpp"
#include "nodewise/amg/relax/jacobi.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/ledger.hpp"

namespace nodewise::amg::relax {

template <class T>
void Relaxation<T>::first_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                              std::span<T> r) const {
  first_sweep(b, x);
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, std::span<const T>(x), b, r);
}

template <class T>
void Relaxation<T>::symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  sweep(Direction::forward, b, x);
  sweep(Direction::backward, b, x);
}

template <class T>
void Relaxation<T>::first_symmetric_sweep(std::span<const T> b, std::span<T> x) const {
  first_sweep(b, x);
  sweep(Direction::backward, b, x);
}

bool needs_spectral_radius(SmootherKind kind) {
  return kind == SmootherKind::chebyshev;
}

template <class T>
std::unique_ptr<const Relaxation<T>> make_relaxation(const matrix::DistMatrix<T>& A,
                                                     const Options& options,
                                                     double spectral_radius) {
  switch (options.smoother) {
    case SmootherKind::l1_gauss_seidel:
      return std::make_unique<GaussSeidel<T>>(A, options.sor_weight, true);
    case SmootherKind::gauss_seidel:
      return std::make_unique<GaussSeidel<T>>(A, options.sor_weight, false);
    case SmootherKind::l1_jacobi:
      return std::make_unique<Jacobi<T>>(A, 1.0, true);
    case SmootherKind::jacobi:
      return std::make_unique<Jacobi<T>>(A, options.jacobi_weight, false);
    case SmootherKind::chebyshev:
      return std::make_unique<Chebyshev<T>>(A, options.chebyshev_degree, options.chebyshev_fraction,
                                            spectral_radius);
    case SmootherKind::ilu0:
      return std::make_unique<Ilu0<T>>(A);
  }
  return nullptr;
}

template class Relaxation<float>;
template class Relaxation<double>;
template std::unique_ptr<const Relaxation<float>> make_relaxation(const matrix::DistMatrix<float>&,
                                                                  const Options&, double);
template std::unique_ptr<const Relaxation<double>> make_relaxation(
    const matrix::DistMatrix<double>&, const Options&, double);

}  // namespace nodewise::amg::relax
