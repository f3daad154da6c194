#include "nodewise/offload/spectral_radius.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "nodewise/amg/spectral_radius.hpp"
#include "nodewise/device/lanczos_steps.hpp"
#include "nodewise/kernels/dense.hpp"

namespace nodewise::offload {

namespace {

/// The largest modulus of the eigenvalues of a symmetric tridiagonal matrix.
double largest_eigenvalue(std::span<const double> diagonal, std::span<const double> beside) {
  const std::size_t n = diagonal.size();
  if (n == 0) return 0;
  std::vector<double> dense(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    dense[k * n + k] = diagonal[k];
    if (k + 1 < n) dense[k * n + k + 1] = dense[(k + 1) * n + k] = beside[k];
  }
  double largest = 0;
  for (const double value : kernels::symmetric_eigen(dense).values) {
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace

template <class Space>
double spectral_radius(const Workplace<Space>& at, const DistCsr<Space>& A,
                       const DistProduct<double, Space>& product, int steps, int seed) {
  const mpi::Comm& comm = A.rows.comm();
  std::optional<device::LanczosSteps<Space>> vectors;
  at.together(comm,
              [&] { vectors.emplace(at.queue(), A.local, A.rows.begin() - A.rows.first(), seed); });
  const double length = at.sums(comm, [&] { return std::array{vectors->square()}; })[0];
  if (!(length > 0) || !std::isfinite(length)) return 0;
  at.card->local([&] { vectors->scale(1 / std::sqrt(length)); });
  std::vector<double> diagonal, beside;
  double beta = 0;
  for (int k = 0; k < steps; ++k) {
    product.multiply(vectors->v(), vectors->w());
    const auto found = at.sums(comm, [&] { return vectors->step_sums(); });
    const double alpha = found[0], square = found[1];
    if (!std::isfinite(alpha) || !std::isfinite(square)) break;
    diagonal.push_back(alpha);
    const double left = square - alpha * alpha - beta * beta;
    if (k + 1 == steps || left <= amg::negligible_in_spectrum * square) break;
    const double next_beta = std::sqrt(left);
    at.card->local([&] { vectors->recur(alpha, beta, next_beta); });
    beside.push_back(beta = next_beta);
  }
  return largest_eigenvalue(diagonal, beside);
}

template double spectral_radius(const Workplace<device::Host>&, const DistCsr<device::Host>&,
                                const DistProduct<double, device::Host>&, int, int);
#ifdef NODEWISE_CUDA
template double spectral_radius(const Workplace<device::Cuda>&, const DistCsr<device::Cuda>&,
                                const DistProduct<double, device::Cuda>&, int, int);
#endif

}  // namespace nodewise::offload
