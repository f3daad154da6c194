// Plain references for prolongators: every rank makes them whole.
#pragma once

#include <vector>

#include "nodewise/amg/near_null_space.hpp"

#include "amg_support.hpp"

namespace nodewise::test {

/// Entry (i, k) of some vectors: constants first, then what is far from dependent on them.
inline double candidate(GlobalIndex i, int k, int unknowns) {
  if (k < unknowns) return i % unknowns == k ? 1 : 0;
  return hash_uniform(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k)) - 0.5;
}

inline DenseMatrix whole_vectors(GlobalIndex n, int vectors, int unknowns) {
  DenseMatrix B(n, vectors);
  for (GlobalIndex i = 0; i < n; ++i) {
    for (int k = 0; k < vectors; ++k) B(i, k) = candidate(i, k, unknowns);
  }
  return B;
}

template <class T>
amg::NearNullSpace<T> part_of_vectors(const matrix::Layout& rows, const DenseMatrix& B) {
  amg::NearNullSpace<T> part{static_cast<int>(B.cols()), {}};
  for (GlobalIndex i = rows.begin(); i < rows.end(); ++i) {
    for (GlobalIndex k = 0; k < B.cols(); ++k) {
      part.values.push_back(static_cast<T>(B(i - rows.first(), k)));
    }
  }
  return part;
}

/// What a tentative prolongator must be: Gram-Schmidt, aggregate by aggregate.
struct Reference {
  DenseMatrix Q, R;
};

inline Reference reference_tentative(const std::vector<int>& of_point, int n_aggregates,
                                     int unknowns, const DenseMatrix& B) {
  const GlobalIndex k = B.cols();
  Reference result{DenseMatrix(B.rows(), n_aggregates * k), DenseMatrix(n_aggregates * k, k)};
  for (int a = 0; a < n_aggregates; ++a) {
    DenseMatrix V = B;  // zero outside of the aggregate
    for (GlobalIndex i = 0; i < B.rows(); ++i) {
      for (GlobalIndex j = 0; j < k; ++j) {
        if (of_point[static_cast<std::size_t>(i / unknowns)] != a) V(i, j) = 0;
      }
    }
    for (GlobalIndex j = 0; j < k; ++j) {
      DenseMatrix v(B.rows());
      for (GlobalIndex i = 0; i < B.rows(); ++i) v[i] = V(i, j);
      const double before = norm(v);
      for (GlobalIndex c = 0; c < j; ++c) {
        DenseMatrix q(B.rows());
        for (GlobalIndex i = 0; i < B.rows(); ++i) q[i] = result.Q(i, a * k + c);
        const double along = dot(q, v);
        result.R(a * k + c, j) = along;
        v = v - along * q;
      }
      const double left = norm(v);
      if (left <= 1e-10 * before) continue;
      result.R(a * k + j, j) = left;
      for (GlobalIndex i = 0; i < B.rows(); ++i) result.Q(i, a * k + j) = v[i] / left;
    }
  }
  return result;
}

/// (I - damping D^-1 A)^sweeps P; rows with a zero diagonal stay as they are.
inline DenseMatrix reference_smoothed(const DenseMatrix& A, DenseMatrix P, double damping,
                                      int sweeps) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    DenseMatrix AP = A * P;
    for (GlobalIndex i = 0; i < A.rows(); ++i) {
      for (GlobalIndex j = 0; j < P.cols(); ++j) {
        AP(i, j) = A(i, i) == 0 ? 0 : damping * AP(i, j) / A(i, i);
      }
    }
    P = P - AP;
  }
  return P;
}

/// A without its weak entries, which are added to the same unknown of the row's point, unless that
/// leaves the diagonal less than a tenth.
inline DenseMatrix reference_filtered(const DenseMatrix& A, const Dense<int>& strong, int k) {
  DenseMatrix F = A;
  for (GlobalIndex i = 0; i < A.rows(); ++i) {
    const GlobalIndex own = i / k * k;
    DenseMatrix row(A.cols());
    for (GlobalIndex j = 0; j < A.cols(); ++j) {
      const bool kept = j / k == i / k || strong(i / k, j / k) != 0;
      row[kept ? j : own + j % k] += A(i, j);
    }
    if (row[i] / A(i, i) < 0.1) continue;
    for (GlobalIndex j = 0; j < A.cols(); ++j) F(i, j) = row[j];
  }
  return F;
}

}  // namespace nodewise::test
