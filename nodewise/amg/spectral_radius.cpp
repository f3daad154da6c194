#include "nodewise/amg/spectral_radius.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <Eigen/Eigenvalues>

#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;
using solve::dot_local;
using solve::scale;
using solve::sum_all;
using Dense = Eigen::MatrixXd;

/// The square of a new direction, relative to that of the product it is left over from, below which
/// the vectors so far span an invariant subspace for all that matters. What is left is known to
/// about the precision of the vectors only: were it much smaller, its own length would be wrong.
constexpr double negligible = 1e-5;

/// 1 / |d|, 0 for 0.
template <class T>
Array<T> inverse_diagonal(const DistMatrix<T>& A) {
  const std::vector<T> d = matrix::diagonal(A);
  Array<T> inverse(d.size());
  std::transform(d.begin(), d.end(), inverse.begin(),
                 [](T v) { return v == T{} ? T{} : T{1} / std::abs(v); });
  return inverse;
}

/// Hashed numbers in (-1, 1), divided by the roots of the diagonal: in the inner product of |D| no
/// row counts more than another.
template <class T>
Array<T> start_vector(const DistMatrix<T>& A, std::span<const T> inverse, int seed) {
  Array<T> v(inverse.size());
  const auto first = static_cast<std::uint64_t>(A.rows().begin() - A.rows().first());
  parallel::for_range(v.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double u = 2 * hash_uniform(first + i, static_cast<std::uint64_t>(seed)) - 1;
      v[i] = static_cast<T>(u * std::sqrt(static_cast<double>(inverse[i])));
    }
  });
  return v;
}

/// The inner product of |D|.
template <class T>
double square_local(std::span<const T> v, std::span<const T> inverse) {
  double sum = 0;
  solve::sum_in_pieces(v.size(), 1, std::span(&sum, 1),
                       [&](std::size_t begin, std::size_t end, std::span<double> into) {
                         for (std::size_t i = begin; i < end; ++i) {
                           if (inverse[i] != T{})
                             into[0] += double(v[i]) * double(v[i]) / double(inverse[i]);
                         }
                       });
  return sum;
}

/// The projection of |D|^-1 A on the vectors that were made: tridiagonal for Lanczos.
struct Projection {
  explicit Projection(int steps) : matrix(Dense::Zero(steps, steps)) {}
  Dense known() const { return matrix.topLeftCorner(size, size); }

  Dense matrix;
  Eigen::Index size = 0;
};

/// w = A v becomes the next vector but for its length: |D|^-1 w - alpha v - beta before, which
/// takes the place of `before`.
template <class T>
void recur(std::span<const T> w, std::span<const T> inverse, double alpha, std::span<const T> v,
           double beta, double next_beta, std::span<T> before) {
  const T a = static_cast<T>(alpha);
  const T b = static_cast<T>(beta);
  const T factor = static_cast<T>(1 / next_beta);
  parallel::for_range(w.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      before[i] = factor * (inverse[i] * w[i] - a * v[i] - b * before[i]);
    }
  });
}

template <class T>
struct Vectors {
  Array<T> inverse, v, before, w;
};

/// v . A v, which is alpha, and the square of the length of |D|^-1 A v, which is the sum of the
/// squares of alpha, beta and the next beta.
template <class T>
std::array<double, 2> step_sums(const DistMatrix<T>& A, const Vectors<T>& x) {
  std::array<double, 2> sums;
  solve::sum_in_pieces(x.w.size(), 1, sums,
                       [&](std::size_t begin, std::size_t end, std::span<double> into) {
                         double along = 0;
                         double square = 0;
                         for (std::size_t i = begin; i < end; ++i) {
                           const double w = x.inverse[i] == T{} ? 0.0 : double(x.w[i]);
                           along += w * double(x.v[i]);
                           square += w * w * double(x.inverse[i]);
                         }
                         into[0] = along;
                         into[1] = square;
                       });
  return sum_all(A.comm(), sums[0], sums[1]);
}

