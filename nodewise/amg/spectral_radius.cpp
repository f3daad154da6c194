#include "nodewise/amg/spectral_radius.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/kernels/dense.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"
#include "nodewise/solve/vector_ops.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;
using solve::scale;
using solve::sum_all;
using Dense = Eigen::MatrixXd;

/// The residual of the largest Ritz pair, relative to its value, at which a tracker is content:
/// ten steps from a random vector leave about as much.
constexpr double small_residual = 0.03;
/// The random part of a tracker's start. Less saves a step where values change little, and misses
/// more often what is stretched elsewhere.
constexpr double random_part = 0.4;

/// 1 / |d|, 0 for 0.
template <class T>
Array<T> inverse_diagonal(const DistMatrix<T>& A) {
  const Array<T> d = matrix::diagonal(A);
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
  double left = 0;  // of Arnoldi: the length of the next vector before it had unit length
  std::array<double, 2> first_step = {};  // of Lanczos: what step_sums() found
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

std::span<const double> entries(const Dense& A) {
  return {A.data(), static_cast<std::size_t>(A.size())};
}

/// An eigenvalue of a symmetric projection, the largest in modulus, and its vector.
struct RitzPair {
  explicit RitzPair(const Projection& projection) {
    if (projection.size == 0) return;
    const kernels::SymmetricEigen eigen = kernels::symmetric_eigen(entries(projection.known()));
    const Eigen::Index n = projection.size;
    Eigen::Index largest = 0;
    value = Eigen::VectorXd::Map(eigen.values.data(), n).cwiseAbs().maxCoeff(&largest);
    vector = Eigen::VectorXd::Map(eigen.vectors.data() + largest * n, n);
  }

  double value = 0;
  Eigen::VectorXd vector;
};

/// When lanczos() ends before its last step, and what it leaves behind.
template <class T>
struct LanczosWishes {
  double residual = 0;             ///< of the largest Ritz pair, relative
  std::span<Array<T>> basis = {};  ///< room for all vectors, if they are wanted
};

template <class T>
void lanczos(const DistMatrix<T>& A, Vectors<T>& x, Projection& projection,
             const LanczosWishes<T>& wishes = {}) {
  const auto steps = projection.matrix.rows();
  double beta = 0;
  for (Eigen::Index k = 0; k < steps; ++k) {
    if (!wishes.basis.empty()) {
      std::copy(x.v.begin(), x.v.end(), wishes.basis[static_cast<std::size_t>(k)].begin());
    }
    matrix::multiply(A, std::span<const T>(x.v), std::span<T>(x.w));
    const auto [alpha, square] = step_sums(A, x);
    if (!std::isfinite(alpha) || !std::isfinite(square)) return;
    if (k == 0) projection.first_step = {alpha, square};
    projection.matrix(k, k) = alpha;
    projection.size = k + 1;
    const double left = square - alpha * alpha - beta * beta;
    if (k + 1 == steps || left <= negligible_in_spectrum * square) return;
    const double next_beta = std::sqrt(left);
    if (wishes.residual > 0) {
      const RitzPair top(projection);
      if (next_beta * std::abs(top.vector[k]) <= wishes.residual * top.value) return;
    }
    recur<T>(x.w, x.inverse, alpha, x.v, beta, next_beta, x.before);
    std::swap(x.v, x.before);
    beta = projection.matrix(k + 1, k) = projection.matrix(k, k + 1) = next_beta;
  }
}

/// into_i = factors_i values_i.
template <class T>
void multiply_each(std::span<const T> factors, std::span<const T> values, std::span<T> into) {
  parallel::for_range(into.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) into[i] = factors[i] * values[i];
  });
}

