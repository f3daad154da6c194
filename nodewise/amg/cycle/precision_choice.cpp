#include "nodewise/amg/cycle/precision_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nodewise/amg/cycle/coarse_solver.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/base/parallel.hpp"
#include "nodewise/matrix/operations.hpp"
#include "nodewise/mpi/agree.hpp"
#include "nodewise/solve/sums_in_pieces.hpp"

namespace nodewise::amg {

namespace {

using matrix::DistMatrix;

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Of the sizes of rows, for float to hold the small ones beside the large ones.
constexpr double largest_spread = 1e25;

/// Local. The largest sum of |a_ij| / |d_i| of this rank's rows.
template <class T>
double largest_row(const DistMatrix<T>& A, std::span<const T> d) {
  return parallel::max(d.size(), [&](std::size_t begin, std::size_t end) {
    double largest = 0;
    for (std::size_t u = begin; u < end; ++u) {
      const auto i = static_cast<LocalIndex>(u);
      double sum = 0;
      for (const kernels::Csr<T>* part : {&A.on(), &A.off()}) {
        for (Offset k = part->begin(i); k < part->end(i); ++k) {
          sum += std::abs(static_cast<double>(part->vals[static_cast<std::size_t>(k)]));
        }
      }
      largest = std::max(largest, sum / std::abs(static_cast<double>(d[u])));
    }
    return largest;
  });
}

/// Local. Of the moduli of these numbers, the largest and the largest of their inverses.
template <class T>
std::pair<double, double> extremes(std::span<const T> d) {
  const auto largest = [&](auto&& of) {
    return parallel::max(d.size(), [&](std::size_t begin, std::size_t end) {
      double most = 0;
      for (std::size_t i = begin; i < end; ++i) most = std::max(most, of(std::abs(double(d[i]))));
      return most;
    });
  };
  return {largest([](double modulus) { return modulus; }),
          largest([](double modulus) { return 1 / modulus; })};
}

/// A vector for each level, and steps of inverse iteration on the finest, in the inner product
/// of |D|, by the coarsest level alone.
template <class T>
class SmoothVector {
 public:
  SmoothVector(std::span<const T> weights, std::span<const DistMatrix<T>* const> prolongations,
               const DistMatrix<T>* coarsest)
      : weights_(weights), prolongations_(prolongations) {
    for (const DistMatrix<T>* P : prolongations) x_.emplace_back(size_of(P->rows()));
    x_.emplace_back(coarsest ? size_of(coarsest->rows()) : 0);
    solution_.resize(x_.back().size());
  }

  /// Hashed numbers between one half and three halves, `first` being the number of the first row.
  void start(std::uint64_t first) {
    Array<T>& x = x_.front();
    parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        x[i] = static_cast<T>(0.5 + hash_uniform(first + i, smooth_vector_seed));
      }
    });
  }

  /// Returns this rank's parts of x . A x and of x . |D| x, for the new x.
  std::array<double, 2> step(const std::optional<CoarseSolver<T>>& solver) {
    Array<T>& x = x_.front();
    parallel::for_range(x.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) x[i] *= std::abs(weights_[i]);
    });
    for (std::size_t l = 0; l < prolongations_.size(); ++l) {
      matrix::multiply_transposed(*prolongations_[l], std::span<const T>(x_[l]),
                                  std::span<T>(x_[l + 1]));
    }
    if (solver) solver->solve(x_.back(), solution_);
    double energy = 0;
    for (std::size_t i = 0; i < solution_.size(); ++i) {
      energy += double(solution_[i]) * double(x_.back()[i]);
    }
    std::swap(solution_, x_.back());
    for (std::size_t l = prolongations_.size(); l-- > 0;) {
      matrix::multiply(*prolongations_[l], std::span<const T>(x_[l + 1]), std::span<T>(x_[l]));
    }
    return {energy, weighted_square()};
  }

 private:
  /// Its sum is made in pieces, so that the number of threads does not change it.
  double weighted_square() const {
    const Array<T>& x = x_.front();
    double square = 0;
    solve::sum_in_pieces(x.size(), 1, std::span(&square, 1),
                         [&](std::size_t begin, std::size_t end, std::span<double> sum) {
                           for (std::size_t i = begin; i < end; ++i) {
                             sum[0] += std::abs(double(weights_[i])) * double(x[i]) * double(x[i]);
                           }
                         });
    return square;
  }
  static std::size_t size_of(const comm::Layout& rows) {
    return static_cast<std::size_t>(rows.n_local());
  }

  std::span<const T> weights_;
  std::span<const DistMatrix<T>* const> prolongations_;
  std::vector<Array<T>> x_;
  Array<T> solution_;
};

}  // namespace

template <class T>
double estimated_condition(const DistMatrix<T>& A,
                           std::span<const DistMatrix<T>* const> prolongations,
                           const DistMatrix<T>* coarsest, std::span<const double> sizes) {
  const mpi::Comm& comm = A.comm();
  std::optional<CoarseSolver<T>> solver;
  std::optional<Error> failure = mpi::caught([&] {
    if (coarsest) solver.emplace(*coarsest, 1.0, "every_rank", sizes);
  });
  Array<T> diagonal;
  std::optional<SmoothVector<T>> vector;
  // Of a row, of the diagonal, of its inverse; whether the coarsest matrix is singular; whether
  // something failed.
  std::array<double, 5> most = {};
  const auto begin = [&] {
    most[3] = solver && solver->singular() ? 1 : 0;
    diagonal = matrix::diagonal(A);
    most[0] = largest_row<T>(A, diagonal);
    std::tie(most[1], most[2]) = extremes<T>(diagonal);
    vector.emplace(diagonal, prolongations, coarsest);
  };
  if (!failure) failure = mpi::caught(begin);
  most[4] = failure ? 1 : 0;
  mpi::max_in_place(comm, std::span<double>(most));
  if (most[4] > 0) mpi::agree(comm, failure);
  vector->start(static_cast<std::uint64_t>(A.rows().begin() - A.rows().first()));
  vector->step(solver);
  std::array<double, 2> sums = vector->step(solver);
  mpi::sum_in_place(comm, std::span<double>(sums));
  return condition_of({most[0], most[1], most[2], sums[0], sums[1], most[3] > 0});
}

double condition_of(const ConditionParts& parts) {
  // No power of two brings both near enough to one.
  const double spread = parts.largest_diagonal * parts.largest_inverse;
  if (parts.singular || !(spread < largest_spread)) return infinite;
  const double condition = parts.largest_row * parts.square / parts.energy;
  return condition > 0 && std::isfinite(condition) ? condition : infinite;
}

PrecisionChoice choose_precision(double condition) {
  constexpr double harmless = 0.1;
  const double change = std::ldexp(condition, -24);
  if (!std::isfinite(change))
    return {false, "singular, not positive definite, or of rows of too different sizes"};
  const std::string share =
      change < 1 ? fmt::format("{:.2g} %", 100 * change) : fmt::format("{:.2g} times", change);
  return {change <= harmless,
          fmt::format("{} A x of a smooth x by up to {}",
                      change <= harmless ? "changes" : "single precision would change", share)};
}

template double estimated_condition(const DistMatrix<float>&,
                                    std::span<const DistMatrix<float>* const>,
                                    const DistMatrix<float>*, std::span<const double>);
template double estimated_condition(const DistMatrix<double>&,
                                    std::span<const DistMatrix<double>* const>,
                                    const DistMatrix<double>*, std::span<const double>);

}  // namespace nodewise::amg
