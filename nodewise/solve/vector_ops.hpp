// Operations on this rank's part of vectors, fused where that saves passes over memory. Sums are
// accumulated in double for either value type. The results are the same, bit for bit, on any number
// of threads. All local; global results come from sum_all().
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "nodewise/base/array.hpp"
#include "nodewise/mpi/comm.hpp"

namespace nodewise::solve {

/// Local. The part of a . b of this rank.
template <class T>
double dot_local(std::span<const T> a, std::span<const T> b);

/// Local. The parts of a . b and of b . b of this rank, in one pass.
template <class T>
std::array<double, 2> dot_and_square_local(std::span<const T> a, std::span<const T> b);

/// Local. r = b - q; returns this rank's part of r . r. r may be q.
template <class T>
double subtract(std::span<const T> b, std::span<const T> q, std::span<T> r);

/// Local. x += alpha p and r -= alpha q in one pass; returns this rank's part of r . r.
template <class T>
double update(double alpha, std::span<const T> p, std::span<const T> q, std::span<T> x,
              std::span<T> r);

/// Local. y += alpha x.
template <class T>
void axpy(double alpha, std::span<const T> x, std::span<T> y);

/// Local. p = z + beta p; z is not read where beta is 0 and z is p.
template <class T>
void xpby(std::span<const T> z, double beta, std::span<T> p);

/// Local. p = z + beta p and q = w + beta q in one pass, p and q not being read where beta is 0;
/// returns this rank's parts of p . q and of q . q.
template <class T>
std::array<double, 2> xpby_both(std::span<const T> z, std::span<const T> w, double beta,
                                std::span<T> p, std::span<T> q);

/// Local. x *= alpha.
template <class T>
void scale(double alpha, std::span<T> x);

/// Local. The number of entries that are NaN or infinite.
template <class T>
std::size_t count_not_finite(std::span<const T> x);

/// Local. The largest absolute value, whereby NaN does not count; 0 of nothing.
template <class T>
double max_abs(std::span<const T> x);

/// Local. This rank's parts of basis[j] . w into dots[j] for each j, and of w . w into the last
/// entry of dots, which has one more than the basis.
template <class T>
void dots_with_basis(std::span<const Array<T>> basis, std::span<const T> w, std::span<double> dots);

/// Local. w -= sum over j of coefficients[j] basis[j], then as dots_with_basis(), reading the basis
/// from memory once for both.
template <class T>
void project_and_dot(std::span<const Array<T>> basis, std::span<const double> coefficients,
                     std::span<T> w, std::span<double> dots);

/// Local. y = factor (y + sign sum over j of coefficients[j] basis[j]).
template <class T>
void combine(std::span<const Array<T>> basis, std::span<const double> coefficients, double sign,
             double factor, std::span<T> y);

/// Collective. Sums what ranks found for their parts, in place: one allreduce.
void sum_parts(const mpi::Comm& comm, std::span<double> values);

/// Collective. Sums several numbers over all ranks in one allreduce.
template <class... Number>
std::array<double, sizeof...(Number)> sum_all(const mpi::Comm& comm, Number... local) {
  std::array<double, sizeof...(Number)> values = {static_cast<double>(local)...};
  sum_parts(comm, values);
  return values;
}

}  // namespace nodewise::solve
