// Matrices and plain references for the tests of multigrid: every rank holds the whole problem.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/coarsen/splitting.hpp"
#include "nodewise/amg/coarsen/strength.hpp"
#include "nodewise/base/hash.hpp"
#include "nodewise/io/gallery.hpp"
#include "nodewise/matrix/assemble.hpp"

#include "dist_matrix_support.hpp"
#include "support.hpp"

namespace nodewise::test {

using DenseMatrix = Dense<double>;

/// Collective on one rank. The communicator of this rank alone.
inline std::shared_ptr<const mpi::Comm> self_comm() {
  return mpi::Comm::create(MPI_COMM_SELF);
}

/// Collective. The entries of `A` that are not zero, its rows and columns in one layout.
template <class T = double>
matrix::DistMatrix<T> distribute(const DenseMatrix& A, const matrix::Layout& layout) {
  return matrix::matrix_from_rows<T>(layout, layout, [&](GlobalIndex i, auto&& emit) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      const double value = A(i - layout.first(), j);
      if (value != 0) emit(layout.first() + j, static_cast<T>(value));
    }
  });
}

/// Local. The whole matrix on the communicator of this rank alone.
inline matrix::DistMatrix<double> serial(const DenseMatrix& A) {
  return distribute(A, matrix::Layout::uniform(self_comm(), A.rows()));
}

/// Collective. The whole matrix on every rank, counted from 0.
template <class T>
DenseMatrix gathered(const matrix::DistMatrix<T>& A) {
  std::vector<double> entries;
  for_each_entry(A, [&](GlobalIndex row, GlobalIndex col, T value) {
    entries.push_back(static_cast<double>(row - A.rows().first()));
    entries.push_back(static_cast<double>(col - A.cols().first()));
    entries.push_back(static_cast<double>(value));
  });
  const auto all = mpi::concatenate_all(A.comm(), std::span<const double>(entries));
  DenseMatrix whole(A.rows().n_global(), A.cols().n_global());
  for (std::size_t k = 0; k < all.size(); k += 3) {
    whole(static_cast<GlobalIndex>(all[k]), static_cast<GlobalIndex>(all[k + 1])) += all[k + 2];
  }
  return whole;
}

/// Collective. The whole vector on every rank.
template <class T>
DenseMatrix gathered(const mpi::Comm& comm, const std::vector<T>& part) {
  const std::vector<double> mine(part.begin(), part.end());
  const auto all = mpi::concatenate_all(comm, std::span<const double>(mine));
  DenseMatrix whole(static_cast<std::int64_t>(all.size()));
  std::copy(all.begin(), all.end(), whole.data());
  return whole;
}

/// Collective. A splitting as a vector of -1, 0, 1 on every rank.
inline std::vector<int> gathered_splitting(const mpi::Comm& comm,
                                           const amg::coarsen::Splitting& part) {
  const std::vector<std::int32_t> mine(part.begin(), part.end());
  const auto all = mpi::concatenate_all(comm, std::span<const std::int32_t>(mine));
  return {all.begin(), all.end()};
}

/// Collective. The marks as a matrix on every rank.
template <class T>
Dense<int> gathered_marks(const matrix::DistMatrix<T>& A, const amg::Strength& strength) {
  EXPECT_EQ(strength.on.size(), A.on().cols.size());
  EXPECT_EQ(strength.off.size(), A.off().cols.size());
  const auto n = A.rows().n_global();
  std::vector<std::int32_t> marks(static_cast<std::size_t>(n * n), 0);
  const auto mark = [&](LocalIndex i, GlobalIndex column, int value) {
    const GlobalIndex row = A.rows().to_global(i) - A.rows().first();
    marks[static_cast<std::size_t>(row * n + column - A.cols().first())] = value;
  };
  for (LocalIndex i = 0; i < A.n_local(); ++i) {
    for (auto k = static_cast<std::size_t>(A.on().begin(i));
         k < static_cast<std::size_t>(A.on().end(i)); ++k) {
      mark(i, A.cols().to_global(A.on().cols[k]), strength.on[k]);
    }
    for (auto k = static_cast<std::size_t>(A.off().begin(i));
         k < static_cast<std::size_t>(A.off().end(i)); ++k) {
      mark(i, A.ghosts()[static_cast<std::size_t>(A.off().cols[k])], strength.off[k]);
    }
  }
  mpi::sum_in_place(A.comm(), std::span<std::int32_t>(marks));
  Dense<int> whole(n, n);
  std::copy(marks.begin(), marks.end(), whole.data());
  return whole;
}

/// Local. This rank's part of a splitting of all points.
inline amg::coarsen::Splitting splitting_part(const matrix::Layout& layout,
                                              const std::vector<int>& whole) {
  amg::coarsen::Splitting part;
  for (GlobalIndex i = layout.begin(); i < layout.end(); ++i) {
    part.push_back(static_cast<std::int8_t>(whole[static_cast<std::size_t>(i - layout.first())]));
  }
  return part;
}

/// Local. A vector of hashed numbers in (-1, 1).
inline DenseMatrix hashed(GlobalIndex n, std::uint64_t seed) {
  DenseMatrix v(n);
  for (GlobalIndex i = 0; i < n; ++i) {
    v[i] = 2 * hash_uniform(static_cast<std::uint64_t>(i), seed) - 1;
  }
  return v;
}

inline double dot(const DenseMatrix& u, const DenseMatrix& v) {
  double sum = 0;
  for (GlobalIndex i = 0; i < u.rows(); ++i) sum += u[i] * v[i];
  return sum;
}

inline double norm(const DenseMatrix& v) {
  return std::sqrt(dot(v, v));
}