template <class T>
void lanczos(const DistMatrix<T>& A, Vectors<T>& x, Projection& projection) {
  const auto steps = projection.matrix.rows();
  double beta = 0;
  for (Eigen::Index k = 0; k < steps; ++k) {
    matrix::multiply(A, std::span<const T>(x.v), std::span<T>(x.w));
    const auto [alpha, square] = step_sums(A, x);
    if (!std::isfinite(alpha) || !std::isfinite(square)) return;
    projection.matrix(k, k) = alpha;
    projection.size = k + 1;
    const double left = square - alpha * alpha - beta * beta;
    if (k + 1 == steps || left <= negligible * square) return;
    const double next_beta = std::sqrt(left);
    recur<T>(x.w, x.inverse, alpha, x.v, beta, next_beta, x.before);
    std::swap(x.v, x.before);
    beta = projection.matrix(k + 1, k) = projection.matrix(k, k + 1) = next_beta;
  }
}

template <class T>
void arnoldi(const DistMatrix<T>& A, Vectors<T>& x, Projection& projection) {
  const auto steps = projection.matrix.rows();
  std::vector<Array<T>> basis = {x.v};
  scale<T>(1 / std::sqrt(sum_all(A.comm(), dot_local<T>(x.v, x.v))[0]), basis.back());
  for (Eigen::Index k = 0; k < steps; ++k) {
    const std::size_t n = basis.size();
    matrix::multiply(A, std::span<const T>(basis.back()), std::span<T>(x.w));
    parallel::for_range(x.w.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) x.w[i] *= x.inverse[i];
    });
    std::vector<double> first(n + 1), second(n + 1);
    solve::dots_with_basis<T>(basis, x.w, first);
    solve::sum_parts(A.comm(), first);
    solve::project_and_dot<T>(basis, std::span(first).first(n), x.w, second);
    solve::sum_parts(A.comm(), second);
    solve::combine<T>(basis, std::span(second).first(n), -1.0, 1.0, x.w);
    double left = second[n];
    for (std::size_t j = 0; j < n; ++j) {
      projection.matrix(static_cast<Eigen::Index>(j), k) = first[j] + second[j];
      left -= second[j] * second[j];
    }
    if (!std::isfinite(first[n]) || !std::isfinite(left)) return;
    projection.size = k + 1;
    if (k + 1 == steps || left <= negligible * first[n]) return;
    projection.matrix(k + 1, k) = std::sqrt(left);
    basis.push_back(x.w);
    scale<T>(1 / std::sqrt(left), basis.back());
  }
}

double largest_eigenvalue(const Projection& projection, bool symmetric) {
  if (projection.size == 0) return 0;
  if (symmetric) {
    const Eigen::SelfAdjointEigenSolver<Dense> eigen(projection.known(), Eigen::EigenvaluesOnly);
    return eigen.eigenvalues().cwiseAbs().maxCoeff();
  }
  return Eigen::EigenSolver<Dense>(projection.known(), false).eigenvalues().cwiseAbs().maxCoeff();
}

}  // namespace

template <class T>
double spectral_radius(const DistMatrix<T>& A, const SpectrumOptions& options) {
  Vectors<T> x;
  mpi::collectively(A.comm(), [&] {
    x.inverse = inverse_diagonal(A);
    x.v = start_vector<T>(A, x.inverse, options.seed);
    x.before.assign(x.v.size(), T{});
    x.w.assign(x.v.size(), T{});
  });
  const double square = sum_all(A.comm(), square_local<T>(x.v, x.inverse))[0];
  if (!(square > 0) || !std::isfinite(square)) return 0;
  scale<T>(1 / std::sqrt(square), x.v);
  Projection projection(std::max(1, options.steps));
  if (options.symmetric) {
    lanczos(A, x, projection);
  } else {
    arnoldi(A, x, projection);
  }
  return largest_eigenvalue(projection, options.symmetric);
}

template double spectral_radius(const DistMatrix<float>&, const SpectrumOptions&);
template double spectral_radius(const DistMatrix<double>&, const SpectrumOptions&);

}  // namespace nodewise::amg
