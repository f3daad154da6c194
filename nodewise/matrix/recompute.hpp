// Products computed again for matrices with other values and the same pattern, as in every step of
// a time-dependent problem: values travel and are multiplied, and nothing is found out anew.
#pragma once

#include <optional>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/products.hpp"
#include "nodewise/matrix/value_exchange.hpp"

namespace nodewise::matrix {

// All classes plan in their constructor, which takes the operands and their product C, made by the
// function of the same form. That costs about as much as the product itself, one exchange of
// rows or columns and one of lengths, all over the route of the operand that carries them, and no
// discovery. recompute() gives what that function gives for its arguments, bit for bit, as a matrix
// that shares C's exchange. It throws, on every rank, dimension_mismatch or unsuitable_matrix where
// an argument's pattern is not the one planned for, and an earlier state remains; the constructor
// throws unsuitable_matrix where C is not the product. They hold the last operands and result,
// which share their entries with the caller's.

/// A B, as multiply(A, B).
template <class T>
class Product {
 public:
  Product(const DistMatrix<T>& A, const DistMatrix<T>& B, const DistMatrix<T>& C);

  /// Collective. One exchange: the values of B's rows.
  DistMatrix<T> recompute(const DistMatrix<T>& A, const DistMatrix<T>& B);

 private:
  DistMatrix<T> A_, B_;
  RefetchedRows<T> B_rows_;
  KnownResult<T> C_;
};

/// A^T B, as multiply_transposed(A, B).
template <class T>
class TransposedProduct {
 public:
  TransposedProduct(const DistMatrix<T>& A, const DistMatrix<T>& B, const DistMatrix<T>& C);

  /// Collective. One reversed exchange: the values of C's partial rows.
  DistMatrix<T> recompute(const DistMatrix<T>& A, const DistMatrix<T>& B);

 private:
  DistMatrix<T> A_, B_;
  GhostNumbering columns_;
  PartialSums<T> sums_;
};

/// P^T A P, as galerkin_product(A, P, GalerkinForm::fused, coarse_unknowns).
template <class T>
class GalerkinProduct {
 public:
  GalerkinProduct(const DistMatrix<T>& A, const DistMatrix<T>& P, const DistMatrix<T>& C,
                  int coarse_unknowns = 1);

  /// Collective. With P as it was. One reversed exchange: the values of C's partial rows.
  DistMatrix<T> recompute(const DistMatrix<T>& A);
  /// Collective. With another P: one exchange more, for the values of its rows.
  DistMatrix<T> recompute(const DistMatrix<T>& A, const DistMatrix<T>& P);

 private:
  /// Local. P^T's part, which is made when it is first needed.
  const Csr<T>& transposed(Part part);
  /// Local. Returns where the terms of a part of P^T A go, likewise.
  const kernels::TermPlaces& terms(Part part, const kernels::KnownRows<T>& known);
  /// Local. factor(), where its rows are short, likewise.
  const kernels::ShortRows<T>& short_rows();
  kernels::ExtendedRows<T> factor() const { return extended_rows(P_, &P_rows_.rows()); }

  DistMatrix<T> A_, P_;
  int coarse_unknowns_;
  RefetchedRows<T> P_rows_;
  std::optional<Csr<T>> on_transposed_, off_transposed_;  // of P
  Array<LocalIndex> direct_;                              // factor()'s direct_columns()
  std::optional<kernels::TermPlaces> on_terms_, off_terms_;
  std::optional<kernels::ShortRows<T>> short_rows_;
  PartialSums<T> sums_;
};

/// R A P, as multiply(R, multiply(A, P)).
template <class T>
class RestrictedProduct {
 public:
  RestrictedProduct(const DistMatrix<T>& A, const DistMatrix<T>& R, const DistMatrix<T>& P,
                    const DistMatrix<T>& C)
      : RestrictedProduct(A, R, P, multiply(A, P), C) {}

  /// Collective. With R and P as they were. Two exchanges: the values of the rows of P and of A P.
  DistMatrix<T> recompute(const DistMatrix<T>& A) {
    return RAP_.recompute(R_, AP_.recompute(A, P_));
  }

 private:
  RestrictedProduct(const DistMatrix<T>& A, const DistMatrix<T>& R, const DistMatrix<T>& P,
                    const DistMatrix<T>& AP, const DistMatrix<T>& C)
      : R_(R), P_(P), AP_(A, P, AP), RAP_(R, AP, C) {}

  DistMatrix<T> R_, P_;
  Product<T> AP_, RAP_;
};

}  // namespace nodewise::matrix