/// The radius of S A S with S = |D|^-1/2, which has the same eigenvalues: the inner product is then
/// that of |D|, in which no row counts more than another, as for lanczos().
template <class T>
void arnoldi(const DistMatrix<T>& A, Vectors<T>& x, Projection& projection) {
  const auto steps = projection.matrix.rows();
  Array<T> roots(x.v.size());
  std::vector<Array<T>> basis = {x.v};
  for (std::size_t i = 0; i < roots.size(); ++i) {
    roots[i] = std::sqrt(x.inverse[i]);
    basis[0][i] = roots[i] == T{} ? T{} : x.v[i] / roots[i];
  }
  for (Eigen::Index k = 0; k < steps; ++k) {
    const std::size_t n = basis.size();
    multiply_each<T>(roots, basis.back(), x.v);
    matrix::multiply(A, std::span<const T>(x.v), std::span<T>(x.w));
    multiply_each<T>(roots, x.w, x.w);
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
    projection.left = std::sqrt(std::max(0.0, left));
    if (k + 1 == steps || left <= negligible_in_spectrum * first[n]) return;
    projection.matrix(k + 1, k) = projection.left;
    basis.push_back(x.w);
    scale<T>(1 / projection.left, basis.back());
  }
}

double largest_eigenvalue(const Projection& projection, bool symmetric) {
  if (projection.size == 0) return 0;
  if (symmetric) return RitzPair(projection).value;
  return kernels::largest_eigenvalue_modulus(entries(projection.known()));
}

/// The norm of the map from the vectors that were made to those and the next one.
double largest_singular_value(const Projection& projection) {
  const Eigen::Index n = projection.size;
  if (n == 0) return 0;
  Dense map = Dense::Zero(n + 1, n);
  map.topRows(n) = projection.known();
  map(n, n - 1) = projection.left;
  const Dense square = map.transpose() * map;
  const kernels::SymmetricEigen eigen = kernels::symmetric_eigen(entries(square), false);
  return std::sqrt(Eigen::VectorXd::Map(eigen.values.data(), n).maxCoeff());
}

/// Local. The workspace of a run, its start not yet of unit length.
template <class T>
Vectors<T> random_start(const DistMatrix<T>& A, int seed) {
  Vectors<T> x;
  x.inverse = inverse_diagonal(A);
  x.v = start_vector<T>(A, x.inverse, seed);
  x.before.assign(x.v.size(), T{});
  x.w.resize(x.v.size());
  return x;
}

bool is_length(double square) {
  return square > 0 && std::isfinite(square);
}

/// Collective. Makes the start a unit vector; whether it is one.
template <class T>
bool normalize(const DistMatrix<T>& A, Vectors<T>& x) {
  const double square = sum_all(A.comm(), square_local<T>(x.v, x.inverse))[0];
  if (!is_length(square)) return false;
  scale<T>(1 / std::sqrt(square), x.v);
  return true;
}

/// Local. The inner products of |D| of v and u with themselves, and of the one with the other.
template <class T>
std::array<double, 3> products_local(std::span<const T> v, std::span<const T> u,
                                     std::span<const T> inverse) {
  std::array<double, 3> sums = {};
  solve::sum_in_pieces(v.size(), 1, sums,
                       [&](std::size_t begin, std::size_t end, std::span<double> into) {
                         for (std::size_t i = begin; i < end; ++i) {
                           if (inverse[i] == T{}) continue;
                           const double d = 1 / double(inverse[i]);
                           into[0] += d * double(v[i]) * double(v[i]);
                           into[1] += d * double(u[i]) * double(u[i]);
                           into[2] += d * double(v[i]) * double(u[i]);
                         }
                       });
  return sums;
}

