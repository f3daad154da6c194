// A factorized matrix, by MUMPS.
#pragma once

#include <memory>

#include "nodewise/matrix/dist_matrix.hpp"
#include "nodewise/solve/operator.hpp"

namespace nodewise::solve {

/// What may be asked of factors.
struct FactorOptions {
  double factor_limit = 0;  ///< operations a rank; 0: any number
};

/// Whether this build has MUMPS.
bool has_mumps();

/// The inverse of a matrix by its factors.
class Factorization : public Operator<double> {
 public:
  /// Whether the matrix is symmetric and has a negative eigenvalue.
  virtual bool is_indefinite() const = 0;
  /// What MUMPS took on this rank to make the factors.
  virtual std::size_t memory_bytes() const = 0;
};

/// Collective. The inverse of A by its factors: L D L^T where A is symmetric, definite or not, and
/// L U otherwise, with pivoting. The factors are spread over all ranks; the analysis of the pattern
/// and right-hand sides are on rank 0, so that an application gathers and scatters a vector beside
/// what MUMPS sends, which is not in the ledger. Bits may differ from run to run on several ranks.
/// Throws on every rank unsupported in builds without MUMPS, index_overflow beyond 2^31 - 1 rows,
/// unsuitable_matrix where A is singular or not finite, and out_of_memory where MUMPS says before
/// it factorizes that it needs more than there is, or more operations than allowed.
/// Source: Amestoy, Duff, L'Excellent, Koster 2001.
std::unique_ptr<Factorization> factorize(const matrix::DistMatrix<double>& A,
                                         const FactorOptions& options = {});

}  // namespace nodewise::solve
