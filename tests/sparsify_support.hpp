// Random matrices that lose entries, and what is promised of the rest.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "nodewise/amg/sparsify/sparsify.hpp"

#include "amg_support.hpp"
#include "support.hpp"

namespace nodewise::test {

using amg::sparsify::DropRules;
using amg::sparsify::Sparsified;
using matrix::DistMatrix;
using matrix::Layout;

template <class T>
std::shared_ptr<const DistMatrix<T>> shared(DistMatrix<T> A) {
  return std::make_shared<const DistMatrix<T>>(std::move(A));
}

/// The largest off-diagonal entry of a row.
inline double largest_of(const DenseMatrix& A, GlobalIndex i) {
  double largest = 0;
  for (GlobalIndex k = 0; k < A.cols(); ++k) {
    if (k != i) largest = std::max(largest, std::abs(A(i, k)));
  }
  return largest;
}

/// The classical strength of algorithm 4.1; rows whose sum exceeds `row_sum` of their diagonal have
/// none.
inline DenseMatrix strong_entries(const DenseMatrix& A, double threshold = 0.25,
                                  double row_sum = std::numeric_limits<double>::infinity()) {
  DenseMatrix S(A.rows(), A.cols());
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    double most = 0, sum = 0;
    const double sign = A(i, i) < 0 ? 1 : -1;
    for (GlobalIndex k = 0; k < A.cols(); ++k) {
      sum += A(i, k);
      if (k != i) most = std::max(most, sign * A(i, k));
    }
    if (std::abs(sum) > row_sum * std::abs(A(i, i))) continue;
    for (GlobalIndex k = 0; k < A.cols(); ++k) {
      if (k != i && sign * A(i, k) > threshold * most) S(i, k) = std::abs(A(i, k));
    }
  }
  return S;
}

/// A symmetric matrix with a positive diagonal; entries of either sign where `mixed`.
inline DenseMatrix random_dominant(GlobalIndex n, double density, std::uint64_t seed, bool mixed) {
  DenseMatrix A(n, n);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (GlobalIndex j = 0; j < i; ++j) {
      if (!has_entry(i, j, density, seed)) continue;
      const double size = 0.01 + hash_uniform(static_cast<std::uint64_t>(i * n + j), seed + 1);
      const bool positive = mixed && has_entry(j, i, 0.2, seed + 2);
      A(i, j) = A(j, i) = positive ? size : -size;
    }
  }
  for (GlobalIndex i = 0; i < n; ++i) {
    double sum = 0;
    for (GlobalIndex j = 0; j < n; ++j) sum += std::abs(A(i, j));
    A(i, i) = sum + (i == 0 ? 1 : 0);
  }
  return A;
}

/// The minimal pattern of an A that is joined to the coarse matrix by the identity is A's.
inline Dense<int> pattern_of(const DenseMatrix& A) {
  return A.map<int>([](double value) { return value != 0 ? 1 : 0; });
}

template <class T>
DropRules<T> rules_of(const char* lumping, double tolerance) {
  DropRules<T> rules;
  rules.lumping = lumping;
  rules.tolerance = tolerance;
  return rules;
}

/// Collective. What sparsify() leaves of A, whose minimal pattern is that of M.
template <class T>
std::optional<Sparsified<T>> sparsified(const std::shared_ptr<const DistMatrix<T>>& A,
                                        const DenseMatrix& M, const DropRules<T>& rules) {
  const Layout& rows = A->rows();
  DenseMatrix one(M.rows(), M.cols());
  for (GlobalIndex i = 0; i < M.rows(); ++i) one(i, i) = 1;
  const DistMatrix<T> fine = distribute<T>(M, rows), P = distribute<T>(one, rows);
  std::vector<LocalIndex> all(static_cast<std::size_t>(rows.n_local()));
  std::iota(all.begin(), all.end(), 0);
  return amg::sparsify::sparsify<T>(A, {.A = fine, .P = P, .coarse_rows = all}, rules);
}

inline double difference(const DenseMatrix& A, const DenseMatrix& B) {
  double most = 0;
  for (std::size_t k = 0; k < A.size(); ++k) {
    most = std::max(most, std::abs(A.data()[k] - B.data()[k]));
  }
  return most;
}

/// Collective. What sparsify() promises besides the values.
template <class T>
void expect_promises(const std::shared_ptr<const DistMatrix<T>>& A, const Sparsified<T>& sparse,
                     const DropRules<T>& rules) {
  expect_invariants(*sparse.A);
  if (gathered(*A) == gathered(*A).transpose()) {
    const DenseMatrix left = gathered(*sparse.A);
    EXPECT_EQ(left, left.transpose());
  }
  // The plan is that which ranks find by asking each other.
  const DistMatrix<T> asked(
      sparse.A->rows(), sparse.A->cols(),
      matrix::SplitRows<T>{
          sparse.A->on(), sparse.A->off(), {sparse.A->ghosts().begin(), sparse.A->ghosts().end()}});
  const comm::Stage& stage = sparse.A->exchange().plan().stages.front();
  const comm::Stage& expected = asked.exchange().plan().stages.front();
  EXPECT_EQ(stage.send_ranks, expected.send_ranks);
  EXPECT_EQ(stage.send_entries, expected.send_entries);
  EXPECT_EQ(stage.recv_ranks, expected.recv_ranks);
  EXPECT_EQ(stage.recv_offsets, expected.recv_offsets);
  expect_same_bits(*amg::sparsify::restored(*sparse.A, sparse.lost), *A);
  const auto again = amg::sparsify::sparsify_alike(A, sparse, rules);
  expect_same_bits(*again.A, *sparse.A);
  expect_same_bits(*amg::sparsify::restored(*again.A, again.lost), *A);
}

}  // namespace nodewise::test