/// Collective. Adds a vector to the random start, and makes it a unit vector; whether it is one.
/// The square of the length that the vector has in `of_vector`.
template <class T>
bool mix(const DistMatrix<T>& A, std::span<const T> vector, Vectors<T>& x, double& of_vector) {
  const auto local = products_local<T>(x.v, vector, x.inverse);
  const auto [of_random, square, along] = sum_all(A.comm(), local[0], local[1], local[2]);
  of_vector = square;
  const bool mixes = is_length(of_random) && is_length(of_vector);
  const double r = mixes ? random_part / std::sqrt(of_random) : 1.0;
  const double v = mixes ? (1 - random_part) / std::sqrt(of_vector) : 0.0;
  const double together = r * r * of_random + (mixes ? v * (2 * r * along + v * of_vector) : 0.0);
  if (!is_length(together)) return false;
  const double length = std::sqrt(together);
  scale<T>(r / length, x.v);
  if (mixes) solve::axpy<T>(v / length, vector, x.v);
  return true;
}

}  // namespace

SpectrumOptions spectrum_options(bool symmetric, const Options& options) {
  SpectrumOptions spectrum;
  spectrum.symmetric = symmetric;
  spectrum.seed = options.seed;
  spectrum.norm = !symmetric && has_smoothed_restriction(options);
  return spectrum;
}

template <class T>
double spectral_radius(const DistMatrix<T>& A, const SpectrumOptions& options) {
  auto x = mpi::collectively(A.comm(), [&] { return random_start(A, options.seed); });
  if (!normalize(A, x)) return 0;
  Projection projection(std::max(1, options.steps));
  if (options.symmetric) {
    lanczos(A, x, projection);
  } else {
    arnoldi(A, x, projection);
    if (options.norm) return largest_singular_value(projection);
  }
  return largest_eigenvalue(projection, options.symmetric);
}

namespace {

/// A run of Lanczos for a tracker, and what it knows a matrix by: the length of its vector, which
/// grows with the matrix, and the first step.
struct TrackedRun {
  Projection projection;
  std::array<double, 3> mark = {};
};

/// Collective. A run of so many steps at most.
template <class T>
TrackedRun follow(const DistMatrix<T>& A, std::span<const T> extremal, int seed, int steps) {
  TrackedRun run{Projection(std::max(1, steps))};
  auto x = mpi::collectively(A.comm(), [&] { return random_start(A, seed); });
  double length = 0;
  if (mix(A, extremal, x, length)) lanczos(A, x, run.projection, {.residual = small_residual});
  const auto& first = run.projection.first_step;
  run.mark = {length, first[0], first[1]};
  return run;
}

}  // namespace

template <class T>
SpectralRadiusTracker<T>::SpectralRadiusTracker(const DistMatrix<T>& A,
                                                const SpectrumOptions& options)
    : options_(options) {
  Projection projection(std::max(1, options.steps));
  std::vector<Array<T>> basis(static_cast<std::size_t>(projection.matrix.rows()));
  auto x = mpi::collectively(A.comm(), [&] {
    auto start = random_start(A, options.seed);
    for (Array<T>& vector : basis) vector.resize(start.v.size());
    extremal_.assign(start.v.size(), T{});
    return start;
  });
  if (normalize(A, x)) lanczos(A, x, projection, {.basis = basis});
  const RitzPair top(projection);
  for (Eigen::Index k = 0; k < projection.size; ++k) {
    solve::axpy<T>(top.vector[k], basis[static_cast<std::size_t>(k)], extremal_);
  }
  basis.clear();
  remember(A, top.value);
}

template <class T>
void SpectralRadiusTracker<T>::remember(const DistMatrix<T>& A, double radius) {
  known_.push_back({follow<T>(A, extremal_, options_.seed, 1).mark, radius});
}

template <class T>
double SpectralRadiusTracker<T>::estimate(const DistMatrix<T>& A) const {
  const TrackedRun run = follow<T>(A, extremal_, options_.seed, options_.steps);
  for (const Known& known : known_) {
    if (known.mark == run.mark) return known.radius;
  }
  return RitzPair(run.projection).value;
}

template double spectral_radius(const DistMatrix<float>&, const SpectrumOptions&);
template double spectral_radius(const DistMatrix<double>&, const SpectrumOptions&);
template class SpectralRadiusTracker<float>;
template class SpectralRadiusTracker<double>;

}  // namespace nodewise::amg