/// Expects equal vectors (matrices) up to `tolerance` times the largest entry of `expected`.
inline void expect_near(const DenseMatrix& got, const DenseMatrix& expected, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double largest = 0;
  double difference = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    largest = std::max(largest, std::abs(expected.data()[k]));
    const double d = std::abs(got.data()[k] - expected.data()[k]);
    difference = d <= difference ? difference : d;  // NaN passes through
  }
  EXPECT_LE(difference, tolerance * largest) << what;
}

/// Local. A model problem as a dense matrix.
inline DenseMatrix model(const std::string& problem, int n) {
  return gathered(io::generate<double>(self_comm(), {.problem = problem, .n = n}));
}

/// Local. Hashed entries in (-1, 0), a share `positive` of them turned positive, and a diagonal
/// somewhat larger than the sum of their moduli. The pattern is not symmetric.
inline DenseMatrix random_matrix(GlobalIndex n, double density, double positive,
                                 std::uint64_t seed) {
  DenseMatrix A(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    const std::uint64_t h = hash64(static_cast<std::uint64_t>(i), seed);
    double sum = 0.01;
    for (GlobalIndex j = 0; j < n; ++j) {
      const auto key = static_cast<std::uint64_t>(j);
      if (i == j || hash_uniform(key, h) >= density) continue;
      const double size = 0.01 + hash_uniform(key, h + 1);
      A(i, j) = hash_uniform(key, h + 2) < positive ? size : -size;
      sum += size;
    }
    A(i, i) = sum;
  }
  return A;
}

/// Local. As above with symmetric values and pattern: symmetric positive definite.
inline DenseMatrix random_symmetric(GlobalIndex n, double density, double positive,
                                    std::uint64_t seed) {
  const DenseMatrix A = random_matrix(n, density, positive, seed);
  DenseMatrix S = A + A.transpose();
  for (GlobalIndex i = 0; i < n; ++i) {
    S(i, i) = 0.01;
    for (GlobalIndex j = 0; j < n; ++j) S(i, i) += j == i ? 0.0 : std::abs(S(i, j));
  }
  return S;
}

/// Local. Negates the rows for which chosen(i).
inline DenseMatrix with_negated_rows(DenseMatrix A,
                                     const std::function<bool(GlobalIndex)>& chosen) {
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; chosen(i) && j < A.cols(); ++j) A(i, j) = -A(i, j);
  }
  return A;
}

/// Local. Makes all couplings in the rows i for which chosen(i) positive, as the diagonal: these
/// points depend on none, and others on them.
inline DenseMatrix with_positive_rows(DenseMatrix A,
                                      const std::function<bool(GlobalIndex)>& chosen) {
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; chosen(i) && j < A.cols(); ++j) A(i, j) = std::abs(A(i, j));
  }
  return A;
}

/// Local. Removes the couplings of the points for which chosen(i), in rows and columns.
inline DenseMatrix with_isolated(DenseMatrix A, const std::function<bool(GlobalIndex)>& chosen) {
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      if (i != j && (chosen(i) || chosen(j))) A(i, j) = 0;
    }
  }
  return A;
}

/// Local. Strength of connection by its definition: s(i, j) = 1 where i depends
/// strongly on j.
inline Dense<int> reference_strength(
    const DenseMatrix& A, double threshold, double max_row_sum,
    amg::StrengthMeasure measure = amg::StrengthMeasure::opposite_sign) {
  Dense<int> s(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    const auto size = [&](GlobalIndex j) {
      if (measure == amg::StrengthMeasure::absolute) return std::abs(A(i, j));
      return A(i, i) < 0 ? A(i, j) : -A(i, j);
    };
    double sum = 0;
    double largest = 0;
    for (GlobalIndex k = 0; k < A.cols(); ++k) {
      sum += A(i, k);
      if (k != i) largest = std::max(largest, size(k));
    }
    if (max_row_sum < 1 && std::abs(sum) > max_row_sum * std::abs(A(i, i))) continue;
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      s(i, j) = j != i && size(j) > threshold * largest ? 1 : 0;
    }
  }
  return s;
}

/// The matrices most tests of one level run on.
struct NamedMatrix {
  std::string name;
  DenseMatrix values;
};

inline std::vector<NamedMatrix> level_matrices() {
  const auto third = [](GlobalIndex i) { return i % 3 == 1; };
  return {{"laplace5", model("laplace5", 7)},
          {"laplace9", model("laplace9", 6)},
          {"rotated_fe", model("rotated_fe", 7)},
          {"random", random_matrix(40, 0.12, 0.0, 1)},
          {"random with positive couplings", random_matrix(40, 0.15, 0.3, 2)},
          {"negated rows", with_negated_rows(random_matrix(40, 0.15, 0.3, 3), third)},
          {"isolated points", with_isolated(model("laplace5", 6), third)},
          {"positive rows", with_positive_rows(random_matrix(40, 0.15, 0.1, 6), third)},
          {"diagonal", random_matrix(9, 0.0, 0.0, 4)},
          {"one row", random_matrix(1, 0.0, 0.0, 5)}};
}

/// Which points, counted from 0, are coarse in tests of relaxations that tell them apart.
inline bool is_coarse(GlobalIndex i) {
  return hash_uniform(static_cast<std::uint64_t>(i), 11) < 0.4;
}

/// This rank's rows that are.
inline std::vector<LocalIndex> coarse_rows(const matrix::Layout& layout) {
  std::vector<LocalIndex> rows;
  for (LocalIndex i = 0; i < layout.n_local(); ++i) {
    if (is_coarse(layout.to_global(i) - layout.first())) rows.push_back(i);
  }
  return rows;
}

}  // namespace nodewise::test
