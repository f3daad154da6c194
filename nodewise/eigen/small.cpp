#include "nodewise/eigen/small.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nodewise/kernels/dense.hpp"

namespace nodewise::eigen {

namespace {

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// C = A B of n x k and k x m.
std::vector<double> small_product(std::span<const double> A, std::span<const double> B,
                                  std::size_t n, std::size_t k, std::size_t m) {
  std::vector<double> C(n * m, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t a = 0; a < k; ++a) {
      for (std::size_t j = 0; j < m; ++j) C[i * m + j] += A[i * k + a] * B[a * m + j];
    }
  }
  return C;
}

}  // namespace

std::vector<double> small_gram(std::span<const double> H, std::span<const double> C, std::size_t n,
                               std::size_t m) {
  const std::vector<double> HC = small_product(H, C, n, n, m);
  std::vector<double> G(m * m, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t a = 0; a < m; ++a) {
      for (std::size_t b = 0; b < m; ++b) G[a * m + b] += C[i * m + a] * HC[i * m + b];
    }
  }
  return G;
}

Whitening whiten(std::span<const double> G, std::span<const double> scales, double threshold) {
  const std::size_t n = scales.size();
  Whitening result;
  if (n == 0 || !all_finite(G) || !all_finite(scales)) return result;
  std::vector<double> d(n), scaled(n * n);
  for (std::size_t i = 0; i < n; ++i) d[i] = scales[i] > 0 ? 1 / std::sqrt(scales[i]) : 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      scaled[i * n + j] = 0.5 * d[i] * d[j] * (G[i * n + j] + G[j * n + i]);
    }
  }
  if (!all_finite(scaled)) return result;
  const kernels::SymmetricEigen eigen = kernels::symmetric_eigen(scaled);
  const auto kept = [&](std::size_t c) { return eigen.values[c] > threshold; };
  for (std::size_t c = 0; c < n; ++c) result.m += kept(c) ? 1 : 0;
  result.T.resize(n * result.m);
  std::size_t at = 0;
  for (std::size_t c = n; c-- > 0;) {
    if (!kept(c)) continue;
    result.smallest = eigen.values[c];
    const double factor = 1 / std::sqrt(eigen.values[c]);
    for (std::size_t i = 0; i < n; ++i) {
      result.T[i * result.m + at] = d[i] * eigen.vectors[c * n + i] * factor;
    }
    ++at;
  }
  return result;
}

std::optional<SmallPairs> solve_small(std::span<const double> H, std::span<const double> G,
                                      std::size_t n) {
  if (!all_finite(H) || !all_finite(G)) return std::nullopt;
  std::vector<double> scales(n);
  for (std::size_t i = 0; i < n; ++i) scales[i] = G[i * n + i];
  const double threshold = 100 * std::numeric_limits<double>::epsilon() * static_cast<double>(n);
  const Whitening white = whiten(G, scales, threshold);
  if (white.m < n) return std::nullopt;
  std::vector<double> small = small_gram(H, white.T, n, n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      small[a * n + b] = small[b * n + a] = 0.5 * (small[a * n + b] + small[b * n + a]);
    }
  }
  if (!all_finite(small)) return std::nullopt;
  const kernels::SymmetricEigen eigen = kernels::symmetric_eigen(small);
  std::vector<double> C(n * n);
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = 0; i < n; ++i) C[i * n + c] = eigen.vectors[c * n + i];
  }
  return SmallPairs{eigen.values, small_product(white.T, C, n, n, n)};
}

}  // namespace nodewise::eigen
