// What can be computed with distributed matrices; products of two are in products.hpp. All
// functions are collective; vectors are this rank's part. A rank whose vectors are of another
// length throws dimension_mismatch before it sends anything; where others do not, they wait for it.
#pragma once

#include <span>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/matrix/products.hpp"

namespace nodewise::matrix {

/// y = A x. x: A.cols(), y: A.rows(); they must not overlap. One exchange of A, overlapped with the
/// on-process product.
template <class T>
void multiply(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y);

/// Y = A X for `width` vectors side by side, row-major: X is A.cols() x width, Y A.rows() x width.
/// The messages of one product, `width` times as long; the matrix is read once.
template <class T>
void multiply(const DistMatrix<T>& A, std::span<const T> X, std::span<T> Y, int width);

/// R = B - A X, Y += A X and Y = A^T X, likewise. R must not be B.
template <class T>
void residual(const DistMatrix<T>& A, std::span<const T> X, std::span<const T> B, std::span<T> R,
              int width);
template <class T>
void multiply_add(const DistMatrix<T>& A, std::span<const T> X, std::span<T> Y, int width);
template <class T>
void multiply_transposed(const DistMatrix<T>& A, std::span<const T> X, std::span<T> Y, int width);

/// y += A x, likewise.
template <class T>
void multiply_add(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y);

/// r = b - A x, likewise. b and r may be the same array.
template <class T>
void residual(const DistMatrix<T>& A, std::span<const T> x, std::span<const T> b, std::span<T> r);

/// y = A^T x. x: A.rows(), y: A.cols(). One reversed exchange of A. The order of the additions, and
/// so round-off, depends on the number of threads.
template <class T>
void multiply_transposed(const DistMatrix<T>& A, std::span<const T> x, std::span<T> y);

/// A^T. One reversed row exchange.
template <class T>
DistMatrix<T> transpose(const DistMatrix<T>& A);

/// alpha A + beta B, for matrices of equal layouts. No messages but those of a new matrix.
template <class T>
DistMatrix<T> add(T alpha, const DistMatrix<T>& A, T beta, const DistMatrix<T>& B);

/// The diagonal of a square matrix with equal layouts; 0 where there is no entry. Local.
template <class T>
Array<T> diagonal(const DistMatrix<T>& A);

/// Whether |A x - A^T x| <= 2e-12 |A| 1 in every row, for a hashed x about 1: true for a symmetric
/// matrix up to round-off, false with probability one for another (2e-5 in single precision). A
/// rank's own block is to have triangles U and L that meet |U x - L^T x| in place of that. One
/// exchange.
template <class T>
bool is_symmetric(const DistMatrix<T>& A);

/// The same matrix with values of another type; places and exchange are shared. An agreement.
template <class To, class From>
DistMatrix<To> convert(const DistMatrix<From>& A);

}  // namespace nodewise::matrix
