// Whether a cycle can be rounded to single precision.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "nodewise/matrix/dist_matrix.hpp"

namespace nodewise::amg {

/// Collective; the same on every rank. Estimates the condition number of |D|^-1 A, D the diagonal
/// of A, for symmetric A. The largest sum of |a_ij| / |a_ii| in a row bounds the largest eigenvalue
/// from above; the Rayleigh quotient of a smooth vector bounds the smallest from above. That vector
/// is made by two steps of inverse iteration in the range of the prolongations, finest first, the
/// last of which leads to the rows of `coarsest`, whose `sizes` are as CoarseSolver has them. A
/// rank that has no part of that matrix gives null, and the prolongations that it has. Infinite
/// where that matrix is singular, anything is not a finite number, or float does not hold the
/// smallest diagonal entry beside the largest. Costs the exchanges of two cycles without relaxation
/// and residuals, the setup and two solves of CoarseSolver, two reductions and an agreement.
template <class T>
double estimated_condition(const matrix::DistMatrix<T>& A,
                           std::span<const matrix::DistMatrix<T>* const> prolongations,
                           const matrix::DistMatrix<T>* coarsest,
                           std::span<const double> sizes = {});

/// What that estimate is made of.
struct ConditionParts {
  double largest_row = 0;         ///< of the sums of |a_ij| / |a_ii|
  double largest_diagonal = 0;    ///< of |a_ii|
  double largest_inverse = 0;     ///< of 1 / |a_ii|
  double energy = 0, square = 0;  ///< x . A x and x . |D| x of the smooth vector x
  bool singular = false;          ///< the coarsest matrix
};
double condition_of(const ConditionParts& parts);

/// Of the hashed numbers that the smooth vector starts from, between one half and three halves.
inline constexpr std::uint64_t smooth_vector_seed = 29;

/// The precision of a cycle, and why where it was found.
struct PrecisionChoice {
  bool single = false;
  std::string reason;  ///< see choose_precision(); empty where the precision was given
};

/// Local. Chooses single precision where rounding to float is harmless. It changes A by up to u
/// |A|, u = 2^-24, and A times the smoothest vectors by up to u times the condition number,
/// relatively: harmless up to a tenth.
PrecisionChoice choose_precision(double condition);

}  // namespace nodewise::amg
