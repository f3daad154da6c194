#include "nodewise/amg/relax/relaxation.hpp"

#include "nodewise/amg/relax/block_gauss_seidel.hpp"
#include "nodewise/amg/relax/block_jacobi.hpp"
#include "nodewise/amg/relax/chebyshev.hpp"
#include "nodewise/amg/relax/coarse_fine_gauss_seidel.hpp"
#include "nodewise/amg/relax/fc_jacobi.hpp"
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
  subtract_product(b, x, r);
}

template <class T>
void Relaxation<T>::first_symmetric_sweep_with_residual(std::span<const T> b, std::span<T> x,
                                                        std::span<T> r) const {
  first_symmetric_sweep(b, x);
  subtract_product(b, x, r);
}

template <class T>
void Relaxation<T>::subtract_product(std::span<const T> b, std::span<const T> x,
                                     std::span<T> r) const {
  const mpi::Scope scope(A_.comm(), "residual");
  matrix::residual(A_, x, b, r);
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

template <class T>
void Relaxation<T>::sweep_with_product(Sweep sweep, std::span<const T> b, std::span<T> x,
                                       std::span<T> y) const {
  run(sweep, b, x);
  multiply(x, y);
}

template <class T>
void Relaxation<T>::multiply(std::span<const T> x, std::span<T> y) const {
  const mpi::Scope scope(A_.comm(), "krylov_product", mpi::no_level);
  matrix::multiply(A_, x, y);
}

template <class T>
void Relaxation<T>::sweep_block(Sweep sweep, std::span<const T> B, std::span<T> X,
                                int width) const {
  const auto w = static_cast<std::size_t>(width);
  const std::span<T> b = workspace(2 * n_local()).first(n_local());
  const std::span<T> x = workspace(2 * n_local()).last(n_local());
  for (std::size_t c = 0; c < w; ++c) {
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = B[i * w + c];
      x[i] = X[i * w + c];
    }
    run(sweep, b, x);
    for (std::size_t i = 0; i < b.size(); ++i) X[i * w + c] = x[i];
  }
}

template <class T>
std::size_t Relaxation<T>::workspace_for(std::size_t /*width*/) const {
  return 2 * n_local();
}

template <class T>
void Relaxation<T>::run(Sweep kind, std::span<const T> b, std::span<T> x) const {
  switch (kind) {
    case Sweep::first:
      return first_sweep(b, x);
    case Sweep::first_symmetric:
      return first_symmetric_sweep(b, x);
    case Sweep::forward:
      return sweep(Direction::forward, b, x);
    case Sweep::backward:
      return sweep(Direction::backward, b, x);
    case Sweep::symmetric:
      return symmetric_sweep(b, x);
  }
}

bool needs_spectral_radius(SmootherKind kind) {
  return kind == SmootherKind::chebyshev;
}

bool works_on_blocks(SmootherKind kind) {
  return kind == SmootherKind::l1_block_gauss_seidel || kind == SmootherKind::block_gauss_seidel ||
         kind == SmootherKind::l1_block_jacobi || kind == SmootherKind::block_jacobi;
}

bool reads_full_blocks(SmootherKind kind) {
  return kind == SmootherKind::l1_gauss_seidel || kind == SmootherKind::gauss_seidel ||
         kind == SmootherKind::l1_jacobi || kind == SmootherKind::jacobi ||
         kind == SmootherKind::chebyshev;
}

template <class T>
bool sweeps_by_rows(const matrix::DistMatrix<T>& A, const Options& options) {
  const SmootherKind kind = options.smoother;
  const bool is_gauss_seidel =
      kind == SmootherKind::gauss_seidel || kind == SmootherKind::l1_gauss_seidel ||
      kind == SmootherKind::block_gauss_seidel || kind == SmootherKind::l1_block_gauss_seidel;
  return is_gauss_seidel && A.blocks() == nullptr && !goes_by_points(options.sweep_order);
}

namespace {

template <class T>
std::unique_ptr<const Relaxation<T>> make_gauss_seidel(const matrix::DistMatrix<T>& A,
                                                       const Options& options,
                                                       const CouplingSums<T>* l1,
                                                       const MatrixFacts& facts) {
  if (goes_by_points(options.sweep_order)) {
    const bool both_ways = options.sweep_order == SweepOrder::coarse_fine_symmetric;
    return std::make_unique<CoarseFineGaussSeidel<T>>(A, facts.coarse_rows, options.sor_weight, l1,
                                                      both_ways);
  }
  if (A.blocks() != nullptr) {
    const PointSolve solve =
        works_on_blocks(options.smoother) ? PointSolve::together : PointSolve::one_by_one;
    return std::make_unique<BlockGaussSeidel<T>>(A, options.sor_weight, l1, solve);
  }
  return std::make_unique<GaussSeidel<T>>(A, options.sor_weight, l1, facts);
}

template <class T>
std::unique_ptr<const Relaxation<T>> make_jacobi(const matrix::DistMatrix<T>& A,
                                                 const Options& options,
                                                 const CouplingSums<T>* l1) {
  const double weight = options.jacobi_weight;
  if (works_on_blocks(options.smoother) && A.blocks() != nullptr) {
    return std::make_unique<BlockJacobi<T>>(A, weight, l1);
  }
  return std::make_unique<Jacobi<T>>(A, weight, l1);
}

}  // namespace

template <class T>
std::unique_ptr<const Relaxation<T>> make_relaxation(const matrix::DistMatrix<T>& A,
                                                     const Options& options,
                                                     const MatrixFacts& facts) {
  const CouplingSums<T> couplings(A, facts.scales);
  const CouplingSums<T>* const l1 = is_l1(options.smoother) ? &couplings : nullptr;
  switch (options.smoother) {
    case SmootherKind::l1_gauss_seidel:
    case SmootherKind::l1_block_gauss_seidel:
    case SmootherKind::gauss_seidel:
    case SmootherKind::block_gauss_seidel:
      return make_gauss_seidel(A, options, l1, facts);
    case SmootherKind::l1_jacobi:
    case SmootherKind::l1_block_jacobi:
    case SmootherKind::jacobi:
    case SmootherKind::block_jacobi:
      return make_jacobi(A, options, l1);
    case SmootherKind::chebyshev:
      return std::make_unique<Chebyshev<T>>(A, options.chebyshev_degree, options.chebyshev_fraction,
                                            facts.spectral_radius);
    case SmootherKind::ilu0:
      return std::make_unique<Ilu0<T>>(A);
    case SmootherKind::fc_jacobi:
      return std::make_unique<FcJacobi<T>>(A, facts.coarse_rows, options.fine_sweeps,
                                           options.coarse_sweeps);
  }
  return nullptr;
}

template class Relaxation<float>;
template class Relaxation<double>;
template bool sweeps_by_rows(const matrix::DistMatrix<float>&, const Options&);
template bool sweeps_by_rows(const matrix::DistMatrix<double>&, const Options&);
template std::unique_ptr<const Relaxation<float>> make_relaxation(const matrix::DistMatrix<float>&,
                                                                  const Options&,
                                                                  const MatrixFacts&);
template std::unique_ptr<const Relaxation<double>> make_relaxation(
    const matrix::DistMatrix<double>&, const Options&, const MatrixFacts&);

}  // namespace nodewise::amg::relax
